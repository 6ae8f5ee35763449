//! Values that grow and are changed by operations.

use hanok_core::{Change, FoldError, StoredError};

/// A value that grows and is changed by operations, for `#[reduce(operations = …)]`.
///
/// ```
/// use hanok_state::{List, ListChange, State};
///
/// /// Keeps the newest three.
/// fn newest(list: &List<u32>, item: u32) -> ListChange<u32> {
///     let remove = usize::from(list.len() >= 3);
///     ListChange::Several(vec![
///         ListChange::Splice { at: 0, remove, insert: vec![] },
///         ListChange::Append(vec![item]),
///     ])
/// }
///
/// #[derive(State, Clone, Default)]
/// struct Recent {
///     #[reduce(operations = newest, update = u32)]
///     items: List<u32>,
/// }
///
/// let mut state = Recent::default();
/// let writes = (1..=5).map(|n| ("node".into(), Recent::update().items(n))).collect();
/// state.reduce(writes)?;
/// assert_eq!(state.items.iter().copied().collect::<Vec<_>>(), [3, 4, 5]);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`#[reduce(operations = …)]` needs what grows: `List`, `Map` or `Messages`, and `{Self}` is none of them"
)]
pub trait Grow {
    /// The operation on the value.
    type Change;

    /// Applies `change`.
    ///
    /// # Errors
    ///
    /// [`FoldError`] when it does not fit the value.
    fn grow(&mut self, change: Self::Change) -> Result<(), FoldError>;

    /// Encodes the operation.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when an item's `Serialize` fails.
    fn store(change: &Self::Change) -> Result<Vec<Change>, StoredError>;
}
