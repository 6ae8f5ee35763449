//! Schemas as data: what is different between two builds of a state, and what that makes of what is stored.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{BoxError, Change, Changes, Fields, Reader, Stored, StoredSchema, Writer};
use hanok_state::{Differences, List, Map, MigrationError, Schema, State, StateUpdate, upgraded};
use proptest::prelude::*;

mod before {
    use super::*;

    #[derive(State, Debug, Clone, Default, PartialEq)]
    pub(super) struct Inner {
        #[reduce(append)]
        pub(super) facts: List<String>,
        pub(super) count: u32,
    }

    #[derive(State, Debug, Clone, Default, PartialEq)]
    pub(super) struct Outer {
        #[reduce(merge)]
        pub(super) map: Map<String, u32>,
        #[reduce(nested)]
        pub(super) inner: Inner,
        #[state(transient)]
        pub(super) handle: u32,
    }
}

mod after {
    use super::*;

    #[derive(State, Debug, Clone, Default, PartialEq)]
    #[state(version = 3, upgrade = upgrade)]
    pub(super) struct Inner {
        #[reduce(append)]
        #[state(alias = "facts")]
        pub(super) known: List<String>,
        pub(super) count: String,
    }

    #[derive(State, Debug, Clone, Default, PartialEq)]
    pub(super) struct Outer {
        #[reduce(merge)]
        #[state(alias = "map")]
        pub(super) entries: Map<String, u32>,
        #[reduce(nested)]
        pub(super) inner: Inner,
        pub(super) added: bool,
    }

    fn upgrade(from: u32, fields: &mut Fields) -> Result<(), BoxError> {
        if from > 1 {
            return Err("only version 1 was ever stored".into());
        }
        let count: u32 = fields.take("count").map_or(Ok(0), |count| count.to_stored().decode())?;
        Ok(fields.apply("count", &Change::Set(Stored::encode(&count.to_string())?))?)
    }
}

fn schema<S: State>() -> &'static Schema {
    S::SCHEMA
}

fn compare<S: State>(stored: &StoredSchema, fields: &Fields) -> Differences {
    schema::<S>().compare(stored, fields).unwrap()
}

/// A type with another nested state has another fingerprint, and a log's schema is written and read with all its levels.
#[test]
fn a_fingerprint_and_a_stored_schema_hold_nested_states() {
    #[derive(State, Clone, Default)]
    struct Outer {
        #[reduce(nested)]
        inner: before::Inner,
    }
    mod other {
        use super::*;

        #[derive(State, Clone, Default)]
        pub(super) struct Outer {
            #[reduce(nested)]
            pub(super) inner: after::Inner,
        }
    }
    assert_ne!(schema::<Outer>().fingerprint, schema::<other::Outer>().fingerprint);
    assert_eq!(schema::<Outer>().fingerprint, Outer::default().schema().fingerprint);

    let stored = schema::<after::Outer>().to_stored();
    let inner = stored.fields.get("inner").unwrap().nested.as_ref().unwrap();
    assert_eq!((inner.version, inner.fields.len()), (3, 2));
    assert!(!schema::<before::Outer>().to_stored().fields.contains_key("handle"));
    let mut writer = Writer::new();
    stored.write(&mut writer);
    let bytes = writer.into_bytes();
    assert_eq!(StoredSchema::read(&mut Reader::new(&bytes)).unwrap(), stored);
}

#[test]
fn differences_say_what_has_to_be_done() {
    let fields = before::Outer::default().to_fields().unwrap();
    let stored = schema::<before::Outer>().to_stored();
    assert_eq!(compare::<before::Outer>(&stored, &fields), Differences::default());
    let differences = compare::<after::Outer>(&stored, &fields);
    assert!(differences.rewritten);
    assert_eq!(differences.added, [["added"]]);
    let newer = schema::<after::Outer>().to_stored();
    let error = schema::<before::Outer>().compare(&newer, &fields).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the nested state `inner` was stored in version 3 of its type, and this build has version 1; it takes a build that has version 3"
    );
}

/// What is stored of a field under its former name is written under the new one, once.
#[test]
fn a_field_that_has_another_name_is_written_anew() {
    #[derive(State, Clone, Default)]
    struct Named {
        was: u32,
    }
    mod renamed {
        use super::*;

        #[derive(State, Clone, Default)]
        pub(super) struct Named {
            #[state(alias = "was")]
            pub(super) is: u32,
        }
    }
    let fields = Named { was: 3 }.to_fields().unwrap();
    let stored = schema::<Named>().to_stored();
    let differences = compare::<renamed::Named>(&stored, &fields);
    assert!(differences.rewritten && differences.added.is_empty(), "{differences:?}");
    // A field without a value was there all the same: it is none that is new.
    let unset = compare::<renamed::Named>(&stored, &Fields::default());
    assert!(unset.rewritten && unset.added.is_empty(), "{unset:?}");
    let fields = renamed::Named { is: 3 }.to_fields().unwrap();
    let stored = schema::<renamed::Named>().to_stored();
    assert_eq!(compare::<renamed::Named>(&stored, &fields), Differences::default());
}

/// What a test of an upgrade calls runs nothing for what is stored already in this build's version, and refuses what it
/// cannot read.
#[test]
fn an_upgrade_is_tested_on_stored_fields() {
    let stored = |count: &dyn Fn() -> Stored| {
        let mut fields = Fields::default();
        fields.apply("count", &Change::Set(count())).unwrap();
        fields
    };
    let number = || Stored::encode(&7).unwrap();
    let text = || Stored::encode("7").unwrap();
    let read = |version, fields| upgraded::<after::Inner>(version, fields);
    assert_eq!(read(1, stored(&number)).unwrap().count, "7");
    assert_eq!(read(3, stored(&text)).unwrap().count, "7");
    let refused = read(2, stored(&number)).unwrap_err();
    assert_eq!(refused.to_string(), "the state was not upgraded from version 2 to 3");
    assert!(
        matches!(refused, MigrationError::Upgrade(error) if error.source.to_string().contains("version 1"))
    );
    assert!(matches!(read(3, stored(&number)), Err(MigrationError::Stored(_))));
    assert!(matches!(read(4, stored(&text)), Err(MigrationError::NewerVersion(_))));
}

fn fold<S: State>(fields: &Fields, changes: &Changes) -> S {
    let mut fields = fields.clone();
    fields.apply_all(changes).unwrap();
    schema::<S>().upgrade(&schema::<before::Outer>().to_stored(), &mut fields).unwrap();
    S::from_fields(&mut fields).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Upgrading what a write makes of a state, and writing what the write is in the new schema to the upgraded state, come
    /// to the same.
    #[test]
    fn a_translated_write_does_what_the_write_did(
        held in prop::collection::vec("[a-c]", 0..3),
        pushed in prop::collection::vec("[a-c]", 0..3),
        (before, written) in (0..3_u32, prop::option::of(0..3_u32)),
        keys in prop::collection::vec("[a-c]", 0..3),
        (removed, whole) in (prop::option::of("[a-c]"), any::<bool>()),
    ) {
        let inner = before::Inner { facts: held.into_iter().collect(), count: before };
        let mut state = before::Outer { inner, ..before::Outer::default() };
        state.map.insert("a".to_owned(), 1);
        let fields = state.to_fields().unwrap();

        let mut update = before::Outer::update().map(keys.into_iter().map(|key| (key, 9)));
        if let Some(key) = removed {
            update = update.remove_map(key);
        }
        let mut inner = before::Inner::update();
        if !pushed.is_empty() {
            inner = inner.facts(pushed);
        }
        if let Some(count) = written {
            inner = inner.count(count);
        }
        update = match whole {
            true => update.overwrite_inner(before::Inner { count: 5, ..before::Inner::default() }),
            false => update.inner(inner),
        };
        let changes = update.to_changes().unwrap();
        let stored = schema::<before::Outer>().to_stored();

        let same = schema::<before::Outer>().translate(&stored, &fields, &changes).unwrap();
        prop_assert_eq!(fold::<before::Outer>(&fields, &same), fold::<before::Outer>(&fields, &changes));

        let want: after::Outer = fold(&fields, &changes);
        let translated = schema::<after::Outer>().translate(&stored, &fields, &changes).unwrap();
        let mut live: after::Outer = fold(&fields, &Changes::default());
        let update = <after::Outer as State>::Update::from_changes(&translated).unwrap();
        live.reduce(vec![("a".into(), update)]).unwrap();
        prop_assert_eq!(live, want);
    }
}
