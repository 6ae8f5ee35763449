//! The verbs that look at threads and write them out.

use std::{fs, io::Write, path::Path};

use hanok_checkpoint::{
    Checkpointer, GRAPH, Holder, Log, REQUESTS, RunEnd, STATUS, SharedCheckpointer, ThreadInfo,
    Which,
};
use hanok_core::Position;
use serde_json::json;

use crate::{
    failure::Failure,
    output::{Output, list_of, moment, value as json_of},
    readable,
    state::state,
    store::{Place, id, now},
};

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
    threads(place, &place.store.all_threads(&which).await?, output).await
}

pub(crate) async fn expired(place: &Place, output: &mut Output) -> Result<(), Failure> {
    threads(place, &place.store.all_threads(&Which::Expired(now())).await?, output).await
}

/// A run on another host counts as lost when its lease is over.
pub(crate) async fn abandoned(place: &Place, output: &mut Output) -> Result<(), Failure> {
    let me = Holder::this_process(id().0);
    let mut claimed = place.store.all_threads(&Which::Claimed).await?;
    claimed.retain(|info| {
        let claim = info.head.claim.as_ref();
        info.damage.is_some() || claim.is_some_and(|claim| claim.is_known_dead(&me))
    });
    threads(place, &claimed, output).await
}

async fn threads(place: &Place, all: &[ThreadInfo], output: &mut Output) -> Result<(), Failure> {
    let damaged = all.iter().filter(|info| info.damage.is_some()).count();
    rows(&place.store, all, output).await?;
    if damaged > 0 { Err(Failure::Damaged(damaged, all.len())) } else { Ok(()) }
}

async fn rows(
    store: &SharedCheckpointer,
    all: &[ThreadInfo],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut states = Vec::with_capacity(all.len());
    for info in all {
        states.push(state(store, info).await);
    }
    if output.is_json() {
        return all.iter().zip(states).try_for_each(|(info, state)| {
            output.object(&json!({
                "tenant": info.thread.tenant().as_str(),
                "thread": info.thread.thread(),
                "position": info.head.position.0,
                "cut_off_up_to": info.head.floor.0,
                "running": info.head.claim.is_some(),
                "state": state,
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
        .zip(states)
        .map(|(info, state)| {
            vec![
                info.thread.tenant().as_str().to_owned(),
                info.thread.thread().to_owned(),
                info.head.position.to_string(),
                info.head.floor.to_string(),
                state,
                info.updated.map(moment).unwrap_or_default(),
                label(info, REQUESTS),
                label(info, GRAPH),
                info.origin.clone().unwrap_or_default(),
                info.expires.map(moment).unwrap_or_default(),
            ]
        })
        .collect();
    let heading = [
        "TENANT", "THREAD", "POSITION", "FLOOR", "STATE", "AT", "REQUESTS", "GRAPH", "FORK OF",
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
            let state = json_of(&run.fields.to_stored());
            let questions = questions.iter().map(
                |it| json!({ "id": it.id, "node": it.node, "question": json_of(&it.payload) }),
            );
            let in_doubt = doubts.iter().map(
                |doubt| json!({ "id": doubt.id, "tool": doubt.tool, "arguments": doubt.arguments }),
            );
            output.object(&json!({
                "position": opened.fold.position.0,
                "path": path,
                "step": run.frontier.step,
                "next": next,
                "ended": run.ended.as_ref().map_or("", RunEnd::as_str),
                "state": state,
                "questions": questions.collect::<Vec<_>>(),
                "in_doubt": in_doubt.collect::<Vec<_>>(),
            }))?;
            continue;
        }
        let name = if path.is_root() { "the thread".to_owned() } else { path.to_string() };
        output.line(&format!("{name} at {}, step {}", opened.fold.position, run.frontier.step))?;
        output.line(&format!("  next: {}", list_of(&next)))?;
        for (field, value) in run.fields.iter() {
            let lines = readable::field(field, &json_of(&value.to_stored()));
            lines.iter().try_for_each(|line| output.line(&format!("  {line}")))?;
        }
        for question in questions {
            let payload = question.payload.to_json();
            output.line(&format!("  asked by {}: {payload} ({})", question.node, question.id))?;
        }
        for doubt in doubts {
            let (tool, arguments) = (&doubt.tool, &doubt.arguments);
            output.line(&format!("  in doubt: {tool} {arguments} ({})", doubt.id))?;
        }
    }
    Ok(())
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
