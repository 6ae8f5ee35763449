//! The verbs that only read.

use std::{fs, io::Write, path::Path};

use hanok_checkpoint::{
    Chain, Checkpointer, Difference, GRAPH, Holder, KeyId, Log, LogEntry, REQUESTS, RunEnd, STATUS,
    Select, ThreadInfo, Verified, Which,
};
use hanok_core::{Namespace, Position, Stored};
use serde_json::{Value, json};

use crate::{
    arguments::Asked,
    failure::Failure,
    output::{Output, moment},
    store::{Place, id, now},
};

/// How many entries are read at a time.
const PAGE: usize = 256;

pub(crate) async fn list(
    place: &Place,
    forks_of: Option<String>,
    status: Option<String>,
    output: &mut Output,
) -> Result<(), Failure> {
    let tenant = place.tenant.clone();
    let which = match (forks_of, status) {
        (Some(thread), _) => Which::ForksOf(place.key(&thread)?),
        (None, Some(value)) => Which::Labelled { tenant, name: STATUS.to_owned(), value },
        (None, None) => Which::Of(tenant),
    };
    threads(&place.store.all_threads(&which).await?, output)
}

pub(crate) async fn expired(place: &Place, output: &mut Output) -> Result<(), Failure> {
    threads(&place.store.all_threads(&Which::Expired(now())).await?, output)
}

/// A run on another host counts as lost when its lease is over.
pub(crate) async fn abandoned(place: &Place, output: &mut Output) -> Result<(), Failure> {
    let me = Holder::this_process(id().0);
    let mut claimed = place.store.all_threads(&Which::Claimed).await?;
    claimed.retain(|info| {
        let claim = info.head.claim.as_ref();
        info.damage.is_some() || claim.is_some_and(|claim| claim.is_known_dead(&me))
    });
    threads(&claimed, output)
}

fn threads(all: &[ThreadInfo], output: &mut Output) -> Result<(), Failure> {
    let damaged = all.iter().filter(|info| info.damage.is_some()).count();
    rows(all, output)?;
    if damaged > 0 { Err(Failure::Damaged(damaged, all.len())) } else { Ok(()) }
}

fn rows(all: &[ThreadInfo], output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        return all.iter().try_for_each(|info| {
            output.object(&json!({
                "tenant": info.thread.tenant().as_str(),
                "thread": info.thread.thread(),
                "position": info.head.position.0,
                "cut_off_up_to": info.head.floor.0,
                "running": info.head.claim.is_some(),
                "fork_of": info.origin,
                "expires": info.expires.map(moment),
                "life": info.head.life.to_string(),
                "updated": info.updated.map(moment),
                "labels": info.labels,
                "damage": info.damage,
            }))
        });
    }
    let rows: Vec<_> = all
        .iter()
        .map(|info| {
            vec![
                info.thread.tenant().as_str().to_owned(),
                info.thread.thread().to_owned(),
                info.head.position.to_string(),
                info.head.floor.to_string(),
                // A thread that somebody owns runs, whatever its last run left.
                match info.head.claim {
                    Some(_) => "running".to_owned(),
                    None => label(info, STATUS),
                },
                label(info, REQUESTS),
                label(info, GRAPH),
                info.origin.clone().unwrap_or_default(),
                info.expires.map(moment).unwrap_or_default(),
            ]
        })
        .collect();
    let heading = [
        "TENANT", "THREAD", "POSITION", "FLOOR", "STATUS", "REQUESTS", "GRAPH", "FORK OF",
        "EXPIRES",
    ];
    output.table(&heading, &rows)?;
    let mut damaged = all.iter().filter_map(|info| Some((&info.thread, info.damage.as_ref()?)));
    damaged.try_for_each(|(thread, damage)| output.line(&format!("{thread}: damaged: {damage}")))
}

fn label(info: &ThreadInfo, name: &str) -> String {
    info.labels.get(name).cloned().unwrap_or_default()
}

pub(crate) async fn show(log: &Log, at: Option<u64>, output: &mut Output) -> Result<(), Failure> {
    let missing = || Failure::NoThread(log.thread().to_string());
    let opened = log.open(at.map(Position)).await?.ok_or_else(missing)?;
    for (path, run) in &opened.fold.runs {
        let next: Vec<_> = run.frontier.due.iter().map(|due| due.node.to_string()).collect();
        let questions: Vec<_> = run.records.open_questions().collect();
        let doubts: Vec<_> = run.records.intents.values().collect();
        if output.is_json() {
            let state = value(&run.fields.to_stored());
            let asked = questions.iter().map(|asked| {
                json!({ "id": asked.id, "node": asked.node, "question": value(&asked.payload) })
            });
            let in_doubt = doubts.iter().map(
                |doubt| json!({ "id": doubt.id, "tool": doubt.tool, "arguments": doubt.arguments }),
            );
            output.object(&json!({
                "position": opened.fold.position.0,
                "path": segments(path),
                "step": run.frontier.step,
                "next": next,
                "ended": run.ended.as_ref().map_or("", RunEnd::as_str),
                "state": state,
                "questions": asked.collect::<Vec<_>>(),
                "in_doubt": in_doubt.collect::<Vec<_>>(),
            }))?;
            continue;
        }
        let name = if path.is_root() { "the thread".to_owned() } else { path.to_string() };
        output.line(&format!("{name} at {}, step {}", opened.fold.position, run.frontier.step))?;
        output.line(&format!("  next: {}", list_of(&next)))?;
        for (field, value) in run.fields.iter() {
            output.line(&format!("  {field}: {}", value.to_stored().to_json()))?;
        }
        for asked in questions {
            let payload = asked.payload.to_json();
            output.line(&format!("  asked by {}: {payload} ({})", asked.node, asked.id))?;
        }
        for doubt in doubts {
            let (tool, arguments) = (&doubt.tool, &doubt.arguments);
            output.line(&format!("  in doubt: {tool} {arguments} ({})", doubt.id))?;
        }
    }
    Ok(())
}

pub(crate) async fn history(
    place: &Place,
    asked: Asked,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(&asked.thread)?;
    place.there(&log).await?;
    let (entries, select) = (asked.entries || !asked.kind.is_empty(), select(asked)?);
    if entries {
        return told(&log, select, output).await;
    }
    let all = log.checkpoints(select).await?;
    if output.is_json() {
        return all.iter().try_for_each(|it| {
            output.object(&json!({
                "position": it.position.0,
                "parent": it.parent.map(|parent| parent.0),
                "at": moment(it.at),
                "path": segments(&it.path),
                "step": it.step,
                "source": it.source.as_str(),
                "nodes": it.nodes,
                "next": it.next,
                "run": it.run.map(|run| run.to_string()),
                "tags": it.tags,
            }))
        });
    }
    let rows: Vec<_> = all
        .iter()
        .map(|it| {
            let tags: Vec<_> =
                it.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
            vec![
                it.position.to_string(),
                it.parent.map(|parent| parent.to_string()).unwrap_or_default(),
                moment(it.at),
                it.path.to_string(),
                it.step.to_string(),
                it.source.as_str().to_owned(),
                it.nodes.join(","),
                it.next.join(","),
                tags.join(","),
            ]
        })
        .collect();
    let heading = ["POSITION", "PARENT", "AT", "PATH", "STEP", "SOURCE", "NODES", "NEXT", "TAGS"];
    output.table(&heading, &rows)
}

fn select(asked: Asked) -> Result<Select, Failure> {
    let mut select = Select::all().limit(asked.limit);
    for kind in asked.kind {
        select = select.kind(kind);
    }
    for (key, value) in asked.tag {
        select = select.tag(key, value);
    }
    if let Some(node) = asked.node {
        select = select.node(node);
    }
    if let Some(path) = asked.path {
        let root = Ok(Namespace::root());
        let path = path.iter().fold(root, |path, segment| path.and_then(|it| it.child(segment)));
        select = select.path(path?);
    }
    if let Some(since) = asked.since {
        select = select.since(since);
    }
    if let Some(until) = asked.until {
        select = select.until(until);
    }
    if let Some(before) = asked.before {
        select = select.before(Position(before));
    }
    Ok(select)
}

async fn told(log: &Log, select: Select, output: &mut Output) -> Result<(), Failure> {
    let mut pages = log.pages(select, PAGE);
    while let Some(page) = pages.next().await? {
        for LogEntry { position, parent, entry } in page {
            let kind = entry.body.kind();
            let (path, at) = (&entry.namespace, moment(entry.at));
            if output.is_json() {
                output.object(&json!({
                    "position": position.0,
                    "parent": parent.0,
                    "at": at,
                    "path": segments(path),
                    "kind": kind.as_str(),
                }))?;
            } else {
                output.line(&format!("{position:>8} {parent:>8}  {at}  {kind:<9} {path}"))?;
            }
        }
    }
    Ok(())
}

pub(crate) async fn diff(
    log: &Log,
    before: u64,
    after: Option<u64>,
    output: &mut Output,
) -> Result<(), Failure> {
    let diff = log.diff(Position(before), after.map(Position)).await?;
    for graph in diff.graphs {
        if output.is_json() {
            let fields = graph.fields.iter().map(|(name, difference)| {
                let told = match difference {
                    Difference::Added(after) => json!({ "after": value(after) }),
                    Difference::Removed(before) => json!({ "before": value(before) }),
                    Difference::Changed { before, after } => {
                        json!({ "before": value(before), "after": value(after) })
                    }
                };
                (name.clone(), told)
            });
            let next = graph.next.as_ref().map(|(before, after)| json!([before, after]));
            output.object(&json!({
                "path": segments(&graph.path),
                "fields": fields.collect::<serde_json::Map<_, _>>(),
                "next": next,
            }))?;
            continue;
        }
        let of = |name: &str| match graph.path.is_root() {
            true => name.to_owned(),
            false => format!("{} {name}", graph.path),
        };
        for (name, difference) in &graph.fields {
            let name = of(name);
            let (before, after) = match difference {
                Difference::Added(after) => (None, Some(after)),
                Difference::Removed(before) => (Some(before), None),
                Difference::Changed { before, after } => (Some(before), Some(after)),
            };
            if let Some(before) = before {
                output.line(&format!("- {name}: {}", before.to_json()))?;
            }
            if let Some(after) = after {
                output.line(&format!("+ {name}: {}", after.to_json()))?;
            }
        }
        if let Some((before, after)) = &graph.next {
            let name = of("next");
            output.line(&format!("- {name}: {}", list_of(before)))?;
            output.line(&format!("+ {name}: {}", list_of(after)))?;
        }
    }
    Ok(())
}

pub(crate) async fn verify(
    place: &Place,
    thread: Option<String>,
    all: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    // Where pages or indexes are damaged, no rewind helps.
    if let Some(sqlite) = &place.sqlite {
        let found = sqlite.check().await?;
        if !found.is_empty() {
            return broken(&found, output);
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
        let found = log.verify().await?;
        // A thread may be deleted meanwhile.
        let Some(found) = found else { continue };
        damaged += usize::from(!found.is_whole());
        if output.is_json() {
            let damage = found.damage.as_ref().map(|damage| {
                json!({
                    "position": damage.position.0,
                    "reason": damage.reason,
                    "last_good": damage.last_good.0,
                })
            });
            output.object(&json!({
                "tenant": log.thread().tenant().as_str(),
                "thread": log.thread().thread(),
                "records": found.records,
                "snapshots": found.snapshots,
                "bad_snapshots": found.bad_snapshots.iter().map(|at| at.0).collect::<Vec<_>>(),
                "damage": damage,
                "chain": chain(found.chain),
                "reads": found.reads,
            }))?;
        } else {
            for line in said(&log, &found) {
                output.line(&line)?;
            }
        }
    }
    if damaged > 0 { Err(Failure::Damaged(damaged, count)) } else { Ok(()) }
}

/// What SQLite finds wrong with its file, and what to do.
fn broken(found: &[String], output: &mut Output) -> Result<(), Failure> {
    if output.is_json() {
        output.object(&json!({ "file": found }))?;
    } else {
        found.iter().try_for_each(|found| output.line(&format!("the file: {found}")))?;
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

fn said(log: &Log, found: &Verified) -> Vec<String> {
    let thread = log.thread();
    let (records, snapshots) = (found.records, found.snapshots);
    if found.is_whole() {
        let chain = match found.chain {
            Chain::Holds(_) => ", the chain holds".to_owned(),
            Chain::NoKey(KeyId(id)) => format!("; key {id} of its chain is not given"),
            _ => String::new(),
        };
        return vec![format!(
            "{thread}: whole, {records} records and {snapshots} snapshots{chain}"
        )];
    }
    let mut lines = Vec::new();
    if let Some(damage) = &found.damage {
        let (position, reason, good) = (damage.position, &damage.reason, damage.last_good);
        lines.push(format!(
            "{thread}: damaged at {position} ({reason}); the last good position is {good}"
        ));
        lines.push(match (found.reads, good) {
            (true, _) => "  it reads: its damage is on a branch that it left".to_owned(),
            (false, Position::START) => "  nothing before it reads".to_owned(),
            (false, good) => format!("  `hanok rewind … {good}` lets it go on from there"),
        });
    }
    if let Chain::Broken(at) = found.chain {
        lines.push(format!(
            "{thread}: its chain does not lead to position {at}: a record up to there was changed or taken out by somebody \
             who made its checksum fit"
        ));
    }
    for at in &found.bad_snapshots {
        lines.push(format!("{thread}: the snapshot at {at} is damaged; it is a cache and no loss"));
    }
    lines
}

pub(crate) async fn export(
    log: &Log,
    file: Option<&Path>,
    output: &mut Output,
) -> Result<(), Failure> {
    let head = log.store().head(log.thread()).await?;
    if head.is_none() {
        return Err(Failure::NoThread(log.thread().to_string()));
    }
    let lines = log.export().await?;
    let Some(file) = file else {
        return lines.iter().try_for_each(|line| output.json_line(line));
    };
    // A file that is there is somebody's.
    let mut file = fs::File::create_new(file)?;
    for line in lines {
        writeln!(file, "{line}")?;
    }
    Ok(file.sync_all()?)
}

fn value(stored: &Stored) -> Value {
    serde_json::from_str(&stored.to_json()).unwrap_or(Value::Null)
}

fn segments(path: &Namespace) -> Vec<&str> {
    path.segments().collect()
}

fn list_of(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
