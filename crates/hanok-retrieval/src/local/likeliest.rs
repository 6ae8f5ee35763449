//! The best of many estimates.

use std::cmp::Ordering;

/// A vector that may be near.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) estimate: f32,
    pub(super) key: u64,
    pub(super) place: usize,
}

impl Candidate {
    /// The most similar first, and equal ones in the order of their keys.
    fn order(&self, other: &Self) -> Ordering {
        other.estimate.total_cmp(&self.estimate).then_with(|| self.key.cmp(&other.key))
    }
}

/// The `wanted` best of what is offered, or a few more: these are sorted out when they are twice as many.
#[derive(Debug)]
pub(super) struct Likeliest {
    wanted: usize,
    found: Vec<Candidate>,
    /// The last of those that were not sorted out.
    last: Option<Candidate>,
}

impl Likeliest {
    /// None yet. `wanted` is at least 1.
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, found: Vec::with_capacity(2 * wanted), last: None }
    }

    pub(super) fn offer(&mut self, candidate: Candidate) {
        if self.last.is_some_and(|last| candidate.order(&last).is_ge()) {
            return;
        }
        self.found.push(candidate);
        if self.found.len() >= 2 * self.wanted {
            self.cut();
        }
    }

    /// Nothing below this is among the best.
    pub(super) fn bar(&self) -> f32 {
        self.last.map_or(f32::NEG_INFINITY, |last| last.estimate)
    }

    /// The best, in their order.
    pub(super) fn told(mut self) -> Vec<Candidate> {
        self.found.sort_unstable_by(Candidate::order);
        self.found.truncate(self.wanted);
        self.found
    }

    fn cut(&mut self) {
        let (_, last, _) =
            self.found.select_nth_unstable_by(self.wanted.saturating_sub(1), Candidate::order);
        self.last = Some(*last);
        self.found.truncate(self.wanted);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Those that sorting all of them gives, whatever their order, equal ones by their keys.
        #[test]
        fn the_best_are_those_of_all(
            estimates in prop::collection::vec(0..40_i8, 0..400),
            wanted in 1..60_usize,
        ) {
            let mut best = Likeliest::new(wanted);
            let mut all = Vec::new();
            for (place, estimate) in estimates.into_iter().enumerate() {
                let key = (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let candidate = Candidate { estimate: f32::from(estimate), key, place };
                all.push(candidate);
                if candidate.estimate >= best.bar() {
                    best.offer(candidate);
                }
            }
            all.sort_by(Candidate::order);
            let places = |all: &[Candidate]| -> Vec<_> { all.iter().map(|it| it.place).collect() };
            prop_assert_eq!(places(&best.told()), places(&all[..wanted.min(all.len())]));
        }
    }
}
