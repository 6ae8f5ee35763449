//! Updates as values: what two of them are together, and which fields a state keeps.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Changes, Reader, Writer};
use hanok_state::{List, ListChange, Map, Message, MessageOp, Messages, State, StateUpdate};
use proptest::prelude::*;

fn best(value: &u8, write: u8) -> u8 {
    *value.max(&write)
}

/// Keeps the newest two.
fn newest(list: &List<u8>, item: u8) -> ListChange<u8> {
    let remove = usize::from(list.len() >= 2);
    ListChange::Several(vec![
        ListChange::Splice { at: 0, remove, insert: vec![] },
        ListChange::Append(vec![item]),
    ])
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Child {
    plan: u8,
    messages: Messages,
    #[reduce(append)]
    notes: List<u8>,
    #[reduce(with = best)]
    score: u8,
}

/// A field of every rule.
#[derive(State, Debug, Clone, Default, PartialEq)]
struct Every {
    mode: u8,
    #[state(transient, ephemeral)]
    handle: u8,
    messages: Messages,
    #[reduce(append)]
    log: Vec<u8>,
    #[reduce(merge)]
    outputs: Map<String, u8>,
    #[reduce(merge)]
    #[state(private)]
    counts: BTreeMap<u8, u8>,
    #[reduce(with = best)]
    score: u8,
    #[reduce(operations = newest, update = u8)]
    recent: List<u8>,
    #[reduce(nested)]
    child: Child,
}

fn put(id: &str, text: &str) -> MessageOp {
    MessageOp::Put(Message::user(text).with_id(id))
}

fn remove(id: &str) -> MessageOp {
    MessageOp::Remove(id.into())
}

/// One thing that a method of an update does to one field.
#[derive(Debug, Clone)]
struct Call {
    field: u8,
    overwrite: bool,
    key: u8,
    n: u8,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = (0u8..13, proptest::bool::weighted(0.25), 0u8..3, 0u8..9);
    let call = call.prop_map(|(field, overwrite, key, n)| Call { field, overwrite, key, n });
    proptest::collection::vec(call, 0..7)
}

fn update(calls: &[Call]) -> EveryUpdate {
    calls.iter().fold(Every::update(), apply_call)
}

fn apply_call(update: EveryUpdate, Call { field, overwrite, key, n }: &Call) -> EveryUpdate {
    let (n, id) = (*n, ["a", "b", "c"][usize::from(*key)]);
    let message = Message::user(n.to_string()).with_id(id);
    let conversation = || [message.clone()].into_iter().collect();
    match (field, overwrite) {
        (0, _) => update.mode(n),
        (1, _) => update.handle(n),
        (2, true) => update.overwrite_messages(conversation()),
        (2, false) if n == 0 => update.clear_messages(),
        (2, false) if n < 5 => update.remove_message(id),
        (2, false) => update.message(message),
        (3, true) => update.overwrite_log(vec![n]),
        (3, false) => update.push_log(n),
        (4, true) => update.overwrite_outputs([(id.to_owned(), n)].into_iter().collect()),
        (4, false) if n < 3 => update.remove_outputs(id),
        (4, false) => update.insert_outputs(id, n),
        (5, true) => update.overwrite_counts([(*key, n)].into()),
        (5, false) if n < 3 => update.remove_counts(*key),
        (5, false) => update.insert_counts(*key, n),
        (6, true) => update.overwrite_score(n),
        (6, false) => update.score(n),
        (7, true) => update.overwrite_recent([n].into_iter().collect()),
        (7, false) => update.recent(n),
        (8, true) => update.overwrite_child(Child { plan: n, ..Child::default() }),
        (8, false) => update.child(Child::update().plan(n)),
        (9, true) => update.child(Child::update().overwrite_notes([n].into_iter().collect())),
        (9, false) => update.child(Child::update().push_notes(n)),
        (10, true) => update.child(Child::update().overwrite_messages(conversation())),
        (10, false) if n < 3 => update.child(Child::update().remove_message(id)),
        (10, false) => update.child(Child::update().message(message)),
        (_, true) => update.child(Child::update().overwrite_score(n)),
        (_, false) => update.child(Child::update().score(n)),
    }
}

fn through_bytes(changes: &Changes) -> Changes {
    let mut writer = Writer::new();
    changes.write(&mut writer);
    Changes::read(&mut Reader::new(&writer.into_bytes())).unwrap()
}

fn step(state: &mut Every, update: &EveryUpdate) -> Result<Changes, hanok_state::ReduceError> {
    state.reduce(vec![("node".into(), update.clone())])
}

/// What a log of `state` and then of `update` folds to.
fn logged(state: &Every, update: &EveryUpdate, resolved: &Changes) -> Every {
    let mut fields = state.to_fields().unwrap();
    let written = through_bytes(&update.to_changes().unwrap());
    for (field, change) in written.0.iter().filter(|(field, _)| resolved.get(field).is_none()) {
        fields.apply(field, change).unwrap();
    }
    fields.apply_all(&through_bytes(resolved)).unwrap();
    Every::from_fields(&mut fields).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// What a child hands to its parent at its end is what its super-steps did, for every rule, in the log too.
    #[test]
    fn one_update_does_what_several_super_steps_do(steps in proptest::collection::vec(calls(), 1..5)) {
        let mut start = Every::default();
        let first = Every::update().messages([put("a", "1"), put("b", "2"), put("c", "3")]);
        step(&mut start, &first.clone().child(Child::update().messages([put("a", "1"), put("b", "2")]))).unwrap();
        let mut state = start.clone();
        let mut done = Vec::new();
        for calls in steps {
            let update = update(&calls);
            // A removal of what is not there, and all that it stands with, never was.
            if step(&mut state, &update).is_ok() {
                done.push(update);
            }
        }
        let forward = done.iter().cloned().fold(Every::update(), |a, b| a.then(b).unwrap());
        let backward = done.into_iter().rev().fold(Every::update(), |b, a| a.then(b).unwrap());
        for update in [forward, backward] {
            let mut at_once = start.clone();
            let resolved = step(&mut at_once, &update).unwrap();
            prop_assert_eq!(&at_once, &state);
            let stored = Every { handle: 0, ..state.clone() };
            prop_assert_eq!(logged(&start, &update, &resolved), stored.clone());
            let read = EveryUpdate::from_changes(&through_bytes(&update.to_changes().unwrap()));
            let mut again = start.clone();
            step(&mut again, &read.unwrap()).unwrap();
            prop_assert_eq!(again, stored);
        }
    }

    /// Two updates of one node in one super-step are the update that all their methods make.
    #[test]
    fn two_updates_of_one_node_are_one(first in calls(), second in calls()) {
        let (mut together, mut apart) = (Every::default(), Every::default());
        let one = update(&[first.clone(), second.clone()].concat());
        let two = update(&first).and(update(&second));
        prop_assert_eq!(step(&mut together, &one).is_ok(), step(&mut apart, &two).is_ok());
        prop_assert_eq!(together, apart);
    }
}

#[test]
fn a_message_that_an_update_adds_can_be_removed_by_the_next() {
    let add = Every::update().messages([put("x", "1"), put("y", "2")]);
    let mut state = Every::default();
    step(&mut state, &add.then(Every::update().remove_message("x")).unwrap()).unwrap();
    assert_eq!(state.messages.iter().map(|m| m.id().unwrap()).collect::<Vec<_>>(), ["y"]);
}

#[test]
fn a_message_removed_in_one_super_step_has_lost_its_place_in_the_next() {
    let mut state = Every::default();
    step(&mut state, &Every::update().messages([put("a", "1"), put("b", "2")])).unwrap();
    let update = Every::update().messages([remove("a")]);
    step(&mut state, &update.then(Every::update().messages([put("a", "3")])).unwrap()).unwrap();
    assert_eq!(state.messages.iter().map(|m| m.id().unwrap()).collect::<Vec<_>>(), ["b", "a"]);
}

#[test]
fn what_does_not_fit_an_overwrite_is_refused_by_name() {
    let whole = Every::update().child(Child::update().overwrite_messages(Messages::new()));
    let error = whole.then(Every::update().child(Child::update().remove_message("x"))).unwrap_err();
    assert_eq!(error.to_string(), "field `child.messages`: there is no message `x` to remove");
    assert!(error.nodes.is_empty());
}

#[test]
fn an_update_says_which_fields_it_writes() {
    assert!(Every::update().written().is_empty());
    let update = Every::update().score(1).mode(2).overwrite_log(vec![]).message("hi");
    assert_eq!(update.written(), ["mode", "messages", "log", "score"]);
}

#[test]
fn the_schema_says_what_is_private_and_what_is_ephemeral() {
    #[derive(State, Clone, Default)]
    struct Plain {
        plan: String,
    }
    #[derive(State, Clone, Default)]
    struct Marked {
        #[state(private)]
        #[state(ephemeral, alias = "goal")]
        plan: String,
    }
    let of = |name| Every::SCHEMA.field(name).map(|field| (field.private, field.ephemeral));
    assert_eq!(of("mode"), Some((false, false)));
    assert_eq!(of("counts"), Some((true, false)));
    assert_eq!(of("handle"), Some((false, true)));
    assert_eq!(of("nobody"), None);
    // Neither is stored, so no log is of another schema for it.
    assert_eq!(Plain::SCHEMA.fingerprint, Marked::SCHEMA.fingerprint);
    assert_eq!(Marked::default().schema(), Marked::SCHEMA);
}

#[test]
fn a_field_that_is_not_retained_has_its_initial_value() {
    let initial = Every { mode: 1, log: vec![1], ..Every::default() };
    let mut state = Every { mode: 2, log: vec![1, 2], score: 3, ..Every::default() };
    state.retain(&|field| field == "score", &initial);
    assert_eq!(state, Every { score: 3, ..initial });
}

#[test]
fn what_is_not_stored_is_read_as_it_was_at_first() {
    let initial = Every { mode: 1, log: vec![1], handle: 9, ..Every::default() };
    let stored = Every { score: 3, ..Every::default() };
    let mut fields = stored.to_fields().unwrap();
    fields.take("log");
    assert_eq!(initial.load(&mut fields).unwrap(), Every { log: vec![1], handle: 9, ..stored });
    assert!(fields.is_empty());
    assert_eq!(Every::from_fields(&mut fields).unwrap(), Every::default());
}

mod views {
    use hanok_state::View;

    use super::*;

    #[derive(View)]
    #[view(of = Every)]
    struct Counter {
        counts: BTreeMap<u8, u8>,
        r#mode: u8,
    }

    /// Generic as the graph is: the view is named, the state is inferred.
    fn shown<V: View<Every>>(state: &Arc<Every>) -> Arc<V> {
        V::of(state)
    }

    /// A private field is seen through a view that names it, and not in the whole state. In part: B18
    #[test]
    fn a_private_field_is_shown_to_a_view_that_names_it() {
        let counts = BTreeMap::from([(1, 2)]);
        let state = Arc::new(Every { counts: counts.clone(), mode: 3, ..Every::default() });
        let counter = shown::<Counter>(&state);
        assert_eq!((&counter.counts, counter.mode), (&counts, 3));
        assert_eq!(<Counter as View<Every>>::FIELDS, Some(["counts", "mode"].as_slice()));

        let whole = shown::<Every>(&state);
        assert_eq!(*whole, Every { mode: 3, ..Every::default() });
        assert_eq!(<Every as View<Every>>::FIELDS, None);
    }

    #[test]
    fn the_whole_of_a_state_without_private_fields_is_not_copied() {
        let state = Arc::new(Child { plan: 1, ..Child::default() });
        assert!(Arc::ptr_eq(&Child::of(&state), &state));
    }
}
