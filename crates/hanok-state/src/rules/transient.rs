//! The rule of `#[state(transient)]`.

use hanok_core::{Change, Field, StoredError};

use super::macros::{last_write, other_shape};
use crate::{code::Code, error::Refused, reduce::Reduce, writes::NodeWrites};

/// A last value that is never stored.
#[derive(Debug)]
pub struct Transient;

impl<T> Reduce<T> for Transient
where
    T: Clone + Default + Send + Sync + 'static,
{
    type Write = T;

    last_write!(T);
}

impl<T> Code<T> for Transient
where
    T: Clone + Default + Send + Sync + 'static,
{
    fn store(_write: &T) -> Result<Vec<Change>, StoredError> {
        Ok(Vec::new())
    }

    fn load(_changes: &[&Change]) -> Result<T, StoredError> {
        other_shape("nothing: the field is transient")
    }

    fn store_value(_value: &T) -> Result<Option<Field>, StoredError> {
        Ok(None)
    }

    fn load_value(_field: Field) -> Result<T, StoredError> {
        Ok(T::default())
    }
}
