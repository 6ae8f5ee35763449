//! The verbs that show what happened to a thread.

use hanok_checkpoint::{Difference, Log, LogEntry, Select};
use hanok_core::{Namespace, Position};
use serde_json::json;

use crate::{
    arguments::HistoryArguments,
    failure::Failure,
    output::{Output, list_of, moment, value},
    readable,
    store::Place,
};

/// The number of entries that are read at a time.
const PAGE: usize = 256;

pub(crate) async fn history(
    place: &Place,
    arguments: HistoryArguments,
    output: &mut Output,
) -> Result<(), Failure> {
    let log = place.log(&arguments.thread)?;
    place.there(&log).await?;
    let (entries, select) = (arguments.entries || !arguments.kind.is_empty(), select(arguments)?);
    if entries {
        return list_entries(&log, select, output).await;
    }
    let all = log.checkpoints(select).await?;
    if output.is_json() {
        return all.iter().try_for_each(|it| {
            let mut checkpoint = json!(it);
            // A date, for people.
            if let Some(at) = checkpoint.get_mut("at") {
                *at = moment(it.at).into();
            }
            output.object(&checkpoint)
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

fn select(arguments: HistoryArguments) -> Result<Select, Failure> {
    let mut select = Select::all().limit(arguments.limit);
    for kind in arguments.kind {
        select = select.kind(kind);
    }
    for (key, value) in arguments.tag {
        select = select.tag(key, value);
    }
    if let Some(node) = arguments.node {
        select = select.node(node);
    }
    if let Some(path) = arguments.path {
        let root = Ok(Namespace::root());
        let path = path.iter().fold(root, |path, segment| path.and_then(|it| it.child(segment)));
        select = select.path(path?);
    }
    if let Some(since) = arguments.since {
        select = select.since(since);
    }
    if let Some(until) = arguments.until {
        select = select.until(until);
    }
    if let Some(before) = arguments.before {
        select = select.before(Position(before));
    }
    Ok(select)
}

async fn list_entries(log: &Log, select: Select, output: &mut Output) -> Result<(), Failure> {
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
                    "path": path,
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
                let sides = match difference {
                    Difference::Added(after) => json!({ "after": value(after) }),
                    Difference::Removed(before) => json!({ "before": value(before) }),
                    Difference::Changed { before, after } => {
                        json!({ "before": value(before), "after": value(after) })
                    }
                };
                (name.clone(), sides)
            });
            let next = graph.next.as_ref().map(|(before, after)| json!([before, after]));
            output.object(&json!({
                "path": graph.path,
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
            let (before, after) = (before.map(value), after.map(value));
            let lines = readable::change(&name, before.as_ref(), after.as_ref());
            lines.iter().try_for_each(|line| output.line(line))?;
        }
        if let Some((before, after)) = &graph.next {
            let name = of("next");
            output.line(&format!("- {name}: {}", list_of(before)))?;
            output.line(&format!("+ {name}: {}", list_of(after)))?;
        }
    }
    Ok(())
}
