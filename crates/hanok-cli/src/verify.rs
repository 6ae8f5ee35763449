//! The verb that reads everything and reports what is damaged.

use hanok_checkpoint::{Chain, KeyId, Log, Verified};
use hanok_core::Position;
use serde_json::json;

use crate::{failure::Failure, output::Output, store::Place};

pub(crate) async fn verify(
    place: &Place,
    thread: Option<String>,
    all: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    // Where pages or indexes are damaged, no rewind helps.
    if let Some(sqlite) = &place.sqlite {
        let faults = sqlite.check().await?;
        if !faults.is_empty() {
            return broken(&faults, output);
        }
    }
    let logs = place.listed(thread.filter(|_| !all)).await?;
    let (count, mut damaged) = (logs.len(), 0);
    for (log, damage) in logs {
        // The others are verified all the same.
        if let Some(damage) = damage {
            damaged += 1;
            unread(&log, &damage, output)?;
            continue;
        }
        let verified = log.verify().await?;
        // A thread may be deleted meanwhile.
        let Some(verified) = verified else { continue };
        damaged += usize::from(!verified.is_whole());
        tell(&log, &verified, output)?;
    }
    if damaged > 0 { Err(Failure::Damaged(damaged, count)) } else { Ok(()) }
}

/// Says how a thread is that was verified.
pub(crate) fn tell(log: &Log, verified: &Verified, output: &mut Output) -> Result<(), Failure> {
    if !output.is_json() {
        return report(log, verified).iter().try_for_each(|line| output.line(line));
    }
    let damage = verified.damage.as_ref().map(|damage| {
        json!({
            "position": damage.position.0,
            "reason": damage.reason,
            "last_good": damage.last_good.0,
        })
    });
    output.object(&json!({
        "tenant": log.thread().tenant().as_str(),
        "thread": log.thread().thread(),
        "records": verified.records,
        "snapshots": verified.snapshots,
        "bad_snapshots": verified.bad_snapshots.iter().map(|at| at.0).collect::<Vec<_>>(),
        "damage": damage,
        "chain": chain(verified.chain),
        "reads": verified.reads,
    }))
}

/// Shows the faults that SQLite finds in its file, and what to do.
fn broken(faults: &[String], output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.object(&json!({ "file": faults }))?;
    } else {
        faults.iter().try_for_each(|fault| output.line(&format!("the file: {fault}")))?;
    }
    Err(Failure::Pages)
}

/// A thread of which nothing can be read.
fn unread(log: &Log, damage: &str, output: &mut Output) -> Result<(), Failure> {
    let (tenant, thread) = (log.thread().tenant().as_str(), log.thread().thread());
    if output.is_json() {
        return output.object(&json!({ "tenant": tenant, "thread": thread, "row": damage }));
    }
    output.line(&format!("{}: damaged: {damage}", log.thread()))
}

/// The chain of a log, in a word.
fn chain(chain: Chain) -> &'static str {
    match chain {
        Chain::None => "none",
        Chain::Holds(_) => "holds",
        Chain::Broken(_) => "broken",
        Chain::NoKey(_) => "no key",
        _ => "unchecked",
    }
}

/// The lines about a thread that was verified.
fn report(log: &Log, verified: &Verified) -> Vec<String> {
    let thread = log.thread();
    let (records, snapshots) = (verified.records, verified.snapshots);
    if verified.is_whole() {
        let chain = match verified.chain {
            Chain::Holds(_) => ", the chain holds".to_owned(),
            Chain::NoKey(KeyId(id)) => format!("; key {id} of its chain is not given"),
            _ => String::new(),
        };
        return vec![format!(
            "{thread}: whole, {records} records and {snapshots} snapshots{chain}"
        )];
    }
    let mut lines = Vec::new();
    if let Some(damage) = &verified.damage {
        let (position, reason, good) = (damage.position, &damage.reason, damage.last_good);
        lines.push(format!(
            "{thread}: damaged at {position} ({reason}); the last good position is {good}"
        ));
        lines.push(match (verified.reads, good) {
            (true, _) => "  it reads: its damage is on a branch that it left".to_owned(),
            (false, Position::START) => "  nothing before it reads".to_owned(),
            (false, good) => format!("  `hanok rewind … {good}` lets it go on from there"),
        });
    }
    if let Chain::Broken(at) = verified.chain {
        lines.push(format!(
            "{thread}: its chain does not lead to position {at}: a record up to there was changed or taken out by somebody \
             who made its checksum fit"
        ));
    }
    for at in &verified.bad_snapshots {
        lines.push(format!("{thread}: the snapshot at {at} is damaged; it is a cache and no loss"));
    }
    lines
}
