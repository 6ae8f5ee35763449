//! What a log amounts to, entry by entry.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use futures::executor::block_on;
use hanok_checkpoint::{
    Answer, AppendId, Begin, Body, Checkpointer, Codec, Commit, Copied, Edit, End, Entry, Epoch,
    Frontier, GraphId, Guard, InMemoryCheckpointer, Life, Log, Memo, Persistence, Question, Rebase,
    Rewind, RunEnd, SharedCheckpointer, TaskWrite, ThreadFold, ThreadLife, Tip,
};
use hanok_core::{
    Change, Changes, Fields, Namespace, Position, RunId, Spent, Stored, StoredSchema, TaskId,
    Tenant, ThreadKey, Timestamp,
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

fn question(payload: &str) -> Body {
    Body::Question(Question {
        id: "q".to_owned(),
        task: TaskId::from_bytes([1; 16]),
        node: "ask".to_owned(),
        payload: Stored::encode(payload).unwrap(),
        schema: None,
        deadline: None,
        audience: None,
    })
}

/// P14: a task that is run again asks its question again, which stands once, as it was asked last.
#[test]
fn a_question_that_is_asked_again_stands_once() {
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
    let thread = ThreadKey::new(Tenant::default(), "copied").unwrap();
    let from = ThreadLife { thread, life: Life::new(7) };
    let copied = || Body::Copied(Copied { from: from.clone() });
    let due = || Some(Frontier::default());
    let edit = |frontier| Body::Edit(Edit { frontier, ..Edit::default() });
    let goes_on = [begin(None), edit(None)];
    for body in goes_on {
        let fold = fold([begin(due()), copied(), body]);
        assert_eq!(fold.identity.as_ref(), Some(&from));
    }
    for body in [begin(due()), Body::Rewind(Rewind::default()), edit(due())] {
        assert_eq!(fold([begin(due()), copied(), body]).identity, None);
    }
}

/// An answer that was given before its run ended is pending where the log is written anew, and does not undo the end.
#[test]
fn what_is_written_anew_ended_as_it_did() {
    let answer = |value| Answer { id: "q".to_owned(), value, by: None, key: None };
    let end = End {
        run: RunId(1),
        outcome: RunEnd::Interrupted,
        spent: Spent::default(),
        detail: String::new(),
        code: None,
        by: None,
    };
    let bodies = [
        begin(Some(Frontier::default())),
        question("first"),
        Body::Answer(answer(Stored::encode("yes").unwrap())),
        Body::End(end),
    ];
    let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
    let log = Log::new(store.clone(), thread.clone());
    let mut tip = Tip::new(Life::new(1), false);
    let records = (0..).map(Position).zip(bodies).map(|(before, body)| {
        let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body };
        tip.push(&codec, &thread, before, &entry).unwrap()
    });
    let records = records.collect();
    let append =
        tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, records);
    block_on(store.append(&thread, append)).unwrap();
    let opened = block_on(log.open(None)).unwrap().unwrap();
    let before = opened.fold.run(&Namespace::root()).unwrap().clone();
    assert_eq!(before.ended, Some(RunEnd::Interrupted));

    let anew = log.rewrite(&opened.head, opened.fold, "me", AppendId(2), Timestamp(8));
    block_on(anew).unwrap();
    let after = block_on(log.open(None)).unwrap().unwrap().fold;
    let after = after.run(&Namespace::root()).unwrap();
    assert_eq!((&after.ended, &after.records), (&before.ended, &before.records));
}

/// A memo may hold a write in the schema of the state before, which is kept until other tasks are due.
#[test]
fn the_state_before_a_rebase_is_kept_for_memos() {
    let memo = |name: &str| {
        let (task, name) = (TaskId::from_bytes([1; 16]), name.to_owned());
        Body::Memo(Memo { task, name, value: Stored::nil(), spent: Spent::default() })
    };
    let rebase = |version, value: &str| {
        let mut fields = Fields::default();
        fields.apply_all(&set(&[("value", value)])).unwrap();
        let schema = StoredSchema { version, ..StoredSchema::default() };
        let fields = fields.to_stored();
        Body::Rebase(Rebase { schema, fields, writes: Vec::new(), added: None })
    };
    let log = |memo| {
        let bodies = [Some(begin(None)), Some(rebase(1, "a")), memo, Some(rebase(2, "b"))];
        let fold = fold(bodies.into_iter().flatten().chain([rebase(3, "c")]));
        let records = fold.run(&Namespace::root()).unwrap().records.clone();
        let earlier = records.earlier.iter().map(|state| {
            (state.schema.version, state.fields.get("value").unwrap().to_stored().to_string())
        });
        earlier.collect::<Vec<_>>()
    };
    assert_eq!(log(None), []);
    let kept = [(1, r#""a""#.to_owned()), (2, r#""b""#.to_owned())];
    assert_eq!(log(Some(memo("step"))), kept);
}
