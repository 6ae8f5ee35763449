//! Experience with a tool: how often its calls have succeeded.

use hanok_core::rate_bounds;

/// How often calls of a tool have succeeded and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolExperience {
    /// The calls that succeeded.
    pub successes: u32,
    /// The calls that failed.
    pub failures: u32,
}

impl ToolExperience {
    /// The lower bound of the rate of success, by Wilson's interval at 95 % ([`rate_bounds`]); `None` without a call.
    ///
    /// ```
    /// use hanok_agent::ToolExperience;
    ///
    /// assert_eq!(ToolExperience::default().lower_bound(), None);
    /// let often = ToolExperience { successes: 90, failures: 10 }.lower_bound();
    /// let once = ToolExperience { successes: 1, failures: 0 }.lower_bound();
    /// assert!(often > Some(0.8) && once < Some(0.3));
    /// ```
    #[must_use]
    pub fn lower_bound(self) -> Option<f64> {
        let (lower, _) = rate_bounds(self.successes.into(), self.failures.into())?;
        Some(lower)
    }
}

#[cfg(test)]
mod tests {
    use super::ToolExperience;

    #[test]
    fn the_bound_is_wilsons() {
        // Computed by hand from the formula, to six places.
        for (successes, failures, bound) in
            [(1, 0, 0.206_549), (0, 1, 0.0), (8, 2, 0.490_162), (90, 10, 0.825_635)]
        {
            let actual = ToolExperience { successes, failures }.lower_bound();
            assert!(actual.is_some_and(|it| (it - bound).abs() < 1e-6), "{actual:?} {bound}");
        }
    }
}
