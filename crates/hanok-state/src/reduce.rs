//! The merge of the writes to a field.

use hanok_core::Change;

use crate::{error::Refused, writes::NodeWrites};

/// The merge of the writes of one super-step into a field of type `T`.
///
/// A reducer is a pure function of the value and the writes: no clock, no ids, no randomness. [`Code`](crate::Code) is its
/// stored form.
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_state::{Append, NodeWrites, Reduce};
///
/// let (plan, search): (Arc<str>, Arc<str>) = ("plan".into(), "search".into());
/// let mut writes = NodeWrites::default();
/// writes.push(&plan, vec![1]);
/// writes.push(&search, vec![2, 3]);
///
/// let mut list = vec![0];
/// <Append as Reduce<Vec<u8>>>::reduce(&mut list, writes)?;
/// assert_eq!(list, [0, 1, 2, 3]);
/// # Ok::<(), hanok_state::Refused>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the rule of this field does not fit the type `{T}`",
    note = "`append` is for `List` and `Vec`, `merge` for `Map` and `BTreeMap`, `nested` for a `State`; every field that is stored needs `Clone + Serialize + DeserializeOwned`, or `#[state(transient)]`"
)]
pub trait Reduce<T>: 'static {
    /// The write that an update holds for the field.
    type Write: Clone + Send + Sync + 'static;

    /// Joins two writes of one update.
    fn then(before: Self::Write, after: Self::Write) -> Self::Write;

    /// Joins a write and one of a later super-step. Default: as [`Reduce::then`].
    ///
    /// # Errors
    ///
    /// [`Refused`] when the later one does not fit the first one.
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

    /// Merges `writes` into `value`. Returns the changes that took place where they do not follow from the writes alone.
    ///
    /// # Errors
    ///
    /// [`Refused`] when they cannot be merged.
    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused>;

    /// Gives ids to the messages of a write that have none.
    fn complete(write: &mut Self::Write, ids: &mut dyn FnMut() -> String) {
        let _ = (write, ids);
    }

    /// Gives ids to the messages of a whole value that have none.
    fn complete_value(value: &mut T, ids: &mut dyn FnMut() -> String) {
        let _ = (value, ids);
    }
}
