//! Parts that several rules have in common.

use hanok_core::StoredError;

/// A value that is stored, and has JSON, as its `Serialize` writes it.
macro_rules! stored_whole {
    ($value:ty) => {
        fn store_value(value: &$value) -> Result<Option<Field>, StoredError> {
            Stored::encode(value).map(Field::Value).map(Some)
        }

        fn load_value(field: Field) -> Result<$value, StoredError> {
            field.to_stored().decode()
        }

        fn value_to_json(value: &$value) -> Result<Option<Value>, NoJson> {
            json_of(value).map(Some)
        }
    };
}
pub(super) use stored_whole;

/// A write that is stored as the input of a reducer.
macro_rules! stored_input {
    () => {
        fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
            Ok(vec![Change::Input(Stored::encode(write)?)])
        }

        fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
            match changes {
                [Change::Input(write)] => write.decode(),
                _ => $crate::rules::macros::other_shape("the input of a reducer"),
            }
        }

        fn from_json(json: Value) -> Result<Self::Write, InvalidJson> {
            value(json).map(|one| vec![one])
        }

        fn to_json(write: &Self::Write) -> Result<Vec<(&'static str, Value)>, NoJson> {
            Ok(vec![("input", json_of(write)?)])
        }
    };
}
pub(super) use stored_input;

/// The write of the one node that may write counts, and takes the value's place.
macro_rules! last_write {
    ($value:ty) => {
        fn then(_before: $value, after: $value) -> $value {
            after
        }

        fn check(_value: &$value, writes: &NodeWrites<'_, &$value>) -> Result<(), Refused> {
            writes.one_writer()
        }

        fn reduce(
            value: &mut $value,
            writes: NodeWrites<'_, $value>,
        ) -> Result<Vec<Change>, Refused> {
            writes.one_writer()?;
            if let Some((_, last)) = writes.into_iter().next() {
                *value = last;
            }
            Ok(Vec::new())
        }
    };
}
pub(super) use last_write;

pub(super) fn other_shape<T>(expected: &'static str) -> Result<T, StoredError> {
    Err(StoredError::Malformed { at: 0, expected })
}
