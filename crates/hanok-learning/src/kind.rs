//! What a kind of long-term memory is.

use std::collections::BTreeSet;

use serde::{Serialize, de::DeserializeOwned};

use super::{days::Days, error::Refusal, evidence::Evidence};

/// A kind of long-term memory: how evidence becomes a record.
///
/// # Contract
///
/// - `fold` is a pure function of its arguments, and the order of the evidence does not matter: folds of the same evidence in any
///   order are equal, and so are their bytes. Keep sets and maps that are sorted, and order what has a time by the time *and* the
///   evidence's id.
/// - No piece of evidence comes twice.
/// - `key` is a function of the evidence alone.
///
/// `hanok_testkit::memory_kind_conforms!` makes a test of each.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use hanok_learning::{Evidence, MemoryKind};
///
/// /// The names of a user's pets.
/// struct Pets;
///
/// impl MemoryKind for Pets {
///     const NAME: &'static str = "pets";
///     type Body = String;
///     type Record = BTreeSet<String>;
///
///     fn key(_: &Evidence<String>) -> String {
///         "pets".to_owned()
///     }
///
///     fn fold(mut pets: BTreeSet<String>, evidence: &Evidence<String>) -> BTreeSet<String> {
///         pets.insert(evidence.body.clone());
///         pets
///     }
///
///     fn text(pets: &BTreeSet<String>) -> String {
///         pets.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
///     }
/// }
/// ```
pub trait MemoryKind: 'static {
    /// The name of the kind, in the store and in exports. It does not change.
    const NAME: &'static str;
    /// What a piece of evidence says.
    type Body: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What is remembered: nothing is its default.
    type Record: Serialize + DeserializeOwned + Default + Send + Sync + 'static;

    /// The name of the record that the evidence belongs to, within its user and kind.
    fn key(evidence: &Evidence<Self::Body>) -> String;

    /// The record with the evidence in it.
    fn fold(record: Self::Record, evidence: &Evidence<Self::Body>) -> Self::Record;

    /// The text of a record: people read it, and searches find it.
    fn text(record: &Self::Record) -> String;

    /// The text of a record as it is recalled for a question, with the days of what has changed. Default: its text.
    fn recalled(record: &Self::Record, days: Days) -> String {
        let _ = days;
        Self::text(record)
    }

    /// The servers of others that a body names: they are added to those of the evidence's source. Default: none.
    fn servers(body: &Self::Body) -> BTreeSet<String> {
        let _ = body;
        BTreeSet::new()
    }

    /// Refuses evidence that may not count. Default: all of it counts.
    ///
    /// # Errors
    ///
    /// [`Refusal`] with the reason.
    fn admit(evidence: &Evidence<Self::Body>) -> Result<(), Refusal> {
        let _ = evidence;
        Ok(())
    }
}
