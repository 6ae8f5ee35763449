//! The stored form and the JSON of a field and of the writes to it.

use hanok_core::{Change, Field, StoredError};
use serde_json::Value;

use crate::{
    json_error::{InvalidJson, NoJson},
    reduce::Reduce,
};

/// The stored form and the JSON of a field of type `T`, and of the writes to it.
///
/// ```
/// use hanok_core::Change;
/// use hanok_state::{Append, Code};
///
/// let changes = <Append as Code<Vec<u8>>>::store(&vec![1, 2])?;
/// assert!(matches!(changes.as_slice(), [Change::Append(items)] if items.len() == 2));
///
/// let write = <Append as Code<Vec<u8>>>::load(&changes.iter().collect::<Vec<_>>())?;
/// assert_eq!(write, [1, 2]);
/// # Ok::<(), hanok_core::StoredError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the rule of this field does not fit the type `{T}`",
    note = "`append` is for `List` and `Vec`, `merge` for `Map` and `BTreeMap`, `nested` for a `State`; every field that is stored needs `Clone + Serialize + DeserializeOwned`, or `#[state(transient)]`"
)]
pub trait Code<T>: Reduce<T> {
    /// Tells that a stored `Set` is an overwrite, and not a plain write.
    const HAS_OVERWRITE: bool = true;

    /// Encodes a write.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a `Serialize` fails.
    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError>;

    /// Reads the changes of [`Code::store`].
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError>;

    /// The result of a merge that gave `value` and `changes`, for logs. It is computed only where a log is written. Default:
    /// the changes.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a `Serialize` fails.
    fn resolved(value: &T, changes: Vec<Change>) -> Result<Vec<Change>, StoredError> {
        let _ = value;
        Ok(changes)
    }

    /// Encodes the whole value. `None` for a value that is never stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when its `Serialize` fails.
    fn store_value(value: &T) -> Result<Option<Field>, StoredError>;

    /// Reads a whole value.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load_value(field: Field) -> Result<T, StoredError>;

    /// Reads a write from JSON.
    ///
    /// # Errors
    ///
    /// [`InvalidJson`] with all faults.
    fn from_json(json: Value) -> Result<Self::Write, InvalidJson>;

    /// Writes the changes of [`Code::store`] as JSON, each with its name: `append` and a list. None for what is never stored.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when the write has no JSON.
    fn to_json(write: &Self::Write) -> Result<Vec<(&'static str, Value)>, NoJson>;

    /// Writes the whole value as JSON, of which [`Code::from_json`] makes a write. `None` for a value that is never stored.
    ///
    /// # Errors
    ///
    /// [`NoJson`] when the value has no JSON.
    fn value_to_json(value: &T) -> Result<Option<Value>, NoJson>;

    /// Writes the value of an overwrite as JSON. Default: as [`Code::value_to_json`].
    ///
    /// # Errors
    ///
    /// As [`Code::value_to_json`].
    fn overwrite_to_json(value: &T) -> Result<Option<Value>, NoJson> {
        Self::value_to_json(value)
    }
}
