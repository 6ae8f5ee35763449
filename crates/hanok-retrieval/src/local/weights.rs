//! What a term adds to the score of a passage: what tantivy's `Bm25Weight` says, to the last bit, and parts of it that can be
//! kept.

use tantivy::fieldnorm::FieldNormReader;

use crate::bm25::{B, K1};

/// What lengths of passages weigh, for a mean length.
#[derive(Debug, Clone)]
pub(super) struct Norms {
    mean: f32,
    /// By the byte that tantivy keeps of a length.
    norms: Box<[f32; 256]>,
}

impl Norms {
    /// Those for this mean length.
    pub(super) fn new(mean: f32) -> Self {
        let mut norms = Box::new([0.0; 256]);
        for (id, norm) in (0..=u8::MAX).zip(norms.iter_mut()) {
            let length = FieldNormReader::id_to_fieldnorm(id) as f32;
            *norm = K1 * (1.0 - B + B * length / mean);
        }
        Self { mean, norms }
    }

    pub(super) fn mean(&self) -> f32 {
        self.mean
    }

    /// Which part of its weight a term adds that a passage of that length has `count` times: less than 1.
    pub(super) fn part(&self, length: u8, count: u32) -> f32 {
        let count = count as f32;
        count / (count + self.norm(length))
    }

    fn norm(&self, length: u8) -> f32 {
        self.norms.get(usize::from(length)).copied().unwrap_or_default()
    }
}

/// An impact is kept as so many parts of 1.
pub(super) const FINE: f32 = 255.0;

/// Above rounding.
pub(super) const MORE: f32 = 1.0001;

/// Counts below this one have their impacts ready.
const FEW: u32 = 8;

/// The [parts](Norms::part) as bytes, in parts of 255, never too low and never 0.
#[derive(Debug)]
pub(super) struct Impacts {
    norms: Norms,
    /// By count and length.
    few: Vec<[u8; 256]>,
}

impl Impacts {
    pub(super) fn new(norms: Norms) -> Self {
        let mut few = vec![[0; 256]; FEW as usize];
        for (count, row) in (0..).zip(&mut few) {
            for (length, impact) in (0..=u8::MAX).zip(row) {
                *impact = above(norms.part(length, count));
            }
        }
        Self { norms, few }
    }

    /// The impact on a passage of that length that has the term `count` times.
    pub(super) fn of(&self, length: u8, count: u32) -> u8 {
        let row = self.few.get(count as usize);
        let few = row.and_then(|row| row.get(usize::from(length)));
        few.copied().unwrap_or_else(|| above(self.norms.part(length, count)))
    }
}

fn above(part: f32) -> u8 {
    ((part * FINE * MORE) as u8).saturating_add(1)
}

/// The weight of a term that `found` of `all` passages have.
pub(super) fn weight(found: u64, all: u64) -> f32 {
    let odds = (all.saturating_sub(found) as f32 + 0.5) / (found as f32 + 0.5);
    (1.0 + odds).ln() * (1.0 + K1)
}

#[cfg(test)]
mod tests {
    use tantivy::query::Bm25Weight;

    use super::*;

    #[test]
    fn a_score_is_that_of_tantivy_to_the_last_bit() {
        for (found, all) in [(0, 1), (1, 1), (3, 10), (77_777, 100_000), (40_000_001, 50_000_000)] {
            for mean in [0.2, 1.0, 37.3, 1_000.5] {
                let theirs = Bm25Weight::for_one_term_without_explain(found, all, mean);
                let (weight, norms) = (weight(found, all), Norms::new(mean));
                for length in 0..=u8::MAX {
                    for count in [1, 2, 3, 254, 255, 70_000, u32::MAX] {
                        let ours = weight * norms.part(length, count);
                        assert_eq!(ours, theirs.score(length, count), "{found} {all} {length}");
                    }
                }
            }
        }
    }
}
