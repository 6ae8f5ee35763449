//! Files that earlier builds wrote are read as they were meant, and their threads go on.
//!
//! `cargo test -p hanok-sqlite --test it golden:: -- --ignored` writes the file of this build's format, once for each format: what
//! stands there already is never written anew.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use hanok_checkpoint::{Checkpointer, Log, SharedCheckpointer, Which};
use hanok_core::{Namespace, Position, Tenant, ThreadKey};
use hanok_graph::{
    App, BoxError, Context, Doubt, END, Graph, Outcome, RunError, START, SendTo, Snapshot,
};
use hanok_sqlite::Sqlite;
use hanok_state::{List, Map, Message, Messages, State};

/// The format of this build's files. Records in it have format 3.
const NEWEST: &str = "4";

/// Formats of builds before 0.1, which no build reads any more.
const REFUSED: [&str; 1] = ["3"];

/// A state with a field of each kind.
#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    messages: Messages,
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    scores: Map<String, i64>,
    plan: String,
}

/// What [`S`] became in a later version of somebody's program.
mod later {
    use super::*;

    #[derive(State, Debug, Clone, Default, PartialEq)]
    #[state(version = 2, upgrade = upgrade)]
    pub(super) struct S {
        pub(super) messages: Messages,
        #[reduce(append)]
        pub(super) log: List<String>,
        #[reduce(merge)]
        pub(super) scores: Map<String, i64>,
        #[state(alias = "plan")]
        pub(super) goal: String,
        pub(super) author: String,
    }

    fn upgrade(_: u32, fields: &mut hanok_core::Fields) -> Result<(), BoxError> {
        let author = hanok_core::Stored::encode("somebody")?;
        Ok(fields.apply("author", &hanok_core::Change::Set(author))?)
    }

    pub(super) fn app(store: &SharedCheckpointer) -> App<S> {
        async fn note(_: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
            Ok(S::update().push_log("later"))
        }
        let graph = Graph::builder("golden").node("work", note);
        graph.edge(START, "work").edge("work", END).build().unwrap().checkpointer(store.clone())
    }
}

fn app(store: &SharedCheckpointer) -> App<S> {
    async fn plan(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
        let price = async |_| Ok::<_, BoxError>("3억 5천만".to_owned());
        let paid: String = cx.once("price", r#"{"of":"house"}"#, Doubt::Ask, price).await?;
        let said = Message::assistant(format!("it costs {paid}")).with_id("said");
        Ok(S::update().message(said).plan("sell".to_owned()))
    }
    async fn look(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
        let n: i64 = cx.input()?.unwrap_or_default();
        Ok(S::update().insert_scores(format!("house {n}"), n).push_log(format!("looked at {n}")))
    }
    async fn ask(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
        let said: String = cx.interrupt("shall it be sold?").await?;
        Ok(S::update().push_log(said))
    }
    let looks = |_: &S| (1..=3).map(|n| SendTo::new("look", &n)).collect::<Vec<_>>();
    Graph::builder("golden")
        .node("work", plan)
        .node("look", look)
        .node("ask", ask)
        .edge(START, "work")
        .branch("work", looks, ["look"])
        .edge("look", "ask")
        .edge("ask", END)
        .build()
        .unwrap()
        .checkpointer(store.clone())
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::new("한옥").unwrap(), name).unwrap()
}

fn goldens() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

async fn open(path: &Path) -> SharedCheckpointer {
    SharedCheckpointer::new(Sqlite::open(path).await.unwrap())
}

/// What every thread of a store amounts to, at every position.
async fn told(store: &SharedCheckpointer) -> String {
    let mut told = String::new();
    for info in store.threads(Which::All, None, 99).await.unwrap() {
        let log = Log::new(store.clone(), info.thread.clone());
        for position in (info.head.floor.0.max(1)..=info.head.position.0).map(Position) {
            let open = log.open(Some(position)).await.unwrap().unwrap();
            let Some(run) = open.fold.run(&Namespace::root()) else { continue };
            let due: Vec<_> = run.frontier.due.iter().map(|due| due.node.to_string()).collect();
            let asked = run.records.open_questions().count();
            writeln!(told, "{} at {position}: due {due:?}, asked {asked}", info.thread.thread())
                .unwrap();
            for (name, field) in run.fields.iter() {
                writeln!(told, "    {name}: {:?}", field.to_stored()).unwrap();
            }
        }
    }
    told
}

/// Writes the file of this build.
#[tokio::test]
#[ignore = "writes a file into the repository, once for each format"]
async fn write() {
    let folder = goldens().join(NEWEST);
    assert!(!folder.exists(), "{} was written by the build that had this format", folder.display());
    fs::create_dir_all(&folder).unwrap();
    let store = open(&folder.join("threads.db")).await;
    let app = app(&store);
    let input = || S::update().message(Message::user("얼마입니까?").with_id("asked"));
    let Outcome::Interrupted(_) = app.thread(key("asking")).invoke(input(), ()).await.unwrap()
    else {
        panic!("it asks")
    };
    let done = app.thread(key("done"));
    done.invoke(input(), ()).await.unwrap();
    done.reply("yes", ()).await.unwrap();
    done.fork(None, &key("fork")).await.unwrap();
    let turned = app.thread(key("rewound"));
    turned.invoke(input(), ()).await.unwrap();
    turned.rewind(Position(4)).await.unwrap();
    // Two versions of a program, in turn.
    let evolved = app.thread(key("evolved"));
    evolved.invoke(input(), ()).await.unwrap();
    evolved.reply("no", ()).await.unwrap();
    let later = later::app(&store).thread(key("evolved"));
    later.invoke(later::S::update().author("me".to_owned()), ()).await.unwrap();
    later.invoke(later::S::update(), ()).await.unwrap();
    fs::write(folder.join("threads.txt"), told(&store).await).unwrap();
    let file = rusqlite::Connection::open(folder.join("threads.db")).unwrap();
    file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
    drop(file);
    for beside in ["threads.db-wal", "threads.db-shm"] {
        drop(fs::remove_file(folder.join(beside)));
    }
}

/// P12: what cannot be upgraded is refused with words, and stays as it is.
#[tokio::test]
async fn a_file_of_an_older_format_is_refused_with_words() {
    for older in REFUSED {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threads.db");
        fs::copy(goldens().join(older).join("threads.db"), &file).unwrap();
        let before = fs::read(&file).unwrap();
        let error = Sqlite::open(&file).await.unwrap_err();
        let why = std::error::Error::source(&error).unwrap().to_string();
        let words = "of a build before 0.1; this one reads format 4 and does not upgrade it";
        assert!(why.contains(&format!("its format is {older}, {words}")), "{why}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

/// B80, P12
#[tokio::test]
async fn what_every_format_wrote_is_read_and_goes_on() {
    let mut read = 0;
    for format in fs::read_dir(goldens()).unwrap().map(|format| format.unwrap().path()) {
        if REFUSED.iter().any(|older| format.ends_with(older)) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threads.db");
        fs::copy(format.join("threads.db"), &file).unwrap();
        let store = open(&file).await;
        let want = fs::read_to_string(format.join("threads.txt")).unwrap();
        assert_eq!(told(&store).await, want, "{}", format.display());

        let app = app(&store);
        let state = app.thread(key("asking")).reply("gladly", ()).await.unwrap().done().unwrap();
        assert_eq!(state.log.iter().last().map(String::as_str), Some("gladly"));
        assert_eq!(state.scores.len(), 3);
        let Outcome::Interrupted(_) = app.thread(key("rewound")).resume(()).await.unwrap() else {
            panic!("it asks again")
        };
        let later = later::app(&store).thread(key("evolved"));
        let state = later.state(None).await.unwrap().unwrap();
        assert_eq!((state.goal.as_str(), state.author.as_str()), ("sell", "me"));
        let state = later.invoke(later::S::update(), ()).await.unwrap().done().unwrap();
        assert_eq!(state.log.iter().filter(|said| *said == "later").count(), 3);
        // The older program says that it is older.
        let older = app.thread(key("evolved")).invoke(S::update(), ()).await.unwrap_err();
        assert!(matches!(older, RunError::SchemaTooNew { stored: 2, .. }), "{older:?}");
        read += 1;
    }
    assert!(read > 0, "no format was read");
}
