//! What a user of any engine tries first, with a real second process in between: a file of a database and a file in which
//! each node notes that it ran are all that the two share.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use hanok_core::{BoxError, Tenant, ThreadKey};
use hanok_graph::{
    Context, END, Graph, GraphBuilder, Limit, Outcome, RunError, START, Snapshot, Thread,
};
use hanok_sqlite::Sqlite;
use hanok_state::{List, State};
use tempfile::TempDir;

/// Which part of which probe a child runs, and in which folder.
const PART: &str = "HANOK_GRAPH_PROBE";
const FOLDER: &str = "HANOK_GRAPH_PROBE_FOLDER";

#[derive(State, Debug, Clone, Default)]
struct S {
    #[reduce(append)]
    log: List<String>,
    last: String,
}

/// The folder that the processes share.
type Folder = PathBuf;

/// Notes in the shared folder that `node` runs.
fn note(folder: &Path, node: &str) {
    let file = fs::OpenOptions::new().create(true).append(true).open(folder.join("ran"));
    writeln!(file.unwrap(), "{node}").unwrap();
}

/// What ran so far, in all processes.
fn ran(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("ran")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn count(folder: &Path, node: &str) -> usize {
    ran(folder).iter().filter(|name| *name == node).count()
}

fn entry(text: &str) -> SUpdate {
    S::update().push_log(text.to_owned())
}

async fn plain(_: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
    note(cx.services(), cx.node());
    Ok(entry(cx.node()))
}

/// Fails until somebody has put a file named `mended` into the folder.
async fn broken(_: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
    note(cx.services(), cx.node());
    match cx.services().join("mended").exists() {
        true => Ok(entry(cx.node())),
        false => Err("it is broken".into()),
    }
}

/// Kills its process the first time, as an operator would.
async fn killed(_: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
    note(cx.services(), cx.node());
    if count(cx.services(), cx.node()) == 1 {
        Command::new("kill").args(["-9", &std::process::id().to_string()]).status()?;
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    Ok(entry(cx.node()))
}

async fn asks(_: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
    note(cx.services(), cx.node());
    let answer: String = cx.interrupt("go on?").await?;
    Ok(entry(&answer))
}

fn builder() -> GraphBuilder<S, Folder> {
    Graph::<S, Folder>::builder("probe")
}

fn chain(middle: &str) -> Graph<S, Folder> {
    let graph = builder().node("a", plain).node("b", plain).node("d", plain);
    let graph = match middle {
        "killed" => graph.node("c", killed),
        "asks" => graph.node("c", asks),
        _ => graph.node("c", broken),
    };
    let edges = [(START, "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", END)];
    edges.iter().fold(graph, |graph, (from, to)| graph.edge(from, to)).build().unwrap()
}

fn siblings() -> Graph<S, Folder> {
    builder()
        .node("src", plain)
        .node("ok", plain)
        .node("bad", broken)
        .edge(START, "src")
        .edge("src", "ok")
        .edge("src", "bad")
        .edge("ok", END)
        .edge("bad", END)
        .build()
        .unwrap()
}

async fn thread(graph: &Graph<S, Folder>, folder: &Path) -> Thread<S, Folder> {
    let store = Sqlite::open(folder.join("threads.db")).await.unwrap();
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    graph.checkpointer(store).thread(key)
}

fn log(state: &S) -> Vec<String> {
    state.log.iter().cloned().collect()
}

/// The first process of a probe.
#[tokio::test]
async fn child() {
    let (Ok(part), Ok(folder)) = (env::var(PART), env::var(FOLDER)) else { return };
    let folder = PathBuf::from(folder);
    let graph = match part.as_str() {
        "siblings" => siblings(),
        part => chain(part),
    };
    let outcome = thread(&graph, &folder).await.invoke(entry("in"), folder.clone()).await;
    let ended = match outcome {
        Ok(Outcome::Interrupted(asked)) => format!("asked {}", asked[0].id),
        Ok(Outcome::Done(_)) => "done".to_owned(),
        Err(RunError::Node { node, .. }) => format!("failed {node}"),
        other => panic!("{other:?}"),
    };
    fs::write(folder.join("ended"), ended).unwrap();
}

/// Runs the first process of a probe to its end, or to its death; returns how it ended.
fn first_process(part: &str, folder: &Path) -> String {
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "probes::child", "--nocapture"])
        .env(PART, part)
        .env(FOLDER, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    fs::read_to_string(folder.join("ended")).unwrap_or_else(|_| format!("{child}"))
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// B43, B71: a chain whose third node fails; another process goes on with that node alone.
#[tokio::test]
async fn a_chain_that_failed_goes_on_in_another_process_where_it_failed() {
    let folder = folder();
    assert_eq!(first_process("broken", folder.path()), "failed c");
    fs::write(folder.path().join("mended"), "").unwrap();
    let thread = thread(&chain("broken"), folder.path()).await;
    let state = thread.resume(folder.path().into()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "b", "c", "d"]);
    assert_eq!(ran(folder.path()), ["a", "b", "c", "c", "d"]);
}

/// B43: a sibling that was done is not run, and paid for, again.
#[tokio::test]
async fn a_finished_sibling_is_not_run_again_in_another_process() {
    let folder = folder();
    assert_eq!(first_process("siblings", folder.path()), "failed bad");
    fs::write(folder.path().join("mended"), "").unwrap();
    let thread = thread(&siblings(), folder.path()).await;
    let state = thread.resume(folder.path().into()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "src", "bad", "ok"]);
    let counts = ["src", "ok", "bad"].map(|node| count(folder.path(), node));
    assert_eq!(counts, [1, 1, 2]);
}

/// B57 to B59, P14: a question of one process is answered in another, and only its node runs again.
#[tokio::test]
async fn a_question_is_answered_in_another_process() {
    let folder = folder();
    let asked = first_process("asks", folder.path());
    let id = asked.strip_prefix("asked ").unwrap();
    let thread = thread(&chain("asks"), folder.path()).await;
    let Outcome::Interrupted(open) = thread.resume(folder.path().into()).await.unwrap() else {
        panic!("it still asks")
    };
    assert_eq!(&*open[0].id.0, id);
    let answered = thread.answer(open[0].id.clone(), "yes", folder.path().into()).await.unwrap();
    assert_eq!(log(&answered.done().unwrap()), ["in", "a", "b", "yes", "d"]);
    assert_eq!(ran(folder.path()), ["a", "b", "c", "c", "d"]);
    let late = thread.answer(open[0].id.clone(), "no", folder.path().into()).await.unwrap_err();
    assert!(matches!(late, RunError::AlreadyAnswered(_)), "{late:?}");
}

/// B71, P1, P2: a process is killed within a node; the next one takes the thread at once and does not repeat what was
/// stored.
#[tokio::test]
async fn a_killed_process_costs_the_node_that_it_was_in() {
    let folder = folder();
    assert!(first_process("killed", folder.path()).contains("signal: 9"));
    let thread = thread(&chain("killed"), folder.path()).await;
    let state = thread.resume(folder.path().into()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "b", "c", "d"]);
    assert_eq!(ran(folder.path()), ["a", "b", "c", "c", "d"]);
}

/// B70: the second turn, in another process, has what the first one said, and runs.
#[tokio::test]
async fn a_second_turn_in_another_process_goes_on_from_the_first() {
    let folder = folder();
    fs::write(folder.path().join("mended"), "").unwrap();
    assert_eq!(first_process("broken", folder.path()), "done");
    let thread = thread(&chain("broken"), folder.path()).await;
    let state = thread.invoke(entry("again"), folder.path().into()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "b", "c", "d", "again", "a", "b", "c", "d"]);
    assert_eq!(ran(folder.path()).len(), 8);
}

/// Two nodes of a super-step run at once: each waits until the other has begun.
#[tokio::test]
async fn two_nodes_of_a_super_step_run_at_once() {
    type Barrier = std::sync::Arc<tokio::sync::Barrier>;
    async fn meets(_: Snapshot<S>, cx: Context<Barrier>) -> Result<SUpdate, BoxError> {
        cx.services().wait().await;
        Ok(entry(cx.node()))
    }
    let graph = Graph::<S, Barrier>::builder("pair")
        .node("a", meets)
        .node("b", meets)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let barrier = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    assert_eq!(log(&graph.invoke(S::update(), barrier).await.unwrap().done().unwrap()), ["a", "b"]);
}

/// B31: a join behind branches of different length runs once, after both.
#[tokio::test]
async fn a_join_behind_unequal_branches_runs_once() {
    let graph = builder()
        .node("short", plain)
        .node("long", plain)
        .node("longer", plain)
        .node("join", plain)
        .edge(START, "short")
        .edge(START, "long")
        .edge("long", "longer")
        .join(["short", "longer"], "join")
        .edge("join", END)
        .build()
        .unwrap();
    let folder = folder();
    let state = graph.invoke(S::update(), folder.path().into()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["long", "short", "longer", "join"]);
}

/// B45: a limit is an outcome of its own, never an `Ok` that looks like the end, and a higher one goes on.
#[tokio::test]
async fn a_recursion_limit_of_five_is_told() {
    let looping = |limit| {
        builder()
            .node("again", plain)
            .edge(START, "again")
            .branch("again", |s: &S| if s.log.len() < 9 { "again" } else { END }, ["again", END])
            .recursion_limit(limit)
            .build()
            .unwrap()
    };
    let folder = folder();
    let app_thread = thread(&looping(5), folder.path()).await;
    let outcome = app_thread.invoke(S::update(), folder.path().into()).await.unwrap();
    let Outcome::LimitReached { which, state } = outcome else { panic!("{outcome:?}") };
    assert_eq!((which, state.log.len()), (Limit::Steps(5), 5));
    let more = app_thread.recursion_limit(9).resume(folder.path().into()).await.unwrap();
    assert_eq!(more.done().unwrap().log.len(), 9);
}

/// B11: the order of writes is that of the tasks, however long each takes.
#[tokio::test(start_paused = true)]
async fn the_order_of_appends_does_not_depend_on_who_is_faster() {
    async fn slow(s: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        plain(s, cx).await
    }
    let graph = builder()
        .node("a", slow)
        .node("b", plain)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let folder = folder();
    for _ in 0..20 {
        let state = graph.invoke(S::update(), folder.path().into()).await.unwrap();
        assert_eq!(log(&state.done().unwrap()), ["a", "b"]);
    }
}

/// B10: two writers of a last value are refused, with both named.
#[tokio::test]
async fn two_writers_of_a_last_value_are_refused() {
    async fn sets(_: Snapshot<S>, cx: Context<Folder>) -> Result<SUpdate, BoxError> {
        Ok(S::update().last(cx.node()))
    }
    let graph = builder()
        .node("a", sets)
        .node("b", sets)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let error = graph.invoke(S::update(), PathBuf::new()).await.unwrap_err();
    let reason = std::error::Error::source(&error).unwrap().to_string();
    assert!(reason.starts_with("field `last`: written by `a` and `b`"), "{reason}");
}
