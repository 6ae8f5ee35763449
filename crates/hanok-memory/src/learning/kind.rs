//! What a kind of long-term memory is.

use std::collections::BTreeMap;

use hanok_core::Stored;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    days::Days,
    error::{LearningError, Refusal},
    evidence::Evidence,
};

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
/// `check_memory_kind` checks the first two on evidence of yours.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use hanok_memory::{Evidence, MemoryKind};
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

/// Checks that the folds of a kind do not depend on the order of `evidence`: forwards, backwards and from every place on, each
/// record has the same bytes. For tests of kinds of your own.
///
/// ```
/// use hanok_core::Timestamp;
/// use hanok_memory::{Actor, Episode, EpisodeReport, Evidence, EvidenceSource, check_memory_kind};
///
/// let evidence = |id: &str, at, answer: &str| Evidence {
///     id: id.to_owned(),
///     user: "kim".to_owned(),
///     at: Timestamp(at),
///     actor: Actor::Automatic,
///     source: EvidenceSource::default(),
///     body: EpisodeReport::new("How many?", answer),
/// };
/// check_memory_kind::<Episode>(&[evidence("a", 2, "Two."), evidence("b", 1, "One.")])?;
/// # Ok::<(), hanok_memory::LearningError>(())
/// ```
///
/// # Errors
///
/// [`LearningError::Order`](crate::LearningError::Order) with two records that differ, as JSON.
pub fn check_memory_kind<K: MemoryKind>(
    evidence: &[Evidence<K::Body>],
) -> Result<(), LearningError> {
    let mut records: BTreeMap<(&str, String), Vec<&Evidence<K::Body>>> = BTreeMap::new();
    for one in evidence {
        records.entry((&one.user, K::key(one))).or_default().push(one);
    }
    records.values().try_for_each(|of_record| check_record::<K>(of_record))
}

fn check_record<K: MemoryKind>(evidence: &[&Evidence<K::Body>]) -> Result<(), LearningError> {
    let forwards = folded::<K>(evidence.iter().copied())?;
    let check = |other: Stored| match other == forwards {
        true => Ok(()),
        false => Err(LearningError::Order {
            kind: K::NAME,
            first: forwards.to_json(),
            second: other.to_json(),
        }),
    };
    for place in 0..evidence.len() {
        let (front, back) = evidence.split_at(place);
        check(folded::<K>(back.iter().chain(front).copied())?)?;
        check(folded::<K>(back.iter().chain(front).rev().copied())?)?;
    }
    Ok(())
}

fn folded<'a, K: MemoryKind>(
    evidence: impl Iterator<Item = &'a Evidence<K::Body>>,
) -> Result<Stored, LearningError> {
    Ok(Stored::encode(&evidence.fold(K::Record::default(), K::fold))?)
}
