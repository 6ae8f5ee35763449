//! The verbs that write.

use std::{fs, path::Path};

use hanok_checkpoint::{CheckpointError, Checkpointer, Forks, Head, Holder, Intent, Log};
use hanok_core::{Position, ThreadKey};
use hanok_sqlite::WriteAhead;
use serde_json::json;

use crate::{
    arguments::{Doubts, Retained},
    failure::Failure,
    output::Output,
    store::{Place, id, now},
};

pub(crate) async fn fork(
    place: &Place,
    thread: &str,
    to: &str,
    at: Option<u64>,
    doubts: Doubts,
    output: &mut Output,
) -> Result<(), Failure> {
    let (log, to) = (place.log(thread)?, place.key(to)?);
    place.there(&log).await?;
    let at = at.map(Position);
    refuse_doubts(&log, at, doubts).await?;
    let calls = log.calls_since(at).await?;
    let id = id();
    let at = place.begin_with_items(&log, &to, id, log.fork(at, &to, id, now())).await?;
    done(output, &to, &format!("begins with {} at {at}{}", log.thread(), again(&calls)))
}

/// Refuses while nobody knows whether a call was made: what is known of it would go.
async fn refuse_doubts(log: &Log, at: Option<Position>, doubts: Doubts) -> Result<(), Failure> {
    let runs = log.open(at).await?.map(|opened| opened.fold.runs).unwrap_or_default();
    let mut intents = runs.values().flat_map(|run| run.records.intents.values());
    match intents.find(|intent| intent.asks()) {
        Some(intent) if !doubts.discard_doubts => {
            Err(Failure::InDoubt(log.thread().thread().to_owned(), intent.tool.clone()))
        }
        _ => Ok(()),
    }
}

/// The words about calls that are made again.
fn again(calls: &[Intent]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let named: Vec<_> =
        calls.iter().map(|call| format!("`{}` ({})", call.tool, call.key)).collect();
    format!("; what is due there makes these calls again, under other keys: {}", named.join(", "))
}

pub(crate) async fn copy(
    place: &Place,
    thread: &str,
    to: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let (log, to) = (place.log(thread)?, place.key(to)?);
    place.there(&log).await?;
    let id = id();
    place.begin_with_items(&log, &to, id, log.copy(&to, id, now())).await?;
    done(output, &to, &format!("is a copy of {}", log.thread()))
}

pub(crate) async fn rewind(
    log: &Log,
    to: u64,
    doubts: Doubts,
    output: &mut Output,
) -> Result<(), Failure> {
    let position = Position(to);
    // A log whose end is damaged is rewound to what is whole.
    let readable = log.open(None).await.is_ok();
    if readable {
        refuse_doubts(log, None, doubts).await?;
    }
    let is_there =
        log.store().head(log.thread()).await?.is_some_and(|head| position <= head.position);
    let calls = match readable && is_there {
        true => log.calls_since(Some(position)).await?,
        false => Vec::new(),
    };
    log.rewind(position, None, id(), now()).await?;
    done(output, log.thread(), &format!("goes on from {to}{}", again(&calls)))
}

/// Takes the thread from whoever owns it, dead or alive.
pub(crate) async fn release(place: &Place, log: &Log, output: &mut Output) -> Result<(), Failure> {
    place.there(log).await?;
    let head = log.store().head(log.thread()).await?;
    let Some((head, claim)) = head.and_then(|head| Some((head.clone(), head.claim?))) else {
        return done(output, log.thread(), "is owned by nobody");
    };
    log.release(&head, id(), now()).await?;
    let (holder, epoch) = (&claim.holder, claim.epoch);
    done(output, log.thread(), &format!("was taken from {holder} (epoch {epoch})"))
}

pub(crate) async fn import(log: &Log, file: &Path, output: &mut Output) -> Result<(), Failure> {
    let text = fs::read_to_string(file)?;
    log.import(text.lines(), id(), now()).await?;
    done(output, log.thread(), "was taken in")
}

pub(crate) async fn prune(
    place: &Place,
    thread: Option<String>,
    all: bool,
    keep: Retained,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut failed = None;
    for log in place.logs(thread.filter(|_| !all)).await? {
        match log.prune(keep.keep()).await {
            Ok(Some(at)) => done(output, log.thread(), &format!("is cut off up to {at}"))?,
            Ok(None) => done(output, log.thread(), "has nothing that has to go")?,
            // The others need not wait for it.
            Err(error) => failed = Some(error),
        }
    }
    overwritten(place, output).await?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Copies the store into a new file.
pub(crate) async fn back_up(
    place: &Place,
    file: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    place.sqlite.as_ref().ok_or(Failure::NoBackup)?.backup(file).await?;
    let name = file.display().to_string();
    if output.is_json() {
        return output.object(&json!({ "backup": name }));
    }
    output.line(&format!("the store is copied into {name}"))
}

/// Says so when what was removed can still be found beside the file.
async fn overwritten(place: &Place, output: &mut Output) -> Result<(), Failure> {
    let Some(sqlite) = &place.sqlite else { return Ok(()) };
    if sqlite.truncate().await? == WriteAhead::Empty {
        return Ok(());
    }
    let what = "what was removed still stands in the write-ahead file, for another process reads from it: \
                do this again when it has ended";
    if output.is_json() {
        return output.object(&json!({ "left": what }));
    }
    output.line(what)
}

/// Lists what [`erase`] would remove, and asks for the word that it does so.
pub(crate) async fn would_erase(
    place: &Place,
    thread: &str,
    keep: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(thread)?;
    place.there(&log).await?;
    let forks = if keep { Vec::new() } else { log.forks().await? };
    done(output, log.thread(), "would be removed")?;
    forks.iter().try_for_each(|fork| done(output, fork, "is a fork, and would be removed"))?;
    Err(Failure::NotSure)
}

pub(crate) async fn erase(
    place: &Place,
    thread: &str,
    keep: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(thread)?;
    unused(&log).await?;
    let gone = log.erase_thread(if keep { Forks::Keep } else { Forks::Too }).await?;
    if gone.is_empty() {
        return Err(Failure::NoThread(log.thread().to_string()));
    }
    for thread in &gone {
        place.forget_items(thread).await?;
        done(output, thread, "is gone")?;
    }
    overwritten(place, output).await
}

pub(crate) async fn delete(
    place: &Place,
    thread: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(thread)?;
    let expected = unused(&log).await?;
    if !log.store().delete(log.thread(), expected.as_ref()).await? {
        return Err(Failure::NoThread(log.thread().to_string()));
    }
    place.forget_items(log.thread()).await?;
    done(output, log.thread(), "is gone")?;
    overwritten(place, output).await
}

/// Refuses a thread that a living run owns; says where it is.
pub(crate) async fn unused(log: &Log) -> Result<Option<Head>, Failure> {
    let Some(head) = log.store().head(log.thread()).await? else { return Ok(None) };
    let me = Holder::this_process(id().0);
    if head.claim.as_ref().is_some_and(|claim| !claim.is_known_dead(&me)) {
        let (thread, actual) = (log.thread().clone(), head.epoch);
        let expected = Default::default();
        return Err(CheckpointError::Fenced { thread, expected, actual }.into());
    }
    Ok(Some(head))
}

pub(crate) fn done(output: &mut Output, thread: &ThreadKey, what: &str) -> Result<(), Failure> {
    if output.is_json() {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        return output.object(&json!({ "tenant": tenant, "thread": name, "done": what }));
    }
    output.line(&format!("{thread} {what}"))
}
