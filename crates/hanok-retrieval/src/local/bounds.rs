//! What a sum of impacts says of a score.

use super::{weights::FINE, windows::Windows};

/// Sums are kept as so many parts of the highest that there can be. With 256 terms, roundings leave it below what 16 bits hold.
const PARTS: f32 = 65_000.0;

/// For the terms of a question.
#[derive(Debug)]
pub(super) struct Bounds {
    /// For each of the terms, with how many parts of 256 its impacts are multiplied to be part of a sum.
    pub(super) parts: Vec<u16>,
    /// How much a score of 1 is in a sum. A sum is never too low.
    scale: f32,
    /// A sum may be too high by so much,
    above: f32,
    /// and what is in a passage is at least this part of the rest.
    sure: f32,
}

impl Bounds {
    /// Those of terms that weigh so much each, where passages have `mean` terms on average.
    pub(super) fn new(terms: &[(&Windows, f32)], mean: f32) -> Self {
        let units = || terms.iter().map(|(windows, weight)| windows.unit(*weight, mean));
        let scale = PARTS / (FINE * units().sum::<f32>()).max(f32::MIN_POSITIVE);
        let mut bounds = Self { parts: Vec::new(), scale, above: 0.0, sure: 1.0 };
        for (unit, (windows, _)) in units().map(|unit| unit * scale).zip(terms) {
            bounds.parts.push((unit * 256.0).ceil() as u16);
            // An impact is too high by 1 at most, and its share by 1 as it is rounded and by 1 as the parts are.
            bounds.above += unit + 2.0;
            bounds.sure = bounds.sure.min(windows.sure(mean));
        }
        bounds
    }

    /// Passages whose sums are up to this one are worse than one whose sum is `sum`.
    pub(super) fn worse(&self, sum: u16) -> u16 {
        below((f32::from(sum) - self.above) * self.sure)
    }

    /// Passages whose sums are up to this one are worse than one whose score is `score`.
    pub(super) fn worse_than(&self, score: f32) -> u16 {
        below(score * self.scale)
    }
}

/// Sums up to this one are below `sum`.
fn below(sum: f32) -> u16 {
    (sum as u16).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::{
        weights::{Impacts, Norms},
        windows::share,
    };

    proptest! {
        /// Whatever terms weigh, however many there are, and however long passages were when impacts were made.
        #[test]
        fn what_is_said_to_be_worse_is_worse(
            terms in prop::collection::vec((-12.0..3.0_f32, 0.9..1.1_f32), 1..=256),
            passages in prop::collection::vec(
                (any::<u8>(), prop::collection::vec(prop_oneof![3 => Just(0), 1 => 1..9_u32, 1 => any::<u32>()], 256)),
                2..12,
            ),
        ) {
            let mean = 60.0;
            let norms = Norms::new(mean);
            let windows: Vec<Windows> = terms.iter().map(|(_, fit)| Windows::of_mean(mean * fit)).collect();
            let impacts: Vec<Impacts> = terms.iter().map(|(_, fit)| Impacts::new(Norms::new(mean * fit))).collect();
            let weights: Vec<f32> = terms.iter().map(|(weight, _)| weight.exp()).collect();
            let asked: Vec<(&Windows, f32)> = windows.iter().zip(weights.iter().copied()).collect();
            let bounds = Bounds::new(&asked, mean);
            let told = |(length, counts): &(u8, Vec<u32>)| {
                let (mut sum, mut score) = (0_u16, 0.0);
                for (term, count) in counts.iter().take(terms.len()).enumerate().filter(|(_, count)| **count > 0) {
                    score += weights[term] * norms.part(*length, *count);
                    sum = sum.checked_add(share(impacts[term].of(*length, *count), bounds.parts[term])).unwrap();
                }
                (sum, score)
            };
            let told: Vec<(u16, f32)> = passages.iter().map(told).collect();
            for (sum, score) in &told {
                prop_assert_eq!(*sum > 0, *score > 0.0);
                for (other, better) in &told {
                    prop_assert!(*sum > bounds.worse(*other) || score < better || *sum == 0, "{told:?}");
                    prop_assert!(*sum > bounds.worse_than(*better) || score < better || *sum == 0, "{told:?}");
                }
            }
        }
    }

    /// As tight as bytes allow.
    #[test]
    fn a_sum_a_little_lower_is_worse() {
        let windows = Windows::of_mean(60.0);
        let bounds = Bounds::new(&[(&windows, 5.0), (&windows, 2.0), (&windows, 0.3)], 60.0);
        assert!((49_600..50_000).contains(&bounds.worse(50_000)), "{}", bounds.worse(50_000));
        assert_eq!(bounds.worse(100), 0);
    }
}
