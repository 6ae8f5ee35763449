//! Two lists of hits made one, by reciprocal rank fusion: Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms
//! Condorcet and individual Rank Learning Methods" (SIGIR 2009). Ranks can be added where scores cannot.

use std::{collections::HashMap, hash::Hash};

use crate::found::Found;

/// How [`Mode::Hybrid`](crate::Mode::Hybrid) joins what keywords and vectors found: a passage scores
/// `weight / (k + rank)` in each list that has it, ranks from 1, and these are added.
///
/// ```
/// use hanok_retrieval::{Fusion, Query};
///
/// let query = Query::new("휴가").fusion(Fusion::new().weights(2.0, 1.0));
/// # let _ = query;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    k: f32,
    keyword: f32,
    vector: f32,
    depth: usize,
}

impl Default for Fusion {
    fn default() -> Self {
        Self::new()
    }
}

impl Fusion {
    /// Every option at its default.
    #[must_use]
    pub fn new() -> Self {
        Self { k: 60.0, keyword: 1.0, vector: 1.0, depth: 50 }
    }

    /// How little the first ranks count more than the next, at least 0. Default: 60, of the paper.
    #[must_use]
    pub fn k(self, k: f32) -> Self {
        Self { k: k.max(0.0), ..self }
    }

    /// What a rank among keywords and one among vectors weighs, each at least 0. Default: 1 and 1.
    #[must_use]
    pub fn weights(self, keyword: f32, vector: f32) -> Self {
        Self { keyword: keyword.max(0.0), vector: vector.max(0.0), ..self }
    }

    /// How many of each list are looked at; never fewer than are asked for. Default: 50.
    #[must_use]
    pub fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// How many of each list to bring when `wanted` are to be told.
    pub(crate) fn reach(&self, wanted: usize) -> usize {
        self.depth.max(wanted)
    }

    /// Both lists in one, the best first; equal ones as keywords have them, and then as vectors do.
    pub(crate) fn join<T: Eq + Hash>(
        &self,
        keyword: Vec<Found<T>>,
        vector: Vec<Found<T>>,
    ) -> Vec<Found<T>> {
        let places: HashMap<&T, usize> = (0..).zip(&keyword).map(|(n, it)| (&it.at, n)).collect();
        let both: Vec<Option<usize>> =
            vector.iter().map(|found| places.get(&found.at).copied()).collect();
        let mut joined = self.weighed(self.keyword, keyword);
        for (both, mut found) in both.into_iter().zip(self.weighed(self.vector, vector)) {
            match both.and_then(|place| joined.get_mut(place)) {
                Some(known) => {
                    known.score += found.score;
                    known.parts.append(&mut found.parts);
                }
                None => joined.push(found),
            }
        }
        joined.sort_by(|a, b| b.score.total_cmp(&a.score));
        joined
    }

    /// The list with the scores of its ranks.
    fn weighed<T>(&self, weight: f32, list: Vec<Found<T>>) -> Vec<Found<T>> {
        let score = |rank: u32| weight / (self.k + rank as f32);
        (1..).zip(list).map(|(rank, found)| Found { score: score(rank), ..found }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    fn list<'a>(by: Mode, names: &[&'a str]) -> Vec<Found<&'a str>> {
        let ranked = (1..).zip(names);
        ranked.map(|(rank, name)| Found::by(by, rank, 1.0 / rank as f32, *name)).collect()
    }

    fn joined(fusion: Fusion, keyword: &[&str], vector: &[&str]) -> String {
        let joined = fusion.join(list(Mode::Keyword, keyword), list(Mode::Vector, vector));
        let shown = joined.into_iter().map(|found| {
            let parts = found.parts.iter().map(|part| format!("{}{}", part.by, part.rank));
            let parts = parts.collect::<Vec<_>>().join("+");
            format!("{} {parts} {:.4}", found.at, found.score)
        });
        shown.collect::<Vec<_>>().join("; ")
    }

    /// Worked by hand from the formula.
    #[test]
    fn ranks_are_added_and_every_part_is_told() {
        assert_eq!(
            joined(Fusion::new(), &["a", "b"], &["b", "c"]),
            "b keyword2+vector1 0.0325; a keyword1 0.0164; c vector2 0.0161"
        );
        assert_eq!(
            joined(Fusion::new().k(0.0).weights(1.0, 3.0), &["a", "b"], &["c", "a"]),
            "c vector1 3.0000; a keyword1+vector2 2.5000; b keyword2 0.5000"
        );
        assert_eq!(joined(Fusion::new(), &[], &[]), "");
        assert_eq!(
            joined(Fusion::new(), &["b"], &["a"]),
            "b keyword1 0.0164; a vector1 0.0164",
            "equal scores in a fixed order"
        );
    }
}
