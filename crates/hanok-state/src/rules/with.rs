//! The rule of `#[reduce(with = …)]`.

use std::marker::PhantomData;

use hanok_core::{Change, Field, Stored, StoredError};
use serde::{Serialize, de::DeserializeOwned};

use super::macros::{stored_input, stored_whole};
use crate::{code::Code, error::Refused, reduce::Reduce, writes::NodeWrites};

/// The function of `#[reduce(with = path)]`; written by the derive.
pub trait WithReducer<T>: 'static {
    /// The value after `write`.
    fn merge(value: &T, write: T) -> T;
}

/// A value merged by a function of the user's. The result is stored whole, so it is for small values.
#[derive(Debug)]
pub struct With<F>(PhantomData<F>);

impl<T, F> Reduce<T> for With<F>
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
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
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: WithReducer<T>,
{
    stored_input!();

    fn resolved(value: &T, _changes: Vec<Change>) -> Result<Vec<Change>, StoredError> {
        Ok(vec![Change::Set(Stored::encode(value)?)])
    }

    stored_whole!(T);
}
