//! Two lists of hits made one, by reciprocal rank fusion: Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms
//! Condorcet and individual Rank Learning Methods" (SIGIR 2009). Ranks can be added where scores cannot.

use std::collections::HashMap;

use crate::retriever::Hit;

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

    /// Both lists in one, the best first; equal ones by source and place.
    pub(crate) fn join(&self, keyword: Vec<Hit>, vector: Vec<Hit>) -> Vec<Hit> {
        let mut joined: Vec<Hit> = Vec::with_capacity(keyword.len() + vector.len());
        let mut places: HashMap<(String, String), usize> = HashMap::new();
        for (weight, hits) in [(self.keyword, keyword), (self.vector, vector)] {
            for (rank, mut hit) in (1_u32..).zip(hits) {
                let score = weight / (self.k + rank as f32);
                let id = (hit.passage.source.clone(), hit.passage.id.clone());
                match places.get(&id).and_then(|at| joined.get_mut(*at)) {
                    Some(known) => {
                        known.score += score;
                        known.parts.append(&mut hit.parts);
                    }
                    None => {
                        places.insert(id, joined.len());
                        joined.push(Hit { score, ..hit });
                    }
                }
            }
        }
        joined.sort_by(|a, b| {
            let place = |hit: &Hit| (hit.passage.ordinal, hit.passage.bytes.start);
            let by_place =
                || a.passage.source.cmp(&b.passage.source).then_with(|| place(a).cmp(&place(b)));
            b.score.total_cmp(&a.score).then_with(by_place)
        });
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Mode, Splitter};

    /// Hits on the documents of these names.
    fn list(by: Mode, names: &[&str]) -> Vec<Hit> {
        let hits = (1..).zip(names).filter_map(|(rank, name)| {
            let passage = Splitter::new().split(&Document::new(name, "글")).pop()?;
            Some(Hit::by(by, rank, 1.0 / rank as f32, passage))
        });
        hits.collect()
    }

    fn joined(fusion: Fusion, keyword: &[&str], vector: &[&str]) -> String {
        let joined = fusion.join(list(Mode::Keyword, keyword), list(Mode::Vector, vector));
        let shown = joined.into_iter().map(|hit| {
            let parts = hit.parts.iter().map(|part| format!("{}{}", part.by, part.rank));
            let parts = parts.collect::<Vec<_>>().join("+");
            format!("{} {parts} {:.4}", hit.passage.source, hit.score)
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
            "a vector1 0.0164; b keyword1 0.0164",
            "equal scores in a fixed order"
        );
    }
}
