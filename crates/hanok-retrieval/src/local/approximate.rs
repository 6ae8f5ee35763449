//! How much of a graph is looked at.

/// That vectors are found by a graph of near ones, where a store has at least 5,000 of a space. Fewer, and what a filter leaves
/// few of, are all compared. The feature `approximate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approximate {
    breadth: usize,
}

impl Default for Approximate {
    fn default() -> Self {
        Self { breadth: 128 }
    }
}

impl Approximate {
    /// With the default breadth.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// So many candidates are found by the graph and then compared, or twice the hits that are asked for where these are more.
    /// More of them miss less and take longer. From 16 to 1,024. Default: 128.
    #[must_use]
    pub fn breadth(self, breadth: usize) -> Self {
        Self { breadth: breadth.clamp(16, 1_024) }
    }

    /// How many candidates are asked for, when `count` hits are.
    pub(super) fn wanted(self, count: usize) -> usize {
        self.breadth.max(count.saturating_mul(2))
    }
}
