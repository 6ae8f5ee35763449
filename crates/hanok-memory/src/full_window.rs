//! A window that is full, as a server says it.

use crate::policy::{Compaction, Trigger};

/// A server's word that a prompt does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FullWindow {
    /// The most tokens that the model takes, if the server said it.
    pub limit: Option<u64>,
    /// The tokens of the prompt by the server's count, if it said it.
    pub requested: Option<u64>,
}

impl Compaction {
    /// The same policy for a prompt of `total` tokens by its own count, which does not fit.
    pub(crate) fn fitted(self, total: u64, full: FullWindow) -> Self {
        let third = total / 3;
        let fits = match (full.limit, full.requested) {
            // The server's vocabulary is another one.
            (Some(limit), Some(requested)) if requested > limit => {
                let ours = u128::from(total) * u128::from(limit) / u128::from(requested);
                u64::try_from(ours).unwrap_or(total)
            }
            (Some(limit), _) if limit < total => limit,
            _ => third.saturating_mul(2),
        };
        let fits = fits.clamp(1, total.max(1));
        self.trigger(Trigger::Tokens(fits)).window(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::FullWindow;
    use crate::{Compaction, Trigger};

    #[test]
    fn a_prompt_is_fitted_by_the_count_of_its_own_policy() {
        for (limit, requested, want) in [
            (Some(8_000), Some(10_000), 4_800),
            (Some(4_000), None, 4_000),
            // What a server says of a prompt that should fit is not believed.
            (Some(8_000), Some(7_000), 4_000),
            (Some(8_000), None, 4_000),
            (None, None, 4_000),
        ] {
            let fitted = Compaction::new().fitted(6_000, FullWindow { limit, requested });
            assert_eq!(fitted.trigger, Trigger::Tokens(want), "{limit:?} {requested:?}");
        }
    }
}
