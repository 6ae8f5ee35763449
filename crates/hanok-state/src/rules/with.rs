//! The rule of `#[reduce(with = …)]`.

use std::marker::PhantomData;

use hanok_core::{Change, Field, Stored, StoredError};
use serde_json::Value;

use super::macros::{stored_input, stored_whole};
use crate::{
    code::Code,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    read_json::{json_of, value},
    reduce::Reduce,
    storable::Storable,
    writes::NodeWrites,
};

/// The function of `#[reduce(with = path)]`; written by the derive.
pub trait WithReducer<T>: 'static {
    /// Merges `write` into `value`.
    fn merge(value: &T, write: T) -> T;
}

/// A value that a function of the user's merges, write by write in task order. The result is stored whole, so the rule is
/// for small values.
///
/// ```
/// # use hanok_state::State;
/// #[derive(State, Clone, Default)]
/// struct Budget {
///     #[reduce(with = add)]
///     spent: u32,
/// }
///
/// fn add(value: &u32, write: u32) -> u32 {
///     value + write
/// }
///
/// let mut budget = Budget { spent: 1 };
/// let (a, b) = (Budget::update().spent(2), Budget::update().spent(3).spent(4));
/// budget.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(budget.spent, 10);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct With<F>(PhantomData<F>);

impl<T, F> Reduce<T> for With<F>
where
    T: Clone + Send + Sync + 'static,
    F: WithReducer<T>,
{
    type Write = Vec<T>;

    fn then(mut before: Vec<T>, after: Vec<T>) -> Vec<T> {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: NodeWrites<'_, Vec<T>>) -> Result<Vec<Change>, Refused> {
        for write in writes.into_iter().flat_map(|(_, several)| several) {
            *value = F::merge(value, write);
        }
        Ok(Vec::new())
    }
}

impl<T, F> Code<T> for With<F>
where
    T: Storable,
    F: WithReducer<T>,
{
    stored_input!();

    fn resolved(value: &T, _changes: Vec<Change>) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Set(Stored::encode(value)?)])
    }

    stored_whole!(T);
}
