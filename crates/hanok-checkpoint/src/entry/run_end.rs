//! The end of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wire::wire;

macro_rules! run_ends {
    ($($(#[doc = $doc:literal])+ $end:ident = $name:literal,)*) => {
        /// The end of a run, as the log says it: stored as a text, which it is as JSON too.
        ///
        /// ```
        /// use hanok_checkpoint::RunEnd;
        ///
        /// assert_eq!(RunEnd::from("in_doubt"), RunEnd::InDoubt);
        /// assert_eq!(RunEnd::InDoubt.as_str(), "in_doubt");
        /// assert_eq!(RunEnd::from("of a newer build").to_string(), "of a newer build");
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum RunEnd {
            $($(#[doc = $doc])+ $end,)*
            /// Another end, which a newer build wrote. [`RunEnd::from`] makes none of a text that this build knows.
            Other(String),
        }

        impl RunEnd {
            /// The text that is stored.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$end => $name,)*
                    Self::Other(name) => name,
                }
            }
        }

        impl From<&str> for RunEnd {
            fn from(name: &str) -> Self {
                match name {
                    $($name => Self::$end,)*
                    name => Self::Other(name.to_owned()),
                }
            }
        }
    };
}

run_ends! {
    /// The turn is over.
    Done = "done",
    /// An error ended it.
    Failed = "failed",
    /// It was asked to end before its turn was over.
    Drained = "drained",
    /// People are asked.
    Interrupted = "interrupted",
    /// Nobody knows whether calls were made.
    InDoubt = "in_doubt",
    /// It stopped at a breakpoint.
    Breakpoint = "breakpoint",
    /// It reached a limit.
    Limit = "limit",
    /// The thread is poisoned: runs of it were lost again and again.
    Poisoned = "poisoned",
    /// Its caller cancelled it.
    Cancelled = "cancelled",
}

wire! {
    RunEnd: |end, to| to.str(end.as_str()), |from| from.str().map(Self::from);
}

impl From<String> for RunEnd {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<RunEnd> for String {
    fn from(end: RunEnd) -> Self {
        end.as_str().to_owned()
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<str> for RunEnd {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for RunEnd {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}
