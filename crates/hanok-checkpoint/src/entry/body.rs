//! Entries of a log. The vocabulary is closed: a log reads the same in every build.

use std::{fmt, str::FromStr};

use hanok_core::{Namespace, Reader, StoredError, Timestamp, Writer};

use crate::{
    entry::run::{Begin, End},
    entry::snapshot::Origin,
    entry::state::{Copied, Edit, Erased, Extend, Rebase, Rewind},
    entry::task::{Answer, Commit, Failed, Intent, Memo, Question, Reopen, TaskWrite, Void},
    wire::{Wire, malformed},
};

/// One entry of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it was written.
    pub at: Timestamp,
    /// Whose it is: the thread's own graph's, or a subgraph's.
    pub namespace: Namespace,
    /// The event.
    pub body: Body,
}

/// Declares the bodies: the number by which one is stored, and the name of its kind. Numbers are added, never reused.
macro_rules! bodies {
    ($($(#[doc = $doc:literal])+ $kind:ident($record:ident) = $code:literal, $name:literal;)+) => {
        /// The event.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Body {
            $($(#[doc = $doc])+ $kind($record),)+
        }

        /// The kind of an entry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl Kind {
            /// All kinds there are.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The kind's name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }

        impl Body {
            /// The kind of entry that it makes.
            pub fn kind(&self) -> Kind {
                match self {
                    $(Self::$kind { .. } => Kind::$kind,)+
                }
            }

            fn code(&self) -> u64 {
                match self {
                    $(Self::$kind { .. } => $code,)+
                }
            }

            fn write(&self, to: &mut Writer) {
                match self {
                    $(Self::$kind(record) => <$record as Wire>::write(record, to),)+
                }
            }

            fn read(code: u64, from: &mut Reader<'_>) -> Result<Self, StoredError> {
                // Nothing, or the person who went back.
                if code == Self::Rewind(Rewind::default()).code() {
                    return Rewind::read(from).map(Self::Rewind);
                }
                let fields = from.clone().array()?;
                match code {
                    $($code if $record::FIELDS.contains(&fields) => {
                        <$record as Wire>::read(from).map(Self::$kind)
                    })+
                    _ => malformed(from, "an entry of this build"),
                }
            }
        }
    };
}

bodies! {
    /// A run begins, or goes on with what an earlier one left.
    Begin(Begin) = 0, "begin";
    /// A task of a wide super-step is done; what it wrote is pending until a commit names it.
    Write(TaskWrite) = 1, "write";
    /// A super-step is done.
    Commit(Commit) = 2, "commit";
    /// Pending writes do not count: they could not be merged. Their tasks run again.
    Void(Void) = 3, "void";
    /// A memoised step of a task is done.
    Memo(Memo) = 4, "memo";
    /// A call that must not be made twice is about to be made.
    Intent(Intent) = 5, "intent";
    /// A task asks a person.
    Question(Question) = 6, "question";
    /// A person answered.
    Answer(Answer) = 7, "answer";
    /// The thread goes on from the parent of this entry.
    Rewind(Rewind) = 8, "rewind";
    /// The state so far, written whole in another schema; no fold crosses it.
    Rebase(Rebase) = 9, "rebase";
    /// The thread is a fork: this is where it comes from, and its state there.
    Origin(Origin) = 10, "origin";
    /// A run ends.
    End(End) = 11, "end";
    /// A task has failed for the last time; its error handler is due.
    Failed(Failed) = 12, "failed";
    /// The state was edited from outside, between runs.
    Edit(Edit) = 13, "edit";
    /// The state was written anew and all that led to it was cut off.
    Erased(Erased) = 14, "erased";
    /// All that precedes is copied from another thread.
    Copied(Copied) = 15, "copied";
    /// The schema of the state has more fields, which hold their defaults.
    Extend(Extend) = 16, "extend";
    /// An answer does not count: its question is open again.
    Reopen(Reopen) = 17, "reopen";
    /// An answer came after the deadline of its question. It decides nothing.
    Late(Answer) = 18, "late";
}

impl Entry {
    /// The entry as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        writer.into_bytes()
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        to.array(4).uint(self.body.code()).uint(self.at.0);
        self.namespace.write(to);
        self.body.write(to);
    }

    /// Reads what [`Entry::to_bytes`] wrote.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Namespace, Timestamp};
    /// let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Rewind(Rewind::default()) };
    /// assert_eq!(Entry::from_bytes(&entry.to_bytes())?, entry);
    /// assert!(Entry::from_bytes(b"something else").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != 4 {
            return malformed(&reader, "the four parts of an entry");
        }
        let code = reader.uint()?;
        let at = Timestamp::read(&mut reader)?;
        let namespace = Namespace::read(&mut reader)?;
        let body = Body::read(code, &mut reader)?;
        if !reader.is_at_end() {
            return malformed(&reader, "the end of the entry");
        }
        Ok(Self { at, namespace, body })
    }
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
        let kind = Self::ALL.iter().copied().find(|kind| kind.as_str() == name);
        kind.ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}
