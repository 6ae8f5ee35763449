//! Runs that were accepted, in several processes under schedules of crashes: each ends, once, as its log says, and in its turn.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hanok_checkpoint::{Batch, Body, LogEntry, RunEnd, Write};
use hanok_core::{BoxFuture, RunId, ThreadKey};
use hanok_graph::{AnyApp, BoxError, Context, END, Graph, START, Snapshot};
use hanok_server::{Multitask, Post, Request, RunRow, RunStatus, Runs, ServeError, Stop};
use hanok_simulation::{Cast, Cluster, Effects, Fault, Faults, World};
use hanok_state::{List, State};
use serde::Deserialize;
use serde_json::json;

/// A list of what was done.
#[derive(State, Clone, Debug, Default)]
struct Work {
    #[reduce(append)]
    done: List<String>,
    task: String,
}

async fn think(work: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
    cx.services().started(&cx);
    cx.services().note(&format!("thought of {}", work.task));
    let long = u64::from(work.task.ends_with('0')) * 20_000;
    cx.runtime().clock.sleep(Duration::from_millis(10 + long)).await;
    Ok(Work::update().push_done(format!("thought of {}", work.task)))
}

async fn act(work: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
    cx.services().started(&cx);
    Ok(Work::update().push_done(format!("did {}", work.task)))
}

/// One process of a server.
struct Server {
    runs: Runs,
    app: Arc<dyn AnyApp>,
}

fn server(world: &World) -> Result<Server, BoxError> {
    let graph = Graph::<Work, Effects>::builder("work").node("think", think).node("act", act);
    let graph = graph.sequence([START, "think", "act", END]).runtime(world.runtime()).build()?;
    let effects = world.effects();
    let app = graph.checkpointer(world.checkpointer()).any(move |_| Ok(effects.clone()));
    let app: Arc<dyn AnyApp> = Arc::new(app);
    let runs = Runs::start_on(world.store(), [Arc::clone(&app)], world.runtime());
    Ok(Server { runs, app })
}

/// Whatever goes wrong, but that records are damaged: a run whose log cannot be read fails, as it should.
fn cluster() -> Cluster<Server> {
    Cluster::new(server).faults(Faults::all().without(Fault::Damage).most(20))
}

/// A run that a client was told is accepted.
struct Accepted {
    thread: ThreadKey,
    run: RunId,
    task: String,
    /// True if anybody has asked for its end.
    is_stopped: bool,
    rolls_back: bool,
}

type Story<'a> = &'a mut Cast<Server>;

/// Posts until it is known what came of it, now and then twice at once; `None` for a run that was refused. Of one that was refused
/// while another request for it was lost, the other may be accepted later.
fn post(cast: Story<'_>, post: &Post) -> Result<Option<RunRow>, String> {
    for _ in 0..500 {
        let times = if cast.one_in(5) { 2 } else { 1 };
        let calls = (0..times).map(|_| {
            let post = post.clone();
            |server: &Server| -> BoxFuture<'static, _> {
                let runs = server.runs.clone();
                Box::pin(async move { runs.post(post).await })
            }
        });
        let mut accepted: Option<RunRow> = None;
        let mut refused = false;
        for reply in cast.calls(calls.collect::<Vec<_>>())?.into_iter().flatten() {
            match reply {
                Ok(posted) if accepted.as_ref().is_some_and(|it| it.run != posted.row.run) => {
                    return Err("one request has begun two runs".to_owned());
                }
                Ok(posted) => accepted = Some(posted.row),
                Err(ServeError::Busy(_)) => refused = true,
                Err(error) if error.is_passing() => {}
                Err(error) => return Err(format!("unexpected: {error}")),
            }
        }
        // The other of two requests may have been refused after this one was accepted.
        if accepted.is_some() || refused && post.multitask == Multitask::Reject {
            return Ok(accepted);
        }
        cast.wait(Duration::from_millis(500))?;
    }
    Err("nobody accepts a run".to_owned())
}

fn stop(cast: Story<'_>, of: &Accepted, stop: Stop) -> Result<(), String> {
    for _ in 0..500 {
        let (thread, run) = (of.thread.clone(), of.run);
        let stopped = cast.call(|server| {
            let runs = server.runs.clone();
            Box::pin(async move { runs.stop(&thread, run, stop).await })
        })?;
        match stopped {
            Some(Ok(_)) => return Ok(()),
            Some(Err(error)) if !error.is_passing() => return Err(format!("unexpected: {error}")),
            _ => cast.wait(Duration::from_millis(500))?,
        }
    }
    Err("nobody stops a run".to_owned())
}

/// The row of a run that is over; what it is now if it never is.
fn ended(cast: Story<'_>, of: &Accepted) -> Result<RunRow, String> {
    let mut last = String::new();
    for _ in 0..1_000 {
        let (thread, run) = (of.thread.clone(), of.run);
        let row = cast.call(|server| {
            let runs = server.runs.clone();
            Box::pin(async move { runs.run(&thread, run).await })
        })?;
        match row {
            Some(Ok(row)) if row.status.is_over() => return Ok(row),
            Some(Ok(row)) => last = format!("{:?}", row.status),
            Some(Err(error)) => last = error.to_string(),
            None => {}
        }
        cast.wait(Duration::from_millis(500))?;
    }
    Err(format!("the run of {} never ends: {last}", of.task))
}

fn done(cast: Story<'_>, thread: &ThreadKey) -> Result<Vec<String>, String> {
    let state = cast.call(|server| {
        let handle = server.app.thread(&Default::default(), thread.thread());
        Box::pin(async move {
            let state = handle?.state(None).await?;
            Ok::<_, hanok_graph::RunError>(state.and_then(|state| state.get::<Work>().ok()))
        })
    })?;
    let state = state.ok_or("no reply")?.map_err(|error| error.to_string())?;
    Ok(state.map(|work| work.done.iter().cloned().collect()).unwrap_or_default())
}

/// Clients post, stop and post again, on two threads.
fn story(cast: Story<'_>) -> Result<(), String> {
    let (mut accepted, mut refused): (Vec<Accepted>, Vec<String>) = Default::default();
    let count = 3 + cast.below(4);
    for number in 0..count {
        let thread = ThreadKey::named(["left", "right"][cast.below(2)]);
        let thread = thread.map_err(|error| error.to_string())?;
        let long = if cast.one_in(3) { 0 } else { 1 };
        let task = format!("task {number}.{long}");
        let all = [Multitask::Reject, Multitask::Interrupt, Multitask::Rollback];
        let multitask = if cast.one_in(3) { all[cast.below(3)] } else { Multitask::Enqueue };
        let request = Request::new("work", json!({"new": {"task": task}}));
        let key = Some(format!("key {number}"));
        let order = Post { multitask, idempotency_key: key, ..Post::new(thread.clone(), request) };
        let Some(row) = post(cast, &order)? else {
            refused.push(task);
            continue;
        };
        if matches!(multitask, Multitask::Interrupt | Multitask::Rollback) {
            for other in accepted.iter_mut().filter(|other| other.thread == thread) {
                other.is_stopped = true;
                other.rolls_back |= multitask == Multitask::Rollback;
            }
        }
        let (is_stopped, rolls_back) = (false, false);
        accepted.push(Accepted { thread, run: row.run, task, is_stopped, rolls_back });
        if !accepted.is_empty() && cast.one_in(4) {
            let at = cast.below(accepted.len());
            let how = if cast.one_in(2) { Stop::Interrupt } else { Stop::Rollback };
            stop(cast, &accepted[at], how)?;
            accepted[at].is_stopped = true;
            accepted[at].rolls_back |= how == Stop::Rollback;
        }
        let wait = cast.below(8_000) as u64;
        cast.wait(Duration::from_millis(wait))?;
    }
    cast.calm();
    let mut rows = Vec::new();
    for run in &accepted {
        rows.push(ended(cast, run)?);
    }
    for (run, row) in accepted.iter().zip(&rows) {
        judged(run, row, &cast.log(&run.thread))?;
    }
    for name in ["left", "right"] {
        let thread = ThreadKey::named(name).map_err(|error| error.to_string())?;
        let of_thread = accepted.iter().zip(&rows).filter(|(run, _)| run.thread == thread);
        in_order(&of_thread.collect::<Vec<_>>(), &done(cast, &thread)?, &refused)?;
    }
    written_once(&cast.batches())
}

/// A run is begun at most once, and ends as its log says.
fn judged(run: &Accepted, row: &RunRow, log: &[LogEntry]) -> Result<(), String> {
    let begun = log.iter().filter(|entry| match &entry.entry.body {
        Body::Begin(begin) => begin.run == run.run && begin.frontier.is_some(),
        _ => false,
    });
    let begun = begun.count();
    let is_done = log.iter().any(|entry| match &entry.entry.body {
        Body::End(end) => end.run == run.run && end.outcome == RunEnd::Done,
        _ => false,
    });
    let task = &run.task;
    match row.status {
        _ if begun > 1 => Err(format!("{task} was begun {begun} times")),
        // What went back to before its thread began is gone.
        RunStatus::Success if is_done && begun == 1 => Ok(()),
        RunStatus::Success if run.rolls_back => Ok(()),
        RunStatus::Success => Err(format!("{task} is a success, and its log does not say so")),
        RunStatus::Interrupted if run.is_stopped => Ok(()),
        status => Err(format!("{task} ended as {status}: {:?}", row.end)),
    }
}

/// What is done is what the runs did, each once, in the order in which they were accepted.
fn in_order(
    runs: &[(&Accepted, &RunRow)],
    done: &[String],
    refused: &[String],
) -> Result<(), String> {
    let acted = done.iter().filter_map(|done| done.strip_prefix("did "));
    let acted: Vec<_> = acted.filter(|done| !refused.iter().any(|it| it == done)).collect();
    let asked: Vec<_> = runs.iter().map(|(run, _)| run.task.as_str()).collect();
    let places = acted.iter().map(|task| asked.iter().position(|asked| asked == task));
    let Some(places) = places.collect::<Option<Vec<_>>>() else {
        return Err(format!("{acted:?} were done, and only {asked:?} were asked for"));
    };
    if !places.is_sorted_by(|one, next| one < next) {
        return Err(format!("{acted:?} were done, and {asked:?} were asked for in this order"));
    }
    // A run behind which others go back leaves nothing.
    let goes_back = runs.iter().any(|(run, _)| run.rolls_back);
    let lost = runs.iter().enumerate().find(|(at, (_, row))| {
        row.status == RunStatus::Success && !places.contains(at) && !goes_back
    });
    match lost {
        Some((_, (run, _))) => Err(format!("{} is a success, and nothing is left of it", run.task)),
        None => Ok(()),
    }
}

/// A row that says an end is not written again.
fn written_once(batches: &[(hanok_core::Timestamp, Batch)]) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Plain {
        status: RunStatus,
    }
    let mut last: BTreeMap<String, RunStatus> = BTreeMap::new();
    for (_, batch) in batches {
        for write in &batch.writes {
            let Write::Put(key, put) = write else { continue };
            if key.labels().iter().next() != Some("hanok:runs") {
                continue;
            }
            let Plain { status } = put.value.decode().map_err(|error| error.to_string())?;
            let before = last.insert(key.to_string(), status);
            if before.is_some_and(RunStatus::is_over) {
                return Err(format!("a row that said {before:?} was made to say {status}"));
            }
        }
    }
    Ok(())
}

/// A run that goes on for long is left to the process that drives it.
#[test]
fn whoever_works_is_not_disturbed() {
    let cluster = Cluster::new(server).processes(3).faults(Faults::none());
    let story = |cast: &mut Cast<Server>| {
        let thread = ThreadKey::named("left").map_err(|error| error.to_string())?;
        let request = Request::new("work", json!({"new": {"task": "task 1.0"}}));
        let key = Some("key".to_owned());
        let order = Post { idempotency_key: key, ..Post::new(thread.clone(), request) };
        let row = post(cast, &order)?.ok_or("it was refused")?;
        let (is_stopped, rolls_back, task) = (false, false, "task 1.0".to_owned());
        let run = Accepted { thread, run: row.run, task, is_stopped, rolls_back };
        let row = ended(cast, &run)?;
        judged(&run, &row, &cast.log(&run.thread))?;
        match cast.effects().count("thought of task 1.0") {
            1 => Ok(()),
            count => Err(format!("a node was begun {count} times though nobody died")),
        }
    };
    cluster.seeds(20).run(story).unwrap_or_else(|failure| panic!("{failure}"));
}

/// The seeds that one test plays; `HANOK_SEEDS` of them, from `HANOK_FROM` on, in the first. `HANOK_TRACE` tells all of one instead.
fn played(from: u64) {
    let number = |name| std::env::var(name).ok().and_then(|seeds| seeds.parse().ok());
    if let Some(seed) = number("HANOK_TRACE") {
        return cluster().trace(seed, story).iter().for_each(|line| println!("{line}"));
    }
    let (seeds, from) = match (number("HANOK_SEEDS"), from) {
        (Some(seeds), 0) => (seeds, number("HANOK_FROM").unwrap_or(0)),
        (Some(_), _) => return,
        (None, from) => (1_000, from),
    };
    let report = cluster().seeds(seeds).from(from).run(story);
    println!("{}", report.unwrap_or_else(|failure| panic!("{failure}")));
}

/// P62
#[test]
fn a_run_that_was_accepted_ends_whatever_dies() {
    played(0);
}

#[test]
fn a_run_that_was_accepted_ends_under_other_schedules_too() {
    played(1_000);
}
