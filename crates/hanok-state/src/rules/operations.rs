//! The rule of `#[reduce(operations = …)]`.

use std::marker::PhantomData;

use hanok_core::{BoxError, Change, Field, Stored, StoredError};
use serde::{Serialize, de::DeserializeOwned};

use super::macros::{stored_input, stored_whole};
use crate::{
    code::Code, collections::grow::Grow, error::Refused, reduce::Reduce, writes::NodeWrites,
};

/// The function of `#[reduce(operations = path, update = U)]`; written by the derive.
pub trait OperationsReducer<T: Grow>: 'static {
    /// What an update holds.
    type Update: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// What `update` does to `value`.
    ///
    /// # Errors
    ///
    /// Whatever the user's function returns.
    fn operate(value: &T, update: Self::Update) -> Result<T::Change, BoxError>;
}

/// What grows, changed by operations that a function of the user's chooses. The operations are stored.
#[derive(Debug)]
pub struct Operations<F>(PhantomData<F>);

impl<T, F> Reduce<T> for Operations<F>
where
    T: Grow + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
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
    T: Grow + Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: OperationsReducer<T>,
{
    stored_input!();

    stored_whole!(T);
}
