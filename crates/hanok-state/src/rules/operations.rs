//! The rule of `#[reduce(operations = …)]`.

use std::marker::PhantomData;

use hanok_core::{BoxError, Change, Field, Stored, StoredError};
use serde_json::Value;

use super::macros::{stored_input, stored_whole};
use crate::{
    code::Code,
    collections::grow::Grow,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    read_json::{json_of, value},
    reduce::Reduce,
    storable::Storable,
    writes::NodeWrites,
};

/// The function of `#[reduce(operations = path, update = U)]`; written by the derive.
pub trait OperationsReducer<T: Grow>: 'static {
    /// The write that an update holds.
    type Update: Clone + Send + Sync + 'static;

    /// Chooses the operation by which `update` changes `value`.
    ///
    /// # Errors
    ///
    /// The error of the user's function.
    fn operate(value: &T, update: Self::Update) -> Result<T::Change, BoxError>;
}

/// A value that grows, by operations that a function of the user's chooses, write by write in task order. The operations are
/// stored, and not the value.
///
/// ```
/// # use hanok_state::{List, ListChange, State};
/// #[derive(State, Clone, Default)]
/// struct Seats {
///     #[reduce(operations = book, update = u32)]
///     guests: List<u32>,
/// }
///
/// fn book(guests: &List<u32>, guest: u32) -> ListChange<u32> {
///     let is_new = guests.iter().all(|other| *other != guest);
///     ListChange::Append(Vec::from_iter(is_new.then_some(guest)))
/// }
///
/// let mut seats = Seats::default();
/// let (a, b) = (Seats::update().guests(7), Seats::update().guests(7).guests(8));
/// seats.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(seats.guests, List::from_iter([7, 8]));
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct Operations<F>(PhantomData<F>);

impl<T, F> Reduce<T> for Operations<F>
where
    T: Grow + Clone + Send + Sync + 'static,
    F: OperationsReducer<T>,
{
    type Write = Vec<F::Update>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn check(value: &T, writes: &NodeWrites<'_, &Self::Write>) -> Result<(), Refused> {
        Self::reduce(&mut value.clone(), writes.cloned()).map(drop)
    }

    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused> {
        let mut changes = Vec::new();
        for write in writes.into_iter().flat_map(|(_, several)| several) {
            let change = F::operate(value, write).map_err(Refused::Reducer)?;
            changes.extend(T::store(&change)?);
            value.grow(change)?;
        }
        Ok(changes)
    }
}

impl<T, F> Code<T> for Operations<F>
where
    T: Grow + Storable,
    F: OperationsReducer<T>,
    F::Update: Storable,
{
    stored_input!();

    stored_whole!(T);
}
