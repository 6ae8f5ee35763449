//! The stored form of a field and of the writes to it.

use hanok_core::{Change, Field, StoredError};

use crate::reduce::Reduce;

/// How the value of a field of type `T`, and the writes to it, are stored.
#[diagnostic::on_unimplemented(
    message = "the rule of this field does not fit the type `{T}`",
    note = "`append` is for `List` and `Vec`, `merge` for `Map` and `BTreeMap`, `nested` for a `State`; every field that is stored needs `Clone + Serialize + DeserializeOwned`, or `#[state(transient)]`"
)]
pub trait Code<T>: Reduce<T> {
    /// A stored `Set` is an overwrite, and not a plain write.
    const HAS_OVERWRITE: bool = true;

    /// A write as it is stored.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a `Serialize` fails.
    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError>;

    /// Reads what [`Code::store`] wrote.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it was stored in another shape.
    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError>;

    /// The result of a merge that gave `value` and `changes`, for logs. It is asked for only where something is kept.
    /// Default: the changes.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when a `Serialize` fails.
    fn resolved(value: &T, changes: Vec<Change>) -> Result<Vec<Change>, StoredError> {
        let _ = value;
        Ok(changes)
    }

    /// The whole value as it is stored, `None` if it never is.
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
}
