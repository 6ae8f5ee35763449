//! What the writes of one super-step make of a state.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Changes, Fields, Reader, Writer};
use hanok_state::{List, ListChange, Map, Message, Messages, State, StateUpdate};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

fn best(value: &f32, write: f32) -> f32 {
    value.max(write)
}

/// Keeps the newest two.
fn newest(list: &List<u32>, item: u32) -> ListChange<u32> {
    let remove = usize::from(list.len() >= 2);
    ListChange::Several(vec![
        ListChange::Splice { at: 0, remove, insert: vec![] },
        ListChange::Append(vec![item]),
    ])
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Child {
    plan: String,
    #[reduce(append)]
    notes: List<String>,
    #[reduce(with = best)]
    score: f32,
}

/// A type without serde.
#[derive(Debug, Clone, Default, PartialEq)]
struct Handle(u8);

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
enum Mode {
    #[default]
    Idle,
    Busy,
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Agent {
    messages: Messages,
    #[reduce(merge)]
    outputs: Map<String, String>,
    #[reduce(append)]
    log: Vec<String>,
    #[reduce(with = best)]
    score: f32,
    #[reduce(operations = newest, update = u32)]
    recent: List<u32>,
    #[reduce(nested)]
    child: Child,
    #[reduce(merge)]
    counts: BTreeMap<u8, u64>,
    #[state(transient)]
    handle: Handle,
    mode: Mode,
    iteration: u32,
}

type Write = (Arc<str>, AgentUpdate);

fn by(node: &str, update: AgentUpdate) -> Write {
    (node.into(), update)
}

/// What a log says of `writes`, after a round through bytes: their changes, then what the commit resolved.
fn fold(fields: &mut Fields, writes: &[Write], resolved: &Changes) {
    for (_, update) in writes {
        for (field, change) in &through_bytes(&update.to_changes().unwrap()).0 {
            if resolved.get(field).is_none() {
                fields.apply(field, change).unwrap();
            }
        }
    }
    fields.apply_all(&through_bytes(resolved)).unwrap();
}

fn through_bytes(changes: &Changes) -> Changes {
    let mut writer = Writer::new();
    changes.write(&mut writer);
    Changes::read(&mut Reader::new(&writer.into_bytes())).unwrap()
}

fn from_log(mut fields: Fields) -> Agent {
    Agent::from_fields(&mut fields).unwrap()
}

/// B9
#[test]
fn a_last_value_stays_until_it_is_written() {
    let mut state = Agent { iteration: 3, ..Agent::default() };
    state.reduce(vec![by("a", Agent::update().mode(Mode::Busy))]).unwrap();
    assert_eq!((state.iteration, state.mode), (3, Mode::Busy));
}

/// B10
#[test]
fn two_writers_of_one_value_are_named_and_nothing_is_applied() {
    let mut state = Agent::default();
    let error = state
        .reduce(vec![
            by("a", Agent::update().push_log("kept?").iteration(1)),
            by("b", Agent::update().iteration(2)),
        ])
        .unwrap_err();
    assert_eq!(error.field, "iteration");
    assert_eq!(error.nodes, [Arc::from("a"), Arc::from("b")]);
    assert_eq!(state, Agent::default());

    let error = state
        .reduce(vec![
            by("a", Agent::update().child(Child::update().plan("x"))),
            by("b", Agent::update().child(Child::update().plan("y"))),
        ])
        .unwrap_err();
    assert_eq!(error.field, "child.plan");
    assert_eq!(state, Agent::default());
}

/// B15
#[test]
fn an_overwrite_wins_over_every_other_write_of_its_super_step() {
    let mut state = Agent { log: vec!["old".into()], ..Agent::default() };
    let mut fields = state.to_fields().unwrap();
    let writes = vec![
        by("a", Agent::update().push_log("a")),
        by("b", Agent::update().overwrite_log(vec!["b".into()])),
        by("c", Agent::update().push_log("c")),
    ];
    let resolved = state.reduce(writes.clone()).unwrap();
    assert_eq!(state.log, ["b"]);
    fold(&mut fields, &writes, &resolved);
    assert_eq!(from_log(fields), state);

    let error = state
        .reduce(vec![
            by("a", Agent::update().overwrite_log(vec![])),
            by("b", Agent::update().overwrite_log(vec![])),
        ])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "field `log`: overwritten by `a` and `b` in one super-step; only one may"
    );
}

/// B19 in part: a transient field is never stored.
#[test]
fn a_transient_field_is_in_no_stored_byte() {
    let update = Agent::update().handle(Handle(7));
    assert!(update.to_changes().unwrap().is_empty());
    let mut state = Agent::default();
    state.reduce(vec![by("a", update)]).unwrap();
    assert_eq!(state.handle, Handle(7));
    assert!(state.to_fields().unwrap().get("handle").is_none());
}

#[test]
fn a_reducer_of_the_users_is_stored_as_what_it_made_of_the_writes() {
    let mut state = Agent::default();
    let mut fields = Fields::default();
    for n in 1..=4u32 {
        let update = Agent::update().recent(n).score(n as f32 % 3.0);
        let writes = vec![by("a", update)];
        let resolved = state.reduce(writes.clone()).unwrap();
        fold(&mut fields, &writes, &resolved);
    }
    assert_eq!(state.recent.iter().copied().collect::<Vec<_>>(), [3, 4]);
    assert_eq!(state.score, 2.0);
    assert_eq!(from_log(fields), state);
}

#[test]
fn a_removal_of_a_message_that_is_not_there_changes_nothing() {
    let mut state = Agent::default();
    let writes = vec![by("a", Agent::update().message("hi").remove_message("x"))];
    let error = state.reduce(writes).unwrap_err();
    assert_eq!(error.to_string(), "field `messages`: there is no message `x` to remove");
    assert!(state.messages.is_empty());
}

#[test]
fn an_alias_reads_what_an_older_build_stored() {
    #[derive(State, Debug, Clone, Default)]
    #[state(version = 2)]
    struct New {
        #[state(alias = "question")]
        query: String,
    }
    #[derive(State, Debug, Clone, Default)]
    struct Old {
        question: String,
        gone: u8,
    }
    let old = Old { question: "휴가?".into(), gone: 1 };
    let mut fields = old.to_fields().unwrap();
    assert_eq!(New::from_fields(&mut fields).unwrap().query, "휴가?");
    // What this build does not know stays.
    assert_eq!(fields.to_string(), r#"{"gone":1}"#);
    assert_eq!((New::SCHEMA.version, Old::SCHEMA.version), (2, 1));
    assert_ne!(New::SCHEMA.fingerprint, Old::SCHEMA.fingerprint);
}

fn message() -> impl Strategy<Value = Message> {
    ("[a-e]", "[가-힣]{0,3}").prop_map(|(id, text)| Message::user(text).with_id(id))
}

fn update() -> impl Strategy<Value = AgentUpdate> {
    let parts = (
        proptest::option::of(proptest::collection::vec(message(), 0..4)),
        proptest::option::of(("[a-c]", "[x-z]{0,2}")),
        proptest::option::of("[a-c]"),
        proptest::option::of(proptest::collection::vec("[a-z]{0,2}".prop_map(String::from), 0..3)),
        proptest::option::of(0u8..9),
        proptest::option::of(0u32..99),
        proptest::option::of(("[p-r]{1,2}", 0u8..9)),
        (proptest::bool::weighted(0.1), proptest::option::of((0u8..3, 0u64..9))),
    );
    parts.prop_map(|(messages, insert, remove, log, score, recent, child, (whole, count))| {
        let mut update = Agent::update();
        if let Some(messages) = messages {
            update = update.messages(messages);
        }
        if let Some((key, value)) = insert {
            update = update.insert_outputs(key, value);
        }
        if let Some(key) = remove {
            update = update.remove_outputs(key);
        }
        if let Some(log) = log {
            update = if whole { update.overwrite_log(log) } else { update.log(log) };
        }
        if let Some(score) = score {
            update = update.score(f32::from(score));
        }
        if let Some(recent) = recent {
            update = update.recent(recent);
        }
        if let Some((note, score)) = child {
            update = update.child(Child::update().push_notes(note).score(f32::from(score)));
        }
        if let Some((key, value)) = count {
            update = update.counts([(key, value)]);
        }
        update
    })
}

proptest! {
    /// B29, invariant 4: a log folds to the state that its writes made, and stored updates read back.
    #[test]
    fn a_log_folds_to_the_state_that_was_reduced(
        steps in proptest::collection::vec(proptest::collection::vec(update(), 1..4), 0..8),
    ) {
        let mut state = Agent::default();
        let mut fields = Fields::default();
        for updates in steps {
            let writes: Vec<_> =
                updates.into_iter().enumerate().map(|(i, u)| by(&format!("n{i}"), u)).collect();
            // Two overwrites in one super-step are refused, and then nothing is stored.
            let before = state.clone();
            let Ok(resolved) = state.reduce(writes.clone()) else {
                prop_assert_eq!(&state, &before);
                continue;
            };
            let read: Vec<_> = writes
                .iter()
                .map(|(node, update)| {
                    let changes = through_bytes(&update.to_changes().unwrap());
                    (node.clone(), AgentUpdate::from_changes(&changes).unwrap())
                })
                .collect();
            let mut again = before;
            again.reduce(read).unwrap();
            prop_assert_eq!(&again, &state);
            fold(&mut fields, &writes, &resolved);
            let snapshot = Fields::from_stored(&fields.to_stored()).unwrap();
            prop_assert_eq!(from_log(snapshot), state.clone());
        }
        prop_assert_eq!(from_log(fields), state);
    }
}
