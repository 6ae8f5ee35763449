//! What a log amounts to, entry by entry.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Begin, Body, Commit, Copied, Edit, Entry, Epoch, Frontier, GraphId, Persistence, Question,
    TaskWrite, ThreadFold,
};
use hanok_core::{
    Change, Changes, Namespace, Position, RunId, Spent, Stored, TaskId, Tenant, ThreadKey,
    Timestamp,
};

/// What `bodies` amount to, one after the other.
fn fold(bodies: impl IntoIterator<Item = Body>) -> ThreadFold {
    let mut fold = ThreadFold::default();
    for (position, body) in (1..).map(Position).zip(bodies) {
        let entry = Entry { at: Timestamp(0), namespace: Namespace::root(), body };
        fold.apply(position, &entry).unwrap();
    }
    fold
}

fn set(values: &[(&'static str, &str)]) -> Changes {
    let value = |text: &str| Change::Set(Stored::encode(text).unwrap());
    Changes(values.iter().map(|(name, text)| ((*name).into(), value(text))).collect())
}

fn begin(frontier: Option<Frontier>) -> Body {
    Body::Begin(Begin {
        run: RunId(1),
        epoch: Epoch(1),
        parent: None,
        persistence: Persistence::default(),
        shared: false,
        input: Changes::default(),
        frontier,
        schema: None,
        graph: GraphId::default(),
        takeovers: 0,
        tags: BTreeMap::new(),
    })
}

/// P14: a task that is run again asks its question again, which stands once, as it was asked last.
#[test]
fn a_question_that_is_asked_again_stands_once() {
    let question = |payload: &str| {
        Body::Question(Question {
            id: "q".to_owned(),
            task: TaskId::from_bytes([1; 16]),
            node: "ask".to_owned(),
            payload: Stored::encode(payload).unwrap(),
            schema: None,
            deadline: None,
            audience: None,
        })
    };
    let fold = fold([begin(Some(Frontier::default())), question("first"), question("again")]);
    let asked: Vec<String> = fold
        .run(&Namespace::root())
        .unwrap()
        .records
        .questions
        .iter()
        .map(|q| q.payload.decode().unwrap())
        .collect();
    assert_eq!(asked, ["again"]);
}

/// P1: where a commit says what became of a field, the writes that it folds say nothing of it; of other fields they do.
#[test]
fn what_a_commit_says_of_a_field_counts_alone() {
    let write = TaskWrite {
        task: TaskId::from_bytes([1; 16]),
        node: "a".into(),
        changes: set(&[("merged", "by the task"), ("own", "by the task")]),
        goto: Vec::new(),
        spent: Spent::default(),
        outbox: Vec::new(),
    };
    let append = |text: &str| ("list".into(), Change::Append(vec![Stored::encode(text).unwrap()]));
    let written = TaskWrite { changes: Changes(vec![append("task")]), ..write.clone() };
    let mut changes = set(&[("merged", "by the commit")]);
    changes.0.push(append("commit"));
    let commit = Commit {
        step: 0,
        nodes: vec!["a".into()],
        folds: vec![Position(2), Position(3)],
        changes,
        frontier: Frontier::default(),
        spent: Spent::default(),
        outbox: Vec::new(),
    };
    let fold = fold([
        begin(Some(Frontier::default())),
        Body::Write(write),
        Body::Write(written),
        Body::Commit(commit),
    ]);
    let fields = &fold.run(&Namespace::root()).unwrap().fields;
    let read = |name| fields.get(name).unwrap().to_stored().decode::<String>().unwrap();
    assert_eq!(read("merged"), "by the commit");
    assert_eq!(read("own"), "by the task");
    let list = fields.get("list").unwrap().to_stored().decode::<Vec<String>>().unwrap();
    assert_eq!(list, ["commit"]);
}

/// What was due in a thread goes on in its copy under the same ids; whatever begins there after it has ids of the copy's own.
#[test]
fn what_begins_in_a_copy_has_ids_of_its_own() {
    let from = ThreadKey::new(Tenant::default(), "copied").unwrap();
    let copied = || Body::Copied(Copied { from: from.clone() });
    let due = || Some(Frontier::default());
    let edit = |frontier| Body::Edit(Edit { node: None, changes: Changes::default(), frontier });
    let goes_on = [begin(None), edit(None)];
    for body in goes_on {
        let fold = fold([begin(due()), copied(), body]);
        assert_eq!(fold.identity.as_ref(), Some(&from));
    }
    for body in [begin(due()), Body::Rewind, edit(due())] {
        assert_eq!(fold([begin(due()), copied(), body]).identity, None);
    }
}
