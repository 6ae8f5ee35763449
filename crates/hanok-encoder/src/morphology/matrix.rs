//! What it costs that one word stands behind another.

use super::dictionary::Reading;
use crate::files::{Fault, ensure};

#[derive(Debug)]
pub(super) struct Matrix {
    /// How many ways words end.
    ends: usize,
    costs: Vec<i16>,
}

impl Matrix {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let (costs, rest) = bytes.as_chunks::<2>();
        let mut costs = costs.iter().copied();
        let mut side = || costs.next().map(|side| usize::from(u16::from_le_bytes(side)));
        let sides = side().zip(side());
        let (ends, begins) = sides.ok_or_else(|| Fault("it ends early".to_owned()))?;
        let costs: Vec<i16> = costs.map(i16::from_le_bytes).collect();
        ensure(rest.is_empty() && costs.len() == ends * begins && !costs.is_empty(), || {
            format!("{} costs for {ends} times {begins}", costs.len())
        })?;
        Ok(Self { ends, costs })
    }

    /// What it costs that `next` stands behind a word that ends as `right` says.
    pub(super) fn cost(&self, right: u16, next: u16) -> i64 {
        let at = usize::from(right) + self.ends * usize::from(next);
        let known = (usize::from(right) < self.ends).then(|| self.costs.get(at)).flatten();
        known.copied().map_or(i64::from(i16::MAX), i64::from)
    }

    /// What a reading costs behind a word that ends as `right` says.
    pub(super) fn of(&self, right: u16, reading: Reading) -> i64 {
        self.cost(right, reading.left) + i64::from(reading.cost)
    }
}
