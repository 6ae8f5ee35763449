//! Quotation marks that were found to have no end, so that it is not looked for again and again.

use super::Marks;

/// What has no end before a byte.
#[derive(Debug, Clone, Default)]
pub(super) struct Barren(Vec<(Kind, usize)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The quotation mark at this place.
    Quote(u32),
    /// A run of so many backticks.
    Run(usize),
}

fn kinds(marks: Marks, runs: &[(usize, Marks)]) -> impl Iterator<Item = Kind> + '_ {
    let quotes = (0..Marks::BITS).filter(move |at| marks & (1 << at) != 0).map(Kind::Quote);
    quotes.chain(runs.iter().map(|(len, _)| Kind::Run(*len)))
}

impl Barren {
    /// Whether something of this behind byte `at` may have an end.
    pub(super) fn may_end(&self, at: usize, marks: Marks, runs: &[(usize, Marks)]) -> bool {
        let is_barren = |kind: Kind| self.0.iter().any(|(of, to)| *of == kind && at < *to);
        self.0.is_empty() || !kinds(marks, runs).all(is_barren)
    }

    /// Notes that nothing of this has an end before byte `to`.
    pub(super) fn note(&mut self, to: usize, marks: Marks, runs: &[(usize, Marks)]) {
        for kind in kinds(marks, runs) {
            match self.0.iter_mut().find(|(of, _)| *of == kind) {
                Some((_, before)) => *before = to.max(*before),
                None => self.0.push((kind, to)),
            }
        }
    }
}
