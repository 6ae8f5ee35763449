//! The rule of `#[state(transient)]`.

use hanok_core::{Change, Field, StoredError};
use serde_json::Value;

use super::macros::{last_write, other_shape};
use crate::{
    code::Code,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    reduce::Reduce,
    writes::NodeWrites,
};

/// A last value that is never stored. Two writers in one super-step are an error.
///
/// ```
/// # use hanok_state::State;
/// #[derive(State, Clone, Default)]
/// struct Upload {
///     #[state(transient)]
///     bytes: Vec<u8>,
/// }
///
/// let mut upload = Upload::default();
/// upload.reduce(vec![("read".into(), Upload::update().bytes(vec![1]))])?;
/// assert_eq!(upload.bytes, [1]);
/// assert!(upload.to_fields().is_ok_and(|fields| fields.get("bytes").is_none()));
///
/// let both = ["a", "b"].map(|node| (node.into(), Upload::update().bytes(vec![2])));
/// assert!(upload.reduce(both.into()).is_err());
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct Transient;

impl<T> Reduce<T> for Transient
where
    T: Clone + Default + Send + Sync + 'static,
{
    type Write = T;

    last_write!(T);
}

impl<T> Code<T> for Transient
where
    T: Clone + Default + Send + Sync + 'static,
{
    fn store(_write: &T) -> Result<Vec<Change>, StoredError> {
        Ok(Vec::new())
    }

    fn load(_changes: &[&Change]) -> Result<T, StoredError> {
        other_shape("nothing: the field is transient")
    }

    fn store_value(_value: &T) -> Result<Option<Field>, StoredError> {
        Ok(None)
    }

    fn load_value(_field: Field) -> Result<T, StoredError> {
        Ok(T::default())
    }

    fn from_json(_json: Value) -> Result<T, InvalidJson> {
        Err(InvalidJson::of("a transient field, which is not read from JSON"))
    }

    fn to_json(_write: &T) -> Result<Vec<(&'static str, Value)>, NoJson> {
        Ok(Vec::new())
    }

    fn value_to_json(_value: &T) -> Result<Option<Value>, NoJson> {
        Ok(None)
    }
}
