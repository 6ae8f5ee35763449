//! Writes of an earlier build, read by the next one.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{BoxError, Change, Fields, Stored, StoredState};
use hanok_state::{Map, State, StateUpdate, StateWrite, UnfitWrite};

mod before {
    use super::*;

    #[derive(State, Clone, Default)]
    pub(super) struct Cart {
        pub(super) net: u64,
        pub(super) tax: u64,
        #[reduce(merge)]
        pub(super) tags: Map<String, u32>,
    }
}

mod more {
    use super::*;

    #[derive(State, Clone, Default)]
    pub(super) struct Cart {
        pub(super) net: u64,
        pub(super) tax: u64,
        #[reduce(merge)]
        pub(super) tags: Map<String, u32>,
        pub(super) note: String,
    }
}

#[derive(State, Clone, Default)]
#[state(version = 2, upgrade = sum)]
struct Cart {
    total: u64,
    #[reduce(merge)]
    tags: Map<String, u64>,
}

fn sum(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    let mut total = 0_u64;
    for part in ["net", "tax"] {
        if let Some(value) = fields.take(part) {
            total += value.to_stored().decode::<u64>()?;
        }
    }
    Ok(fields.apply("total", &Change::Set(Stored::encode(&total)?))?)
}

/// The write of the build before, as it is stored, and the state that it was made on.
fn written() -> (StateWrite, before::Cart, StoredState) {
    let write = StateWrite::of(&before::Cart::update().net(5_u64).remove_tags("a")).unwrap();
    let write = Stored::encode(&write).unwrap().decode().unwrap();
    let tags = [("a", 1), ("b", 2)].map(|(tag, count)| (tag.to_owned(), count));
    let cart = before::Cart { net: 1, tax: 10, tags: tags.into_iter().collect() };
    let schema = before::Cart::SCHEMA.to_stored().into();
    let stored = StoredState { schema, fields: cart.to_fields().unwrap() };
    (write, cart, stored)
}

#[test]
fn a_write_is_translated_with_the_state_that_it_was_made_on() {
    let (write, _, stored) = written();
    let tags = [("a", 1), ("b", 2)].map(|(tag, count)| (tag.to_owned(), count));
    let mut cart = Cart { total: 11, tags: tags.into_iter().collect() };
    let other = StoredState::default();
    let update = write.read(&cart, &[stored, other], &"tools".into()).unwrap();
    cart.reduce(vec![("tools".into(), update)]).unwrap();
    assert_eq!(cart.total, 15);
    assert_eq!(cart.tags, [("b".to_owned(), 2)].into_iter().collect());
}

/// The upgrade of a part of a state says nothing: 5 is no total.
#[test]
fn a_write_whose_state_is_gone_is_refused() {
    let (write, ..) = written();
    let read = write.read(&Cart::default(), &[], &"tools".into());
    assert!(matches!(read, Err(UnfitWrite::OtherSchema)));
}

#[test]
fn a_write_needs_no_translation_where_its_fields_are_the_same() {
    let (write, cart, _) = written();
    let note = "new".to_owned();
    let mut cart = more::Cart { net: cart.net, tax: cart.tax, tags: cart.tags, note };
    let update = write.read(&cart, &[], &"tools".into()).unwrap();
    assert!(!update.is_empty());
    cart.reduce(vec![("tools".into(), update)]).unwrap();
    assert_eq!((cart.net, cart.tax, cart.tags.len(), &*cart.note), (5, 10, 1, "new"));
}
