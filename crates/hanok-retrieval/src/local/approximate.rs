//! How many candidates are compared.

/// That a search estimates how similar vectors are, by one bit of each number, and compares the best of them alone, where a
/// store has at least 5,000 of a space. Fewer, and what a filter leaves few of, are all compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Approximate {
    breadth: usize,
}

impl Default for Approximate {
    fn default() -> Self {
        Self { breadth: 320 }
    }
}

impl Approximate {
    /// With the default breadth.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// So many of the best by estimate are compared, or four times the hits that are asked for where these are more; those of
    /// them that are too far by any likely error are left out. More of them miss less and take longer. From 16 to 16,384.
    /// Default: 320.
    #[must_use]
    pub fn breadth(self, breadth: usize) -> Self {
        Self { breadth: breadth.clamp(16, 16_384) }
    }

    /// How many candidates there are to be, when `count` hits are asked for.
    pub(super) fn wanted(self, count: usize) -> usize {
        self.breadth.max(count.saturating_mul(4))
    }
}
