//! The command, end to end, on files that graphs have written.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hanok_checkpoint::{Checkpointer as _, Codec, SharedStore, ThreadItems};
use hanok_core::{Stored, Tenant, ThreadKey, Timestamp};
use hanok_graph::{App, BoxError, Context, END, Graph, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::{List, State};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, Written};

/// What acts on a terminal: clears it, sets its title, and turns the direction of what follows.
const NASTY: &str = "\u{1b}[2J\u{9b}2J\u{202e}x\r\n\u{7}";

#[derive(State, Debug, Clone, Default)]
struct S {
    #[reduce(append)]
    log: List<String>,
    #[reduce(append)]
    asks: List<String>,
}

async fn work(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
    Ok(S::update().push_log(cx.node().to_owned()))
}

async fn ask(state: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
    if state.log.iter().any(|said| said == "ask") {
        return Ok(S::update().push_asks(cx.interrupt::<String>(NASTY).await?));
    }
    Ok(S::update())
}

async fn app(path: &Path) -> App<S> {
    let graph = Graph::<S>::builder("chain").node("a", work).node("ask", ask);
    let graph = graph.edge(START, "a").edge("a", "ask").edge("ask", END).build().unwrap();
    graph.checkpointer(Sqlite::open(path).await.unwrap())
}

fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

struct House {
    #[allow(dead_code, reason = "the folder goes with it")]
    folder: TempDir,
    db: PathBuf,
}

impl House {
    /// A store with three turns on `t`, a thread that asks, and one of another tenant.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("threads.db");
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let app = app(&db).await;
            for said in ["one", "two", NASTY] {
                let thread = app.thread(key("t")).tag("case", said).unwrap();
                thread.invoke(S::update().push_log(said.to_owned()), ()).await.unwrap();
            }
            let asks = app.thread(key("asks"));
            asks.invoke(S::update().push_log("ask"), ()).await.unwrap();
            let other = ThreadKey::new(Tenant::new("other").unwrap(), "theirs").unwrap();
            app.thread(other).invoke(S::update(), ()).await.unwrap();
        });
        Self { folder, db }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn hanok(&self, arguments: &[&str]) -> Written {
        support::written(support::hanok(&self.db, arguments))
    }

    fn done(&self, arguments: &[&str]) -> Written {
        support::done(support::hanok(&self.db, arguments))
    }

    fn sql(&self, statement: &str) {
        assert_eq!(Connection::open(&self.db).unwrap().execute(statement, ()).unwrap(), 1);
    }

    fn state(&self, thread: &str) -> String {
        let list = self.done(&["list", "--json"]).objects();
        let found = list.iter().find(|it| it["thread"] == thread);
        found.unwrap()["state"].as_str().unwrap().to_owned()
    }

    fn position(&self, thread: &str) -> u64 {
        let list = self.done(&["list", "--json"]).objects();
        let found = list.iter().find(|it| it["thread"] == thread);
        found.unwrap()["position"].as_u64().unwrap()
    }
}

/// B74, B84: threads, states and histories are told to people and to programs.
#[test]
fn threads_and_their_histories_are_told() {
    let house = House::new();
    let list = house.done(&["list"]).out;
    assert!(list.contains("asks") && list.contains('t') && !list.contains("theirs"), "{list}");
    assert!(list.contains("STATE") && list.contains("AT") && list.contains("chain"), "{list}");
    let states = house.done(&["list", "--json"]).objects();
    let states: Vec<_> = states.iter().map(|it| [&it["thread"], &it["state"]]).collect();
    assert_eq!(states, [["asks", "asks"], ["t", "done"]]);
    assert!(house.done(&["list", "--tenant", "other"]).out.contains("theirs"));

    let shown = house.done(&["show", "t", "--json"]).objects();
    assert_eq!(shown[0]["state"]["log"][0], "one");
    assert_eq!(shown[0]["next"].as_array().unwrap().len(), 0);
    let asks = house.done(&["show", "asks"]).out;
    assert!(asks.contains("next: ask") && asks.contains("asked by ask"), "{asks}");

    let history = house.done(&["history", "t", "--json"]).objects();
    let told =
        |key: &str| history.iter().map(|it| it[key].to_string()).collect::<Vec<_>>().join(" ");
    let sources = [r#""loop" "loop" "input""#; 3].join(" ");
    assert_eq!(told("source"), sources);
    assert_eq!(told("step"), "2 1 0 2 1 0 2 1 0");
    let (parent, position) = (&history[0]["parent"], &history[1]["position"]);
    assert_eq!(parent, position);
    let filtered = ["history", "t", "--node", "a", "--tag", "case=two", "--limit", "5", "--json"];
    assert_eq!(house.done(&filtered).objects(), [history[4].clone()]);
    let none = ["history", "t", "--tag", "case=%' OR 1=1 --", "--json"];
    assert_eq!(house.done(&none).out, "");
    let begins = house.done(&["history", "t", "--kind", "begin", "--json"]).objects();
    assert_eq!(begins.len(), 3);

    let (from, to) = (history[8]["position"].to_string(), history[7]["position"].to_string());
    let diff = house.done(&["diff", "t", &from, &to]).out;
    assert!(diff.contains("+ log[1]: \"a\"") && !diff.contains("one"), "{diff}");
    assert!(diff.contains("- next: a\n+ next: ask"), "{diff}");
}

/// A turn that is not over is listed with how it was left and with what is due.
#[test]
fn a_list_says_how_far_each_thread_is() {
    async fn fails(_: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
        Err("no".into())
    }
    let house = House::new();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let graph = Graph::<S>::builder("chain").node("a", work).node("tools", fails);
        let graph = graph.edge(START, "a").edge("a", "tools").edge("tools", END).build().unwrap();
        let app = graph.checkpointer(Sqlite::open(&house.db).await.unwrap());
        app.thread(key("broken")).invoke(S::update(), ()).await.unwrap_err();
    });
    assert_eq!(house.state("broken"), "failed: tools");
    let checkpoints = house.done(&["history", "broken", "--json"]).objects();
    let input = checkpoints.last().unwrap()["position"].to_string();
    house.done(&["fork", "broken", "begun", "--at", &input]);
    assert_eq!(house.state("begun"), "due: a");
    assert_eq!((house.state("t").as_str(), house.state("asks").as_str()), ("done", "asks"));
    let list = house.done(&["list"]).out;
    assert!(list.contains("failed: tools") && list.contains("due: a"), "{list}");
}

/// P33: what others have put into a thread is shown, and does nothing to a terminal.
#[test]
fn nothing_that_is_shown_acts_on_a_terminal() {
    let house = House::new();
    for verb in [
        &["show", "t"][..],
        &["show", "asks"],
        &["history", "t"],
        &["history", "t", "--entries"],
        &["diff", "t", "1"],
        &["export", "t"],
        &["show", "\u{202e}no such"],
    ] {
        for json in [&[][..], &["--json"]] {
            let said = house.hanok(&[verb, json].concat());
            let acts = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!said.out.contains(acts) && !said.err.contains(acts), "{verb:?}: {}", said.out);
        }
    }
    let shown = house.done(&["show", "t", "--json"]).objects();
    let log = shown[0]["state"]["log"].as_array().unwrap();
    assert_eq!(log[4], NASTY, "programs read what it is");
    assert!(house.done(&["show", "t"]).out.contains("\\u{202e}"));
}

/// P7, B79: damage is found with the last good position, the thread goes on from there, and the command says so by its code.
#[test]
fn damage_is_found_and_got_over() {
    let house = House::new();
    assert_eq!(house.done(&["verify", "--all"]).out.lines().count(), 2);
    let damaged = house.position("t") - 1;
    house.sql(&format!(
        "UPDATE records SET bytes = CAST(zeroblob(length(bytes)) AS BLOB) WHERE position = {damaged}
         AND thread_id = (SELECT id FROM threads WHERE thread = 't')"
    ));
    let found = house.hanok(&["verify", "t", "--json"]);
    assert_eq!(found.code, 4, "{}", found.err);
    let report = &found.objects()[0];
    assert_eq!(report["damage"]["position"], damaged);
    assert_eq!(
        (&report["damage"]["last_good"], &report["reads"]),
        (&Value::from(damaged - 1), &Value::from(false))
    );
    assert_eq!(house.hanok(&["verify", "--all"]).code, 4);
    assert_eq!(house.hanok(&["show", "t"]).code, 4);
    assert_eq!(house.hanok(&["verify", "asks"]).code, 0);

    house.done(&["rewind", "t", &(damaged - 1).to_string()]);
    house.done(&["show", "t"]);
    let found = house.hanok(&["verify", "t"]);
    assert_eq!(found.code, 4);
    assert!(found.out.contains("it reads"), "{}", found.out);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let app = app(&house.db).await;
        app.thread(key("t")).invoke(S::update().push_log("on"), ()).await.unwrap();
    });
    house.done(&["prune", "t", "--last", "1", "--yes"]);
    assert_eq!(house.hanok(&["verify", "t"]).code, 0, "what was cut off took the damage with it");
}

/// B81, B78, B75, P57: threads are forked, copied, pruned and erased; what is removed is asked for twice.
#[test]
fn threads_are_forked_copied_pruned_and_erased() {
    let house = House::new();
    let end = house.position("t");
    house.done(&["fork", "t", "fork", "--at", "3"]);
    house.done(&["copy", "t", "copy"]);
    assert_eq!(house.position("copy"), end + 1);
    assert_eq!(house.hanok(&["copy", "t", "copy"]).code, 2, "it exists already");
    let forks = house.done(&["list", "--forks-of", "t", "--json"]).objects();
    assert_eq!((forks.len(), &forks[0]["thread"]), (1, &Value::from("fork")));

    let state = house.done(&["show", "t", "--json"]).out;
    for unsure in [&["prune", "t", "--last", "1"][..], &["erase", "t"], &["delete", "t"]] {
        let said = house.hanok(unsure);
        assert_eq!((said.code, said.err.contains("--yes")), (2, true), "{}", said.err);
    }
    assert_eq!(house.position("t"), end);
    let would = |arguments: &[&str]| {
        house.hanok(arguments).out.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let itself = "default/t would be removed";
    let all = [itself, "default/fork is a fork, and would be removed"];
    assert_eq!(would(&["erase", "t"]), all);
    assert_eq!(would(&["erase", "t", "--keep-forks"]), [itself]);
    assert_eq!(would(&["delete", "t"]), [itself]);
    assert_eq!(house.hanok(&["erase", "none"]).code, 1);
    house.done(&["prune", "t", "--last", "1", "--yes"]);
    assert_eq!(house.done(&["show", "t", "--json"]).out, state);
    assert_eq!(house.done(&["history", "t", "--json"]).objects().len(), 0);
    assert_eq!(house.hanok(&["show", "t", "--at", "2"]).code, 1);

    assert_eq!(house.done(&["erase", "t", "--yes"]).out.lines().count(), 2);
    assert_eq!(house.hanok(&["show", "fork"]).code, 1);
    house.done(&["show", "copy"]);
    house.done(&["delete", "copy", "--yes"]);
    assert_eq!(house.hanok(&["delete", "copy", "--yes"]).code, 1);
    let other = ["show", "theirs", "--tenant", "other"];
    house.done(&other);
}

/// A position stands by its place or as an option, alike in every verb.
#[test]
fn positions_are_arguments_or_options() {
    let house = House::new();
    let diff = house.done(&["diff", "t", "2", "3"]).out;
    assert_eq!(house.done(&["diff", "t", "--at", "2", "--to", "3"]).out, diff);
    assert_eq!(house.done(&["diff", "t", "2", "--to", "3"]).out, diff);
    house.done(&["fork", "t", "one", "--at", "3"]);
    house.done(&["fork", "t", "--to", "two", "--at", "3"]);
    let shown = |name: &str| house.done(&["show", name, "--json"]).objects()[0]["state"].clone();
    assert_eq!(shown("one"), shown("two"));
    let rewound = [&["5"][..], &["--at", "5"], &["--to", "5"]].map(|how| {
        let name = format!("copy{}", how.join(""));
        house.done(&["copy", "t", &name]);
        house.done(&[&["rewind", &name][..], how].concat());
        shown(&name)
    });
    assert_ne!(rewound[0], shown("t"));
    assert!(rewound.iter().all(|state| *state == rewound[0]));
    for wrong in [
        &["diff", "t"][..],
        &["diff", "t", "1", "--at", "2"],
        &["fork", "t"],
        &["fork", "t", "x", "--to", "y"],
        &["rewind", "t"],
        &["rewind", "t", "1", "--to", "2"],
    ] {
        assert_eq!(house.hanok(wrong).code, 2, "{wrong:?}");
    }
    assert!(house.done(&["export", "--help"]).out.contains("An edit of the JSON is not taken in"));
}

/// What `show` says, but for where the log ends: in a copy one entry more says whence it comes.
fn placeless(json: &str) -> serde_json::Value {
    let mut told: serde_json::Value = serde_json::from_str(json).unwrap();
    told.as_object_mut().unwrap().remove("position").unwrap();
    told
}

/// B81: a thread that was exported is taken in elsewhere as it was, and goes on there.
#[test]
fn a_thread_is_taken_to_another_store() {
    let (house, other) = (House::new(), House::new());
    let lines = house.file("asks.jsonl");
    let lines = lines.to_str().unwrap();
    house.done(&["export", "asks", lines]);
    assert_eq!(house.hanok(&["export", "asks", lines]).code, 1, "a file that is there stays");
    assert_eq!(other.hanok(&["import", "asks", lines]).code, 2, "it exists already");
    other.done(&["delete", "asks", "--yes"]);
    other.done(&["import", "asks", lines]);
    other.done(&["import", "another", lines]);
    let shown = |house: &House| placeless(&house.done(&["show", "asks", "--json"]).out);
    assert_eq!(shown(&other), shown(&house));
    assert_eq!(other.hanok(&["verify", "--all"]).code, 0);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let app = app(&other.db).await;
        for name in ["asks", "another"] {
            let outcome = app.thread(key(name)).reply("yes", ()).await.unwrap();
            assert_eq!(outcome.done().unwrap().asks.iter().count(), 1);
        }
    });
}

/// P10: a thread that a run owns is neither rewound nor removed, and the code says so.
#[test]
fn a_thread_in_use_is_a_conflict() {
    use hanok_checkpoint::{Checkpointer, Claim, Codec, Epoch, Guard, Holder, Tip};
    use hanok_core::{Clock, Namespace, Position, RunId, Timestamp};
    let house = House::new();
    let elsewhere = || Holder { host: "elsewhere".to_owned(), ..Holder::this_process(1) };
    let take_by = |holder: Holder, beat: Timestamp, epoch| {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let store = Sqlite::open(&house.db).await.unwrap();
            let head = store.head(&key("t")).await.unwrap().unwrap();
            let at = head.position;
            let claim = Claim { run: RunId(1), holder, epoch: Epoch(epoch), beat };
            let body = hanok_checkpoint::Body::Rewind(hanok_checkpoint::Rewind::default());
            let entry = hanok_checkpoint::Entry { at: beat, namespace: Namespace::root(), body };
            let (mut tip, codec) = (Tip::of(&head), Codec::new());
            let record = tip.push(&codec, &key("t"), at, &entry).unwrap();
            let id = hanok_checkpoint::AppendId(u128::from(epoch));
            let guard = Guard::Take(claim);
            let append = tip.append(&codec, &key("t"), id, at, guard, vec![record]);
            store.append(&key("t"), append).await.unwrap();
            Position(at.0 + 1)
        })
    };
    let take = |beat: Timestamp, epoch| take_by(elsewhere(), beat, epoch);
    let now = hanok_graph::TokioClock.now();
    take(now, 1 << 60);
    assert_eq!(house.state("t"), "running");
    for verb in [&["rewind", "t", "2"][..], &["erase", "t", "--yes"], &["delete", "t", "--yes"]] {
        assert_eq!(house.hanok(verb).code, 3, "{verb:?}");
    }
    // Only the heading: another host's processes cannot be looked at.
    assert_eq!(house.done(&["abandoned"]).out.lines().count(), 1);
    house.done(&["prune", "t", "--last", "2", "--yes"]);
    // However old its sign of life is, or how far ahead: only the operator knows better, and takes it.
    for (nth, beat) in [Timestamp(0), Timestamp(now.0 + 86_400_000)].into_iter().enumerate() {
        take(beat, (1 << 61) + nth as u64 * 10);
        assert_eq!(house.hanok(&["delete", "t", "--yes"]).code, 3);
        assert!(house.done(&["release", "t"]).out.contains("on elsewhere"));
        assert!(house.done(&["release", "t"]).out.contains("owned by nobody"));
    }
    if cfg!(target_os = "linux") {
        let gone = Holder { pid: 1 << 22, ..Holder::this_process(1) };
        take_by(gone, now, 1 << 62);
        assert_eq!(house.state("t"), "lost");
    }
    house.done(&["delete", "t", "--yes"]);
}

/// Wrong usage is told as such, changes nothing and makes no file.
#[test]
fn wrong_usage_is_told() {
    let house = House::new();
    for wrong in [
        &["nonsense"][..],
        &["show"],
        &["history", "t", "--kind", "nonsense"],
        &["history", "t", "--since", "yesterday"],
        &["prune", "t", "--yes"],
        &["list", "--tenant", ""],
    ] {
        assert_eq!(house.hanok(wrong).code, 2, "{wrong:?}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_hanok"));
    command.arg("list").env_remove("HANOK_POSTGRES");
    assert_eq!(support::written(command).code, 2);
    let file = house.file("mistyped.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hanok"));
    command.args(["list", "--db"]).arg(&file);
    assert_eq!((support::written(command).code, file.exists()), (1, false));
    let expired = house.done(&["expired"]).out;
    assert_eq!(expired.lines().count(), 1, "{expired}");
}

/// Whatever an argument holds, what is said of it does not act on a terminal.
#[test]
fn wrong_arguments_are_repeated_without_what_acts_on_a_terminal() {
    let house = House::new();
    for wrong in [
        &["history", "t", "--since", NASTY][..],
        &["history", "t", "--until", NASTY],
        &["history", "t", "--kind", NASTY],
        &["history", "t", "--tag", NASTY],
        &["show", "t", "--at", NASTY],
        &["prune", "t", "--last", NASTY, "--yes"],
        &["prune", "t", "--since", NASTY, "--yes"],
        &["show", "t", NASTY],
        &[NASTY],
        &["show", NASTY],
        &["list", "--tenant", NASTY],
        &["list", "--status", NASTY],
        &["list", "--forks-of", NASTY],
        &["import", "t", NASTY],
        &["list", &format!("--{NASTY}")],
        &["list", "--db", NASTY],
    ] {
        let said = house.hanok(wrong);
        let all = [said.out, said.err].concat();
        let acts = ['\u{1b}', '\u{9b}', '\u{202e}', '\r', '\u{7}'];
        assert!(!all.contains(acts), "{wrong:?}: {all:?}");
    }
    let said = house.hanok(&["history", "t", "--since", NASTY]);
    assert!(said.code == 2 && said.err.contains("--since"), "{}", said.err);
}

/// A store that is encrypted and compressed is read, verified and moved with its keys, and not without; no key is ever told.
#[cfg(all(feature = "encryption", feature = "compression"))]
#[test]
fn an_encrypted_store_is_read_with_its_keys() {
    use hanok_checkpoint::{Codec, KeyId, Keyring, SharedCheckpointer};

    let (old, new) = ("ab".repeat(32), "0f".repeat(32));
    let house = House { db: PathBuf::new(), folder: tempfile::tempdir().unwrap() };
    let house = House { db: house.file("threads.db"), ..house };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let codec = Codec::new().compress(64).encrypt(Keyring::new(KeyId(7), [0xab; 32]));
        let store = SharedCheckpointer::new(Sqlite::open(&house.db).await.unwrap());
        let graph = Graph::<S>::builder("chain").node("a", work).edge(START, "a").edge("a", END);
        let app = graph.build().unwrap().checkpointer(store.with_codec(codec));
        let said = S::update().push_log("비밀".repeat(100));
        app.thread(key("t")).invoke(said, ()).await.unwrap();
    });
    let keys = |name: &str, text: &str| {
        std::fs::write(house.file(name), text).unwrap();
        house.file(name).display().to_string()
    };
    let right = keys("right", &format!("# 2026\n\n8 {new}\n7  {old} # until June\n"));

    assert_eq!(house.hanok(&["list"]).code, 0, "names are not encrypted");
    let told = house.hanok(&["show", "t"]);
    assert_eq!((told.code, told.err.contains("encrypted with key 7")), (1, true), "{}", told.err);
    assert!(house.done(&["show", "t", "--keys", &right]).out.contains("비밀"));
    assert_eq!(house.done(&["verify", "t", "--keys", &right]).code, 0);
    house.done(&["copy", "t", "anew", "--keys", &right]);
    let only_new = keys("new", &format!("8 {new}"));
    assert!(house.done(&["show", "anew", "--keys", &only_new]).out.contains("비밀"));

    let wrong = keys("wrong", &format!("7 {new}"));
    assert_eq!(house.hanok(&["show", "t", "--keys", &wrong]).code, 1);
    for (text, want) in [
        ("", "holds none"),
        ("7 abc", "line 1"),
        (&*format!("8 {new}\nseven {old}"), "line 2"),
        (&*format!("7 {}", "zz".repeat(32)), "line 1"),
    ] {
        let told = house.hanok(&["show", "t", "--keys", &keys("faulty", text)]);
        assert_eq!((told.code, told.err.contains(want)), (2, true), "{}", told.err);
        assert!(!told.err.contains(&new) && !told.err.contains("abc"), "{}", told.err);
    }
    let told = house.hanok(&["show", "t", "--keys", "gone"]);
    assert_eq!((told.code, told.err.contains("the keys in gone")), (1, true), "{}", told.err);
}

/// P56: the threads of a plain store are taken into an encrypted one: as they are, each once, what broke off may be begun again,
/// and without its keys nothing there is read; the way back is the same.
#[cfg(feature = "encryption")]
#[test]
fn threads_are_taken_from_a_plain_store_to_an_encrypted_one_and_back() {
    let house = House::new();
    let keys = house.file("keys").display().to_string();
    std::fs::write(&keys, format!("1 {}", "ab".repeat(32))).unwrap();
    let sealed = House { db: house.file("sealed.db"), folder: tempfile::tempdir().unwrap() };
    let into = sealed.db.display().to_string();

    assert_eq!(house.hanok(&["transfer", &into, "--to-keys", &keys]).code, 2, "say which");
    let told = house.done(&["transfer", &into, "--to-keys", &keys, "--thread", "t"]);
    assert_eq!(told.out.lines().filter(|line| line.ends_with("was taken")).count(), 1);
    let told = house.done(&["transfer", &into, "--to-keys", &keys, "--all"]);
    assert!(
        told.out.contains("is there already") && told.out.contains("was taken"),
        "{}",
        told.out
    );

    assert_eq!(sealed.hanok(&["show", "asks"]).code, 1, "without its keys");
    assert_eq!(sealed.done(&["verify", "--all", "--keys", &keys]).code, 0);
    for name in ["t", "asks"] {
        let there = sealed.done(&["show", name, "--json", "--keys", &keys]).out;
        assert_eq!(placeless(&there), placeless(&house.done(&["show", name, "--json"]).out));
    }
    assert_ne!(house.hanok(&["show", "t", "--keys", &keys]).code, 0, "plain beside a key");
    let plain = House { db: house.file("plain.db"), folder: tempfile::tempdir().unwrap() };
    sealed.done(&["transfer", &plain.db.display().to_string(), "--all", "--keys", &keys]);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let outcome = app(&plain.db).await.thread(key("asks")).reply("yes", ()).await.unwrap();
        assert_eq!(outcome.done().unwrap().asks.iter().count(), 1);
    });
}

/// The large values that a thread has beside its log.
async fn beside(db: &Path, name: &str) -> ThreadItems {
    let sqlite = Sqlite::open(db).await.unwrap();
    let head = sqlite.head(&key(name)).await.unwrap().unwrap();
    ThreadItems::new(SharedStore::new(sqlite), Codec::new(), key(name), head.life)
}

async fn report(db: &Path, name: &str) -> Option<String> {
    let stored = beside(db, name).await.get("report", Timestamp(0)).await.unwrap();
    stored.map(|stored| stored.decode().unwrap())
}

/// The items of the threads that the file has.
fn items(db: &Path) -> i64 {
    let raw = Connection::open(db).unwrap();
    raw.query_row("SELECT count(*) FROM items", (), |row| row.get(0)).unwrap()
}

/// B146: what is large stands beside the log, and goes where that goes: into forks, copies and other stores, sealed where the log
/// is, and away with the thread.
#[cfg(feature = "encryption")]
#[test]
fn what_stands_beside_a_thread_goes_with_it() {
    let house = House::new();
    let long = "the report of the day\n".repeat(1_000);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let value = Stored::encode(&long).unwrap();
        beside(&house.db, "t").await.put("report", &value, Timestamp(0)).await.unwrap();
    });
    house.done(&["fork", "t", "fork"]);
    assert_eq!(house.hanok(&["copy", "t", "fork"]).code, 2, "it is there");
    house.done(&["copy", "t", "copy"]);
    assert_eq!(items(&house.db), 3);

    let keys = house.file("keys").display().to_string();
    std::fs::write(&keys, format!("1 {}", "ab".repeat(32))).unwrap();
    let sealed = House { db: house.file("sealed.db"), folder: tempfile::tempdir().unwrap() };
    let into = sealed.db.display().to_string();
    house.done(&["transfer", &into, "--to-keys", &keys, "--thread", "t"]);
    let bytes = std::fs::read(&sealed.db).unwrap();
    let part = b"the report of the day";
    assert_eq!(items(&sealed.db), 1);
    assert!(!bytes.windows(part.len()).any(|window| window == part));
    let plain = House { db: house.file("plain.db"), folder: tempfile::tempdir().unwrap() };
    sealed.done(&["transfer", &plain.db.display().to_string(), "--all", "--keys", &keys]);
    runtime.block_on(async {
        assert_eq!(report(&plain.db, "t").await.as_ref(), Some(&long));
        for name in ["fork", "copy"] {
            assert_eq!(report(&house.db, name).await.as_ref(), Some(&long));
        }
    });

    house.done(&["delete", "copy", "--yes"]);
    assert_eq!(items(&house.db), 2);
    house.done(&["erase", "t", "--yes"]);
    assert_eq!(items(&house.db), 0);
}

/// P57: whoever still reads what was erased is told of.
#[test]
fn erasing_says_when_a_reader_keeps_the_bytes() {
    let house = House::new();
    let mut raw = Connection::open(&house.db).unwrap();
    let reading = raw.transaction().unwrap();
    reading.query_row("SELECT count(*) FROM records", (), |_| Ok(())).unwrap();
    let said = house.hanok(&["erase", "t", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("another process reads from it"), "{}", said.out);
    drop(reading);
    drop(raw);
    let said = house.hanok(&["erase", "asks", "--yes"]);
    assert!(!said.out.contains("another process"), "{}", said.out);
}

/// P5
#[test]
fn a_backup_is_a_store_and_overwrites_nothing() {
    let house = House::new();
    let copy = house.folder.path().join("copy.db");
    let file = copy.to_str().unwrap();
    let said = house.hanok(&["backup", file]);
    assert_eq!(said.code, 0, "{}", said.err);
    let list = |db: &Path| {
        House { folder: tempfile::tempdir().unwrap(), db: db.to_owned() }.hanok(&["list"]).out
    };
    assert_eq!(list(&copy), list(&house.db));
    let again = house.hanok(&["backup", file]);
    assert_eq!(again.code, 1);
    assert!(
        again.err.contains("it is there already, and a backup overwrites nothing"),
        "{}",
        again.err
    );
}

/// P7: a row that cannot be read hides no other thread.
#[test]
fn one_bad_row_blinds_no_list() {
    for (damage, name) in [
        ("run = x'00112233'", "asks"),
        ("head = -7", "asks"),
        ("life = x'01'", "asks"),
        ("beat = 'soon', run = zeroblob(16)", "asks"),
        ("thread = 'as' || char(7) || 'ks'", "row 2: as\u{fffd}ks"),
        ("thread = ''", "row 2: "),
    ] {
        let house = House::new();
        let whole = house.position("t");
        let strict = "PRAGMA ignore_check_constraints = 1";
        Connection::open(&house.db).unwrap().execute_batch(strict).unwrap();
        let sql = format!("UPDATE threads SET {damage} WHERE thread = 'asks'");
        if Connection::open(&house.db).unwrap().execute(&sql, ()).is_err() {
            // A strict table takes no text for a number.
            continue;
        }
        let list = house.hanok(&["list", "--json"]);
        assert_eq!(list.code, 4, "{damage}: {}", list.err);
        let threads = list.objects();
        assert_eq!(threads.len(), 2, "{damage}: {}", list.out);
        let of = |name: &str| threads.iter().find(|it| it["thread"] == name).unwrap().clone();
        assert_eq!(of("t")["position"], whole, "{damage}");
        assert!(of(name)["damage"].is_string(), "{damage}: {}", list.out);
        assert!(of("t")["damage"].is_null());
        let people = house.hanok(&["list"]);
        assert!(people.out.contains("damaged: "), "{damage}: {}", people.out);

        let verified = house.hanok(&["verify", "--all"]);
        assert_eq!(verified.code, 4, "{damage}: {}", verified.err);
        assert!(verified.out.contains("default/t: whole"), "{damage}: {}", verified.out);
        let abandoned = house.hanok(&["abandoned"]);
        let claimed = damage.starts_with("run") || damage.contains("beat");
        assert_eq!(abandoned.code, if claimed { 4 } else { 0 }, "{damage}: {}", abandoned.err);
    }
}

/// P7: an index that lost an entry loses nothing of the table, and no rewind is advised.
#[test]
fn a_damaged_index_is_told_and_repaired_without_a_loss() {
    let house = House::new();
    let before = house.done(&["list", "--json"]).out;
    let raw = Connection::open(&house.db).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_records_1'";
    let page: u32 = raw.query_row(sql, (), |row| row.get(0)).unwrap();
    drop(raw);
    let mut bytes = std::fs::read(&house.db).unwrap();
    let at = (page as usize - 1) * 4096;
    // One entry less than there are.
    let count = u16::from_be_bytes([bytes[at + 3], bytes[at + 4]]) - 1;
    bytes[at + 3..at + 5].copy_from_slice(&count.to_be_bytes());
    std::fs::write(&house.db, bytes).unwrap();

    let verified = house.hanok(&["verify", "--all"]);
    assert_eq!(verified.code, 4, "{}", verified.err);
    assert!(verified.err.contains("`hanok repair NEW`"), "{}", verified.err);
    assert!(!verified.out.contains("rewind"), "{}", verified.out);
    let new = house.file("new.db");
    let said = house.done(&["repair", new.to_str().unwrap()]).out;
    assert!(said.contains("default/t: ") && said.contains("nothing is lost"), "{said}");
    assert!(!said.contains("lost: "), "{said}");
    let repaired = House { folder: tempfile::tempdir().unwrap(), db: new };
    assert_eq!(repaired.done(&["list", "--json"]).out, before);
    repaired.done(&["verify", "--all"]);
    assert_eq!(house.hanok(&["repair", repaired.db.to_str().unwrap()]).code, 1);

    // What cannot even be opened is repaired as well.
    let mut bytes = std::fs::read(&house.db).unwrap();
    bytes[100..4096].fill(0);
    std::fs::write(&house.db, bytes).unwrap();
    let verified = house.hanok(&["verify", "--all"]);
    assert!(verified.err.contains("`hanok repair NEW`"), "{}", verified.err);
    let new = house.file("newer.db");
    house.done(&["repair", new.to_str().unwrap()]);
    let repaired = House { folder: tempfile::tempdir().unwrap(), db: new };
    assert_eq!(repaired.done(&["list", "--json"]).out, before);
}
