//! A finding of the house: a fault of a crate, which may be one of its debts.

use std::fmt;

use crate::fault::Fault;

/// The checks whose findings can be a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    Circles,
    Length,
    Tuples,
    Upward,
    Words,
}

impl Check {
    pub(super) const ALL: [Self; 5] =
        [Self::Circles, Self::Length, Self::Tuples, Self::Upward, Self::Words];

    /// The things that a debt counts.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Circles => "files in circles",
            Self::Length => "long files",
            Self::Tuples => "tuple patterns as parameters",
            Self::Upward => "imports of a room above",
            Self::Words => "refused words as names",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Circles => "circles",
            Self::Length => "length",
            Self::Tuples => "tuples",
            Self::Upward => "upward",
            Self::Words => "words",
        })
    }
}

/// A fault of a crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) package: String,
    pub(super) check: Check,
    /// The number that it adds to a debt: the files of a circle, else one.
    pub(super) weight: usize,
    pub(super) fault: Fault,
}

impl Finding {
    pub(super) fn new(package: &str, check: Check, fault: Fault) -> Self {
        Self { package: package.to_owned(), check, weight: 1, fault }
    }
}
