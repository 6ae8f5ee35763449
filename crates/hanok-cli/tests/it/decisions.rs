//! What the command tells of the decisions on a thread.

use std::path::PathBuf;

use hanok_agent::{
    Choice, ChoiceEntry, ChoiceKind, ChoiceOption, ChoiceRecord, ChoiceResult, Choices, ChosenBy,
};
use hanok_core::{ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::State;
use tempfile::TempDir;

use crate::support::{self, Written};

/// What acts on a terminal.
const NASTY: &str = "\u{1b}[2J\u{9b}2J\u{202e}x\r\n\u{7}";

/// A store in a folder that goes with it.
struct House {
    _folder: TempDir,
    db: PathBuf,
}

impl House {
    fn hanok(&self, arguments: &[&str]) -> Written {
        support::written(support::hanok(&self.db, arguments))
    }

    fn done(&self, arguments: &[&str]) -> Written {
        support::done(support::hanok(&self.db, arguments))
    }
}

/// A state with another name for its choices, of which each turn begins with none.
#[derive(State, Debug, Clone, Default)]
struct Desk {
    decided: Vec<ChoiceEntry>,
}

/// Three turns: teams by a model, tools by a fallback that failed, and a review of nothing by a person.
fn turns() -> [Vec<ChoiceEntry>; 3] {
    let choice = |id: &str, at, kind, agent: &str| {
        Choice::new(id, Timestamp(at), kind, agent, "May the rent rise?")
    };
    let model = ChosenBy::Model { name: "m".into() };
    let teams = choice("1", 1_000, ChoiceKind::Teams, "supervisor")
        .options([ChoiceOption::new("law"), ChoiceOption::new("loans").unavailable("no data")])
        .chosen(["law"])
        .reason("a question of law", 0.9, model);
    let tools = choice("2", 2_000, ChoiceKind::Tools, "search").chosen(["law", "prices"]).reason(
        "all that read",
        0.3,
        ChosenBy::Fallback { cause: format!("no JSON{NASTY}") },
    );
    let review = choice("3", 3_000, ChoiceKind::Review, "supervisor").reason(
        "it is short",
        0.7,
        ChosenBy::Person,
    );
    let millis = std::time::Duration::from_millis;
    let of_teams = ChoiceResult::of("1").used("law", millis(30), None);
    let of_tools = ChoiceResult::of("2").used("law", millis(5), None);
    let of_tools = of_tools.used("prices", millis(7), Some("no table"));
    [
        vec![ChoiceEntry::Made(teams), ChoiceEntry::Ended(of_teams)],
        vec![ChoiceEntry::Made(tools), ChoiceEntry::Ended(of_tools)],
        vec![ChoiceEntry::Made(review)],
    ]
}

/// A store with three turns on `desk`, and a thread without decisions.
fn with_decisions() -> House {
    async fn nothing(_: Snapshot<Desk>, _: Context) -> Result<(), BoxError> {
        Ok(())
    }
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("threads.db");
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let graph = Graph::<Desk>::builder("desk").node("a", nothing);
        let graph = graph.edge(START, "a").edge("a", END).build().unwrap();
        let app = graph.checkpointer(Sqlite::open(&db).await.unwrap());
        let none = [("t", Vec::new())];
        for (name, entries) in turns().map(|entries| ("desk", entries)).into_iter().chain(none) {
            let thread = app.thread(ThreadKey::named(name).unwrap());
            thread.invoke(Desk::update().decided(entries), ()).await.unwrap();
        }
    });
    House { _folder: folder, db }
}

/// The decisions of all turns are told, also those that the state holds no more; a line of JSON is read as it was written.
#[test]
fn decisions_are_told_and_filtered() {
    let house = with_decisions();
    let shown = house.done(&["decisions", "desk"]).out;
    let nasty = "no JSON\\u{1b}[2J\\u{9b}2J\\u{202e}x\\u{d}\\n\\u{7}";
    assert!(shown.contains(&format!("fallback: {nasty}")), "{shown}");
    let columns = |line: &str| {
        line.replace(nasty, "no JSON")
            .split("  ")
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let lines: Vec<_> = shown.lines().map(columns).collect();
    let want = [
        "AT | AGENT | KIND | CHOSEN | CONFIDENCE | BY | CAME TO | MS | REASON",
        "1970-01-01T00:00:01Z | supervisor | teams | law | 0.9 | model m | done | 30 | a question of law",
        "1970-01-01T00:00:02Z | search | tools | law,prices | 0.3 | fallback: no JSON | failed: no table | 12 | all that read",
        "1970-01-01T00:00:03Z | supervisor | review | nothing | 0.7 | person | it is short",
    ];
    assert_eq!(lines, want);

    let records = |arguments: &[&str]| -> Vec<ChoiceRecord> {
        let all = [&["decisions", "desk", "--json"], arguments].concat();
        let out = house.done(&all).out;
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let entries: Vec<_> = turns().into_iter().flatten().collect();
    let all: Vec<_> = Choices::of(&entries).records().collect();
    assert_eq!(records(&[]), all);
    for (arguments, want) in [
        (&["--agent", "supervisor"][..], &["1", "3"][..]),
        (&["--kind", "tools"], &["2"]),
        (&["--kind", "fallback"], &["2"]),
        (&["--kind", "none"], &["3"]),
        (&["--tool", "law"], &["1", "2"]),
        (&["--failed"], &["2"]),
        (&["--succeeded"], &["1"]),
        (&["--min-confidence", "0.7"], &["1", "3"]),
        (&["--since", "1970-01-01T00:00:02Z"], &["2", "3"]),
        (&["--until", "1970-01-01T00:00:02Z"], &["1"]),
        (&["--tool", "law", "--failed", "--agent", "supervisor"], &[]),
    ] {
        let ids: Vec<_> = records(arguments).into_iter().map(|it| it.choice.id).collect();
        assert_eq!(ids, want, "{arguments:?}");
    }
    assert_eq!(house.done(&["decisions", "t", "--json"]).out, "", "a thread without any");
    for (arguments, code, words) in [
        (&["decisions", "gone"][..], 1, "HNK-305"),
        (&["decisions", "desk", "--kind", "mood"], 2, "there are intent, teams"),
        (&["decisions", "desk", "--min-confidence", "nan"], 2, "a confidence is a number"),
        (&["decisions", "desk", "--failed", "--succeeded"], 2, "cannot be used with"),
    ] {
        let written = house.hanok(arguments);
        let is_right = written.code == code && written.err.contains(words);
        assert!(is_right, "{arguments:?}: {}", written.err);
    }
}

/// Decisions stand in the log of their thread: they go where it goes, and go with it.
#[test]
fn decisions_are_copied_and_erased_with_their_thread() {
    let house = with_decisions();
    let count = |thread: &str| house.done(&["decisions", thread, "--json"]).out.lines().count();
    house.done(&["copy", "desk", "copy"]);
    house.done(&["fork", "desk", "fork"]);
    assert_eq!((count("copy"), count("fork")), (3, 1), "a fork has what its state holds");
    house.done(&["erase", "desk", "--yes"]);
    for thread in ["desk", "fork"] {
        assert_eq!(house.hanok(&["decisions", thread]).code, 1, "{thread}");
    }
    assert_eq!(count("copy"), 3);
    house.done(&["erase", "copy", "--yes"]);
    assert_eq!(house.hanok(&["decisions", "copy"]).code, 1);
}
