//! Several processes on one file, and processes that die.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may stop at what it did not expect, and a child speaks through its output"
)]

use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, End, Entry, Guard, Log, LogEntry,
    Record, Safety, SharedCheckpointer,
};
use hanok_core::{Namespace, Position, RunId, Tenant, ThreadKey, Timestamp};
use hanok_sqlite::Sqlite;

/// What a child is to do, and in which file.
const ROLE: &str = "HANOK_SQLITE_TEST_ROLE";
const FILE: &str = "HANOK_SQLITE_TEST_FILE";
const NAME: &str = "HANOK_SQLITE_TEST_NAME";

fn thread() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "shared").unwrap()
}

fn append(at: Position, id: u128, text: &str, safety: Safety) -> Append {
    let end = End {
        run: RunId(id),
        outcome: hanok_checkpoint::RunEnd::Done,
        detail: text.into(),
        spent: Default::default(),
        code: None,
        by: None,
    };
    let entry = Entry { at: Timestamp(0), namespace: Namespace::root(), body: Body::End(end) };
    let record = Record::new(&thread(), at.next(), at, &entry);
    Append { safety, ..Append::new(AppendId(id), at, Guard::Unclaimed, vec![record]) }
}

fn head(store: &Sqlite) -> Position {
    let head = block_on(store.head(&thread())).unwrap();
    head.map_or(Position::START, |head| head.position)
}

/// Appends `text` at the end, however often another process is faster; returns where, and how often it was.
fn append_at_the_end(store: &Sqlite, id: u128, text: &str, safety: Safety) -> (Position, u32) {
    let mut conflicts = 0;
    loop {
        let at = head(store);
        match block_on(store.append(&thread(), append(at, id, text, safety))) {
            Ok(()) => return (at.next(), conflicts),
            Err(CheckpointError::Conflict { .. }) => conflicts += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// This is what a child runs; in a parent it does nothing.
#[test]
fn child() {
    let Some(role) = env::var_os(ROLE) else { return };
    let (file, name) = (env::var_os(FILE).unwrap(), env::var(NAME).unwrap());
    let store = block_on(Sqlite::open(Path::new(&file))).unwrap();
    match role.to_str().unwrap() {
        "append" => (0..150).for_each(|n| say_append(&store, &name, n)),
        "append until killed" => (0..u32::MAX).for_each(|n| say_append(&store, &name, n)),
        "fill" => fill(&store, Path::new(&file)),
        role => panic!("{role}"),
    }
}

fn say_append(store: &Sqlite, name: &str, n: u32) {
    let id = (u128::from(std::process::id()) << 64) | u128::from(n);
    let safety = if n.is_multiple_of(8) { Safety::Machine } else { Safety::Process };
    let text = format!("{name} {n}");
    let (at, conflicts) = append_at_the_end(store, id, &text, safety);
    println!("said: {at} {conflicts} {text}");
    std::io::stdout().flush().unwrap();
}

/// Appends until the file may not grow; then reads, and opens it anew.
fn fill(store: &Sqlite, file: &Path) {
    let text = "x".repeat(1000);
    let write = |store: &Sqlite| {
        let at = head(store);
        block_on(store.append(&thread(), append(at, u128::from(at.0), &text, Safety::Machine)))
    };
    let error = (0..10_000).find_map(|_| write(store).err()).unwrap();
    assert_eq!(error.to_string(), "the store is not available: the disk failed");
    let error = write(store).unwrap_err().to_string();
    assert_eq!(error, "the store is not available: the disk failed under an earlier write");
    let log = whole(store);
    assert!(log.len() > 10, "{}", log.len());
    let again = block_on(Sqlite::open(file)).unwrap();
    assert_eq!(whole(&again), log);
    println!("said: {} 0 filled", log.len());
}

fn spawn(role: &str, name: &str, file: &Path, command: &mut Command) -> Child {
    command
        .args(["--exact", "processes::child", "--nocapture"])
        .env(ROLE, role)
        .env(NAME, name)
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn this_binary() -> Command {
    Command::new(env::current_exe().unwrap())
}

/// What a child said: where it appended, how often another was faster, and what.
fn said(line: &str) -> Option<(Position, u32, String)> {
    let (_, said) = line.split_once("said: ")?;
    let mut parts = said.splitn(3, ' ');
    let at = parts.next()?.parse().ok()?;
    Some((Position(at), parts.next()?.parse().ok()?, parts.next()?.to_owned()))
}

/// The whole log, oldest first, every record read.
fn whole(store: &Sqlite) -> Vec<LogEntry> {
    let log = Log::new(SharedCheckpointer::new(store.clone()), thread());
    let open = block_on(log.open(None)).unwrap().unwrap();
    let mut entries = block_on(log.history(None, usize::MAX)).unwrap();
    entries.reverse();
    let positions: Vec<_> = entries.iter().map(|entry| entry.position.0).collect();
    assert_eq!(positions, (1..=open.head.position.0).collect::<Vec<_>>());
    entries
}

fn text(entry: &LogEntry) -> &str {
    match &entry.entry.body {
        Body::End(end) => &end.detail,
        other => panic!("{other:?}"),
    }
}

/// P10, B76
#[test]
fn two_processes_that_append_to_one_thread_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    // Both also make the file.
    let mut children = ["one", "two"].map(|name| spawn("append", name, &file, &mut this_binary()));
    let heard = children.each_mut().map(|child| {
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heard: Vec<_> = lines.filter_map(|line| said(&line.unwrap())).collect();
        assert!(child.wait().unwrap().success());
        heard
    });
    let log = whole(&block_on(Sqlite::open(&file)).unwrap());
    assert_eq!(log.len(), 300);
    for (at, _, said) in heard.iter().flatten() {
        assert_eq!(text(&log[at.0 as usize - 1]), said);
    }
    for name in ["one ", "two "] {
        let of_one: Vec<_> = log.iter().map(text).filter(|text| text.starts_with(name)).collect();
        let want: Vec<_> = (0..150).map(|n| format!("{name}{n}")).collect();
        assert_eq!(of_one, want);
    }
}

/// P10, B76
#[test]
fn of_two_handles_that_append_to_one_position_one_gets_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let handles = [1, 2].map(|_| block_on(Sqlite::open(&file)).unwrap());
    for n in 0..50 {
        let at = Position(n);
        let answers = std::thread::scope(|scope| {
            let ask = |handle: usize| {
                let append = append(at, u128::from(n) << 8 | handle as u128, "x", Safety::Process);
                block_on(handles[handle].append(&thread(), append))
            };
            [0, 1].map(|handle| scope.spawn(move || ask(handle))).map(|it| it.join().unwrap())
        });
        let conflicts: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
        assert_eq!(conflicts.len(), 1, "{answers:?}");
        let CheckpointError::Conflict { expected, actual, .. } = conflicts[0] else {
            panic!("{answers:?}");
        };
        assert_eq!((*expected, *actual), (at, at.next()));
    }
}

/// P1, P5
#[test]
fn after_kill_9_every_acknowledged_append_is_there_and_the_log_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let mut acknowledged = Vec::new();
    for round in 0..20 {
        let mut child =
            spawn("append until killed", &format!("round{round}"), &file, &mut this_binary());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut heard = 0;
        while heard < 1 + round * 3 {
            if let Some(it) = said(&lines.next().unwrap().unwrap()) {
                acknowledged.push(it);
                heard += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it died and nobody had heard yet. The last line may be cut.
        let rest: Vec<_> = lines.map_while(Result::ok).collect();
        let whole_lines = rest.len().saturating_sub(1);
        acknowledged.extend(rest.iter().take(whole_lines).filter_map(|line| said(line)));

        let log = whole(&block_on(Sqlite::open(&file)).unwrap());
        for (at, _, said) in &acknowledged {
            assert_eq!(text(&log[at.0 as usize - 1]), said, "round {round}");
        }
        // At most one append per death was stored and not acknowledged, besides a cut line.
        assert!(log.len() <= acknowledged.len() + 2 * (round + 1));
    }
}

/// P6, P8
#[cfg(unix)]
#[test]
fn a_disk_that_fails_ends_the_writing_of_a_handle_and_not_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    // A file that grows past the limit is a failing disk to SQLite, once the signal is ignored.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\""])
        .arg(env::current_exe().unwrap());
    let child = spawn("fill", "x", &file, &mut shell);
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let (count, ..) = output.lines().find_map(said).unwrap_or_else(|| panic!("{output}"));

    // In a process without the limit it goes on.
    let store = block_on(Sqlite::open(&file)).unwrap();
    let log = whole(&store);
    // The append that failed may or may not have reached the file.
    assert!((count.0..=count.0 + 1).contains(&(log.len() as u64)), "{count} {}", log.len());
    append_at_the_end(&store, u128::MAX, "more", Safety::Machine);
    assert_eq!(whole(&store).len(), log.len() + 1);
}
