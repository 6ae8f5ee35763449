//! Successes and failures, and what they say of the rate.

use hanok_core::rate_bounds;
use serde::{Deserialize, Serialize};

/// The number of successes and of failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The successes.
    pub successes: u64,
    /// The failures.
    pub failures: u64,
}

impl Tally {
    /// Both together.
    pub fn count(self) -> u64 {
        self.successes.saturating_add(self.failures)
    }

    /// The rate of success, from 0 to 1; `None` before the first.
    ///
    /// ```
    /// use hanok_learning::Tally;
    ///
    /// assert_eq!(Tally::default().rate(), None);
    /// assert_eq!(Tally { successes: 3, failures: 1 }.rate(), Some(0.75));
    /// ```
    pub fn rate(self) -> Option<f64> {
        (self.count() > 0).then(|| self.successes as f64 / self.count() as f64)
    }

    /// The lower bound of the rate, by Wilson's interval at 95 % ([`rate_bounds`]); `None` before the first.
    pub fn lower_bound(self) -> Option<f64> {
        rate_bounds(self.successes, self.failures).map(|(lower, _)| lower)
    }

    /// The upper bound of the rate, by the same interval; `None` before the first.
    ///
    /// ```
    /// use hanok_learning::Tally;
    ///
    /// let (three, four) = (Tally { successes: 0, failures: 3 }, Tally { successes: 0, failures: 4 });
    /// assert!(three.upper_bound() > Some(0.5) && four.upper_bound() < Some(0.5));
    /// ```
    pub fn upper_bound(self) -> Option<f64> {
        rate_bounds(self.successes, self.failures).map(|(_, upper)| upper)
    }

    pub(super) fn add(&mut self, success: bool) {
        let count = if success { &mut self.successes } else { &mut self.failures };
        *count = count.saturating_add(1);
    }
}

/// Says `3 of 4 succeeded`.
impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} succeeded", self.successes, self.count())
    }
}

/// The way in which something that was begun ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunOutcome {
    /// It did what it was for.
    Succeeded,
    /// It did not.
    Failed,
    /// A person or a limit stopped it: it says nothing of its success.
    Stopped,
}

/// The number of runs by their outcomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Those that succeeded, and those that failed.
    pub ended: Tally,
    /// Those that were stopped.
    pub stopped: u64,
}

impl Outcomes {
    pub(super) fn add(&mut self, outcome: RunOutcome) {
        match outcome {
            RunOutcome::Succeeded => self.ended.add(true),
            RunOutcome::Failed => self.ended.add(false),
            RunOutcome::Stopped => self.stopped = self.stopped.saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bounds_are_wilsons() {
        // The roots of (p - x)² = z² x (1 - x) / n, computed in decimals to six places.
        for (successes, failures, lower, upper) in [
            (1, 0, 0.206_549, 1.0),
            (0, 3, 0.0, 0.561_497),
            (0, 4, 0.0, 0.489_891),
            (8, 2, 0.490_162, 0.943_318),
            (34, 0, 0.898_485, 1.0),
            (35, 0, 0.901_099, 1.0),
        ] {
            let tally = Tally { successes, failures };
            for (actual, want) in [(tally.lower_bound(), lower), (tally.upper_bound(), upper)] {
                let alike = actual.is_some_and(|actual| (actual - want).abs() < 1e-6);
                assert!(alike, "{tally:?}: {actual:?} and not {want}");
            }
        }
        assert_eq!((Tally::default().lower_bound(), Tally::default().upper_bound()), (None, None));
    }

    proptest! {
        #[test]
        fn the_rate_stands_between_its_bounds(successes in 0..100_000_u64, failures in 0..100_000_u64) {
            let tally = Tally { successes, failures };
            if let (Some(lower), Some(rate), Some(upper)) = (tally.lower_bound(), tally.rate(), tally.upper_bound()) {
                prop_assert!(0.0 <= lower && lower <= rate + 1e-9 && rate <= upper + 1e-9 && upper <= 1.0);
            }
        }
    }
}
