//! The merge of the writes to a field.

use hanok_core::Change;

use crate::{error::Refused, writes::NodeWrites};

/// How the writes of one super-step are merged into a field of type `T`.
///
/// A reducer is a pure function of the value and the writes: no clock, no ids, no randomness. [`Code`] says how it is
/// stored.
#[diagnostic::on_unimplemented(
    message = "the rule of this field does not fit the type `{T}`",
    note = "`append` is for `List` and `Vec`, `merge` for `Map` and `BTreeMap`, `nested` for a `State`; every field that is stored needs `Clone + Serialize + DeserializeOwned`, or `#[state(transient)]`"
)]
pub trait Reduce<T>: 'static {
    /// What an update holds for the field.
    type Write: Clone + Send + Sync + 'static;

    /// Two writes of one update, as one.
    fn then(before: Self::Write, after: Self::Write) -> Self::Write;

    /// A write and one of a later super-step, as one. Default: as [`Reduce::then`].
    ///
    /// # Errors
    ///
    /// [`Refused`] when the later one does not fit what the first one says.
    fn later(before: Self::Write, after: Self::Write) -> Result<Self::Write, Refused> {
        Ok(Self::then(before, after))
    }

    /// Checks that `writes` can be merged into `value`. Default: they can.
    ///
    /// # Errors
    ///
    /// [`Refused`] when they cannot.
    fn check(value: &T, writes: &NodeWrites<'_, &Self::Write>) -> Result<(), Refused> {
        let _ = (value, writes);
        Ok(())
    }

    /// Merges `writes` into `value`; returns the changes that took place, if the writes alone do not tell them.
    ///
    /// # Errors
    ///
    /// [`Refused`] when they cannot be merged.
    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused>;

    /// Gives ids to what has none in a write.
    fn complete(write: &mut Self::Write, ids: &mut dyn FnMut() -> String) {
        let _ = (write, ids);
    }

    /// Gives ids to what has none in a whole value.
    fn complete_value(value: &mut T, ids: &mut dyn FnMut() -> String) {
        let _ = (value, ids);
    }
}
