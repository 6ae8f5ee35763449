//! The rule of a field without an attribute.

use hanok_core::{Change, Field, Stored, StoredError};
use serde_json::Value;

use super::macros::{last_write, other_shape, stored_whole};
use crate::{
    code::Code,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    read_json::{json_of, value},
    reduce::Reduce,
    storable::Storable,
    writes::NodeWrites,
};

/// A field with the value that was written last. Two writers in one super-step are an error.
///
/// ```
/// # use hanok_state::State;
/// #[derive(State, Clone, Default)]
/// struct Plan {
///     step: u32,
/// }
///
/// let mut plan = Plan::default();
/// plan.reduce(vec![("a".into(), Plan::update().step(1).step(2))])?;
/// assert_eq!(plan.step, 2);
///
/// let writes = [("a".into(), Plan::update().step(3)), ("b".into(), Plan::update().step(3))];
/// let error = plan.reduce(writes.into()).unwrap_err();
/// assert_eq!(error.nodes, ["a".into(), "b".into()]);
/// assert_eq!(plan.step, 2);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct LastValue;

impl<T> Reduce<T> for LastValue
where
    T: Clone + Send + Sync + 'static,
{
    type Write = T;

    last_write!(T);
}

impl<T> Code<T> for LastValue
where
    T: Storable,
{
    const HAS_OVERWRITE: bool = false;

    fn store(write: &T) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Set(Stored::encode(write)?)])
    }

    fn load(changes: &[&Change]) -> Result<T, StoredError> {
        match changes {
            [Change::Set(value)] => value.decode(),
            _ => other_shape("one value"),
        }
    }

    fn from_json(json: Value) -> Result<T, InvalidJson> {
        value(json)
    }

    fn to_json(write: &T) -> Result<Vec<(&'static str, Value)>, NoJson> {
        Ok(vec![("set", json_of(write)?)])
    }

    stored_whole!(T);
}
