//! Values with the evidence that they come from: the newest one, and the newest few.

use hanok_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;

/// A value, with the time and the id of its evidence. Of two of one time the one with the greater id is the newer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped<T> {
    /// The time of the evidence.
    pub at: Timestamp,
    /// Its id.
    pub evidence: String,
    /// The value.
    pub value: T,
}

impl<T> Stamped<T> {
    pub(super) fn new<B>(evidence: &Evidence<B>, value: T) -> Self {
        Self { at: evidence.at, evidence: evidence.id.clone(), value }
    }

    pub(super) fn is_newer(&self, other: &Self) -> bool {
        (self.at, &self.evidence) > (other.at, &other.evidence)
    }

    /// Puts it in the place of one that is not newer.
    pub(super) fn replace_older(self, slot: &mut Option<Self>) {
        if slot.as_ref().is_none_or(|old| self.is_newer(old)) {
            *slot = Some(self);
        }
    }

    /// Adds it to the newest `most`, which stand in order, the newest first.
    pub(super) fn push_recent(self, recent: &mut Vec<Self>, most: usize) {
        let at = recent.partition_point(|other| other.is_newer(&self));
        if at < most {
            recent.insert(at, self);
            recent.truncate(most);
        }
    }
}

impl<T: PartialEq> Stamped<T> {
    /// Adds it to the newest `most` that differ.
    pub(super) fn push_distinct(self, recent: &mut Vec<Self>, most: usize) {
        if let Some(at) = recent.iter().position(|other| other.value == self.value) {
            if recent.get(at).is_some_and(|other| other.is_newer(&self)) {
                return;
            }
            recent.remove(at);
        }
        self.push_recent(recent, most);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all() -> Vec<Stamped<u8>> {
        let one = |i: u8| Stamped {
            at: Timestamp(u64::from(i % 5)),
            evidence: i.to_string(),
            value: i % 4,
        };
        (0..20).map(one).collect()
    }

    proptest! {
        #[test]
        fn the_newest_do_not_depend_on_the_order(shuffled in Just(all()).prop_shuffle(), most in 1..6_usize) {
            let folded = |all: &[Stamped<u8>]| {
                let (mut newest, mut recent, mut distinct) = (None, Vec::new(), Vec::new());
                for one in all {
                    one.clone().replace_older(&mut newest);
                    one.clone().push_recent(&mut recent, most);
                    one.clone().push_distinct(&mut distinct, most);
                }
                (newest, recent, distinct)
            };
            let (newest, recent, distinct) = folded(&shuffled);
            prop_assert_eq!((newest.clone(), recent.clone(), distinct.clone()), folded(&all()));
            prop_assert_eq!(recent.first(), newest.as_ref());
            prop_assert_eq!(recent.len(), most);
            prop_assert_eq!(distinct.len(), most.min(4));
        }
    }
}
