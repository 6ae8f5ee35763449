//! A server that does not do what it should: the program says so in a sentence, ends with 1, and its thread goes on once the server is well.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use example_tests::{
    program::{Said, said},
    served::{Manner, Served},
};

use super::{ALL, Example};

/// What is wrong, in a word.
const MANNERS: [(&str, Option<Manner>); 10] = [
    ("well", Some(Manner::Well)),
    ("slow", Some(Manner::Slowly(Duration::from_millis(5)))),
    ("busy once", Some(Manner::Busy)),
    ("dead", None),
    ("401", Some(Manner::Refuses(401))),
    ("429", Some(Manner::Refuses(429))),
    ("500", Some(Manner::Refuses(500))),
    ("page", Some(Manner::Page)),
    ("cut", Some(Manner::Cut)),
    ("foreign call", Some(Manner::Calls("launch_rocket"))),
];

/// The address of a server of this manner, and the server; of none, one at which nobody listens.
fn serve(example: &Example, manner: Option<Manner>) -> (String, Option<Served>) {
    match manner {
        None => ("http://127.0.0.1:9/v1".to_owned(), None),
        Some(manner) => {
            let served = Served::start(manner, example.model());
            (served.url().to_owned(), Some(served))
        }
    }
}

/// What the program says to `lines` in its input.
fn typed(mut command: Command, lines: &str) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    said(child.wait_with_output().unwrap())
}

/// The exit, the first line of the answer and the last one of what stands beside it.
fn line(example: &Example, word: &str, manner: Option<Manner>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (url, _served) = serve(example, manner);
    let mut command = example.on(&url, &folder.path().join("a.db"));
    let said = said(command.arg(example.question).output().unwrap());
    let first = said.out.lines().find(|line| !line.trim().is_empty()).unwrap_or("-");
    let told = said.err.lines().rfind(|line| line.contains("못했습니다")).unwrap_or("-");
    format!("{word}: {}\n  {first}\n  {told}", said.code.unwrap_or(-1))
}

/// All manners at once: most of their time is waiting.
fn table(example: &Example) -> String {
    let example = *example;
    let lines = MANNERS.map(|(word, manner)| thread::spawn(move || line(&example, word, manner)));
    lines.map(|line| line.join().unwrap()).join("\n")
}

macro_rules! tables {
    ($($name:ident $at:literal)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), table(&ALL[$at]));
        })*
    };
}

tables! { rag 0 chat 1 contract 2 real_estate 3 orchestrator 4 }

/// A turn that failed is there, and goes on where it was.
#[test]
fn a_thread_goes_on_once_the_server_is_well() {
    let goes_on = |example: Example| {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("a.db");
        let (url, _) = serve(&example, None);
        let failed = said(example.on(&url, &db).arg(example.question).output().unwrap());
        assert_eq!(failed.code, Some(1), "{failed:?}");
        let (url, _served) = serve(&example, Some(Manner::Well));
        let before = well(&example, &folder.path().join("b.db"));
        let resumed = typed(example.on(&url, &db), "/resume\n");
        assert_eq!(resumed.code, Some(0), "{}: {resumed:?}", example.name);
        let answer = before.out.trim();
        assert!(resumed.out.contains(answer), "{}: {resumed:?} lacks {answer}", example.name);
    };
    // Of real-estate, a turn without a model ends, and says so.
    let others = ALL.into_iter().filter(|example| example.name != "real-estate");
    let all: Vec<_> = others.map(|example| thread::spawn(move || goes_on(example))).collect();
    all.into_iter().for_each(|one| one.join().unwrap());
}

fn well(example: &Example, db: &Path) -> Said {
    let served = Served::start(Manner::Well, example.model());
    said(example.on(served.url(), db).arg(example.question).output().unwrap())
}

/// A reply by the server's own protocol is the answer, whole, on the screen and in the thread.
#[test]
fn words_that_look_like_labels_are_shown_and_stored() {
    const WORDS: &str = "메모를 적어 두었습니다.\n\n결과: 저장했습니다.\nAnswer: 42";
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("a.db");
    let example = ALL[1];
    let served = Served::start(Manner::Says(WORDS), example.model());
    let shown = said(example.on(served.url(), &db).arg(example.question).output().unwrap());
    assert!(shown.out.contains(WORDS), "{shown:?}");
    let stored = typed(example.on(served.url(), &db), "/history\n");
    for words in WORDS.split('\n') {
        assert!(stored.out.contains(words) || stored.err.contains(words), "{stored:?}");
    }
}
