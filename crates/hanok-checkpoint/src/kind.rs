//! What kinds of entries there are.

use std::{fmt, str::FromStr};

use crate::Body;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal,)*) => {
        /// The kind of an entry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ $kind,)*
        }

        impl Kind {
            /// All kinds there are.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The kind's name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl Body {
            /// What kind of entry it makes.
            pub fn kind(&self) -> Kind {
                match self {
                    $(kinds!(@pattern $kind) => Kind::$kind,)*
                }
            }
        }
    };
    (@pattern Rewind) => { Self::Rewind };
    (@pattern $kind:ident) => { Self::$kind(_) };
}

kinds! {
    /// A run begins, or goes on.
    Begin = "begin",
    /// A task of a wide super-step is done.
    Write = "write",
    /// A super-step is done.
    Commit = "commit",
    /// Pending writes do not count.
    Void = "void",
    /// A memoised step of a task is done.
    Memo = "memo",
    /// A call that must not be made twice is about to be made.
    Intent = "intent",
    /// A task asks a person.
    Question = "question",
    /// A person answered.
    Answer = "answer",
    /// The thread goes on from an earlier position.
    Rewind = "rewind",
    /// The state was written whole in another schema.
    Rebase = "rebase",
    /// The thread is a fork.
    Origin = "origin",
    /// A run ends.
    End = "end",
    /// A task has failed for the last time.
    Failed = "failed",
    /// The state was edited from outside.
    Edit = "edit",
    /// All that led to the state was cut off.
    Erased = "erased",
    /// All that precedes is copied from another thread.
    Copied = "copied",
    /// The schema of the state has more fields, which hold their defaults.
    Extend = "extend",
    /// An answer does not count: its question is open again.
    Reopen = "reopen",
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no kind of entry has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no kind of entry is called `{0}`", name.escape_debug())]
pub struct UnknownKind {
    /// The name.
    pub name: String,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.iter().copied().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}
