//! A process that writes is killed at any moment.

use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use hanok_retrieval::{Document, DocumentStore, Mode, Query};
use hanok_testkit::block_on;

use crate::support::*;

/// Where the child writes.
const FOLDER: &str = "HANOK_TEST_FOLDER";

/// So many articles has each document, in every version.
const ARTICLES: usize = 12;

fn version(source: usize, n: u64) -> Document {
    let article = |at: usize| format!("## 제{at}조(휴가)\n판 {n}호 {}\n\n", "연차휴가 ".repeat(at));
    Document::new(format!("{source}.md"), (0..ARTICLES).map(article).collect::<String>())
}

/// The process that is killed. As a test it does nothing.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let store = open(&folder).unwrap();
    let begin = seen(&store).into_iter().flatten().max().unwrap_or(0);
    for n in begin + 1.. {
        put(&store, &[version(0, n), version(1, n), version(2, n)]);
        println!("\nsaid: {n}");
    }
}

/// The version of every document, each of which is whole.
fn seen(store: &impl DocumentStore) -> Vec<Option<u64>> {
    let listed = block_on(store.documents()).unwrap();
    let of = |source: usize| {
        let query = Query::new("휴가").under(format!("{source}.md")).limit(100);
        let hits = hits(store, &query);
        let document = listed.iter().find(|it| it.source == format!("{source}.md"));
        assert_eq!(hits.len(), document.map_or(0, |it| it.passages));
        assert!(hits.is_empty() || hits.len() == ARTICLES);
        let like = query.vector(vector("휴가")).mode(Mode::Vector);
        assert_eq!(crate::support::hits(store, &like).len(), hits.len(), "as many vectors");
        let number = |text: &str| text.split("판 ").nth(1)?.split('호').next()?.parse().ok();
        let mut numbers: Vec<u64> =
            hits.iter().map(|hit| number(&hit.passage.text).unwrap()).collect();
        numbers.dedup();
        assert!(numbers.len() < 2, "two versions at once: {numbers:?}");
        numbers.pop()
    };
    (0..3).map(of).collect()
}

fn start(folder: &std::path::Path) -> Child {
    let mut program = Command::new(env::current_exe().unwrap());
    program.args(["--exact", "kills::writes_until_it_is_killed", "--nocapture"]);
    program.env(FOLDER, folder).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// After `Ok` nothing is lost, and of a change that was cut off all is there or nothing.
#[test]
fn a_process_that_is_killed_leaves_whole_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (mut told, mut cut) = (0, 0);
    for round in 0..20_u64 {
        let mut child = start(folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let number = |line: &str| line.strip_prefix("said: ").map(|n| n.parse::<u64>().unwrap());
        for _ in 0..=round % 4 {
            let line = lines.by_ref().map(Result::unwrap).find_map(|line| number(&line));
            told = told.max(line.unwrap());
        }
        std::thread::sleep(Duration::from_micros(round.wrapping_mul(7_919) % 30_000));
        child.kill().unwrap();
        child.wait().unwrap();
        told = lines.map_while(Result::ok).filter_map(|line| number(&line)).fold(told, u64::max);

        let store = open(folder.path()).unwrap();
        let seen = seen(&store);
        assert!(seen.iter().all(|version| *version == seen[0]), "{seen:?}");
        // One more may have been done and not said.
        assert!(seen[0] == Some(told) || seen[0] == Some(told + 1), "{seen:?} {told}");
        cut += u64::from(seen[0] == Some(told));
        told = seen[0].unwrap();
    }
    assert!(told > 20, "{told}");
    assert!(cut > 0);
}
