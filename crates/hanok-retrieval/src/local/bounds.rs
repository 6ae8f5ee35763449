//! What a sum of impacts says of a score.

use super::{weights::FINE, windows::Windows};

/// Sums are kept as so many parts of the highest that there can be.
const PARTS: f32 = 65_000.0;

/// For the terms of a question.
#[derive(Debug)]
pub(super) struct Bounds {
    /// For each of the terms, with how many parts of 256 its impacts are multiplied to be part of a sum.
    pub(super) parts: Vec<u16>,
    /// A sum may be higher than what is in its passage by so much,
    above: f32,
    /// and lower by less than so much.
    below: f32,
    /// What is in a passage is at least this part of what was reckoned with.
    sure: f32,
}

impl Bounds {
    /// Those of terms that weigh so much each, where passages have `mean` terms on average.
    pub(super) fn new(terms: &[(&Windows, f32)], mean: f32) -> Self {
        let units = || terms.iter().map(|(windows, weight)| windows.unit(*weight, mean));
        let scale = PARTS / (FINE * units().sum::<f32>()).max(f32::MIN_POSITIVE);
        let mut bounds =
            Self { parts: Vec::new(), above: 0.0, below: terms.len() as f32, sure: 1.0 };
        for (unit, (windows, _)) in units().map(|unit| unit * scale).zip(terms) {
            // At least 1 of each 256: every impact is seen, if it is too much by all that it is.
            let parts = ((unit * 256.0).ceil() as u16).max(256);
            // Else an impact is higher than what it stands for by 1 at most, and with the parts rounded up, its share is by 1.
            bounds.above += if parts > 256 { unit + 1.0 } else { FINE };
            bounds.sure = bounds.sure.min(windows.sure(mean));
            bounds.parts.push(parts);
        }
        bounds
    }

    /// Passages whose sums are up to this one are worse than one whose sum is `sum`.
    pub(super) fn worse(&self, sum: u16) -> u16 {
        // Every share was rounded down by less than 1.
        ((f32::from(sum) - self.above) * self.sure - self.below) as u16
    }
}
