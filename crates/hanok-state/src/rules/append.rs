//! The rule of `#[reduce(append)]`.

use hanok_core::{Change, Field, Stored, StoredError};
use serde_json::Value;

use super::macros::{other_shape, stored_whole};
use crate::{
    code::Code,
    collections::list::ListLike,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    read_json::{each, json_of, value},
    reduce::Reduce,
    storable::Storable,
    writes::NodeWrites,
};

/// A list to which every write appends. The items of two writers stand in task order.
///
/// ```
/// # use hanok_state::State;
/// #[derive(State, Clone, Default)]
/// struct Notes {
///     #[reduce(append)]
///     lines: Vec<u32>,
/// }
///
/// let mut notes = Notes { lines: vec![1] };
/// let (a, b) = (Notes::update().lines([2, 3]), Notes::update().push_lines(4));
/// notes.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(notes.lines, [1, 2, 3, 4]);
///
/// let clear = Notes::update().overwrite_lines(vec![]);
/// notes.reduce(vec![("a".into(), clear), ("b".into(), Notes::update().push_lines(5))])?;
/// assert!(notes.lines.is_empty());
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct Append;

impl<T> Reduce<T> for Append
where
    T: ListLike + Clone + Send + Sync + 'static,
{
    type Write = Vec<T::Item>;

    fn then(mut before: Self::Write, after: Self::Write) -> Self::Write {
        before.extend(after);
        before
    }

    fn reduce(value: &mut T, writes: NodeWrites<'_, Self::Write>) -> Result<Vec<Change>, Refused> {
        writes.into_iter().for_each(|(_, items)| value.extend_items(items));
        Ok(Vec::new())
    }
}

impl<T> Code<T> for Append
where
    T: ListLike + Storable,
    T::Item: Storable,
{
    fn store(write: &Self::Write) -> Result<Vec<Change>, StoredError> {
        let items: Result<_, _> = write.iter().map(Stored::encode).collect();
        Ok(vec![Change::Append(items?)])
    }

    fn load(changes: &[&Change]) -> Result<Self::Write, StoredError> {
        match changes {
            [Change::Append(items)] => items.iter().map(Stored::decode).collect(),
            _ => other_shape("items to append"),
        }
    }

    /// An array is the items, anything else is one item.
    fn from_json(json: Value) -> Result<Self::Write, InvalidJson> {
        match json {
            Value::Array(items) => each(items.into_iter().enumerate(), |_, item| value(item)),
            one => value(one).map(|item| vec![item]),
        }
    }

    fn to_json(write: &Self::Write) -> Result<Vec<(&'static str, Value)>, NoJson> {
        Ok(vec![("append", json_of(write)?)])
    }

    stored_whole!(T);
}
