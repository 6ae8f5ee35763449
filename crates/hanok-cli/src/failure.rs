//! The reasons why the command did not do its work.

use std::io;

use hanok_agent::AuditFault;
use hanok_checkpoint::{CheckpointError, ImportError};
use hanok_core::{BoxError, InvalidName};
use hanok_graph::RunError;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("say which store: `--db FILE`{}", if cfg!(feature = "postgres") { " or `--postgres URL`" } else { "" })]
    NoStore,
    #[error("there is no file {0}")]
    NoFile(String),
    #[cfg_attr(
        not(feature = "encryption"),
        expect(dead_code, reason = "only encrypted stores have keys")
    )]
    #[error("the keys in {0}")]
    Keys(String, #[source] io::Error),
    #[cfg_attr(
        not(feature = "encryption"),
        expect(dead_code, reason = "only encrypted stores have keys")
    )]
    #[error("line {0} of the keys is no number and 64 hexadecimal digits")]
    NoKey(usize),
    #[cfg_attr(
        not(feature = "encryption"),
        expect(dead_code, reason = "only encrypted stores have keys")
    )]
    #[error("the file of keys holds none")]
    NoKeys,
    #[error("only a SQLite file (`--db FILE`) is copied; PostgreSQL has `pg_dump`")]
    NoBackup,
    #[error("thread `{0}` moved while it was taken: do this again when nobody runs it")]
    Moved(String),
    #[error("there is no thread `{0}`")]
    NoThread(String),
    #[error("what is removed cannot be brought back: say `--yes`")]
    NotSure,
    #[error("not a name")]
    Name(#[from] InvalidName),
    #[error(
        "nobody knows whether thread `{0}` has called `{1}`: settle that first, or say `--discard-doubts`"
    )]
    InDoubt(String, String),
    #[error("`{0}` names no request: write at least {1} characters of its id, which `asked` lists")]
    ShortRequest(String, usize),
    #[error("several requests begin with `{0}`: {1}")]
    ManyRequests(String, String),
    #[error("the answer is no JSON")]
    NoAnswer(#[source] BoxError),
    #[error("the answer was not taken: {0}")]
    Refused(#[source] Box<RunError>),
    #[error("line {0} is no record of an audit: {1}")]
    NoRecord(usize, String),
    #[error("the audit")]
    Audit(#[source] AuditFault),
    #[error("record {0} (position {1}) is not as the log has it now")]
    OtherAudit(usize, u64),
    #[error("{0} of {1} threads are damaged")]
    Damaged(usize, usize),
    #[error("the store")]
    Store(#[from] CheckpointError),
    #[error("the file is damaged: `hanok repair NEW` writes what is whole into a new file")]
    Repair(#[source] CheckpointError),
    #[error("the file is damaged: `hanok repair NEW` writes what is whole into a new file")]
    Pages,
    #[error("the lines")]
    Import(#[source] ImportError),
    #[error("the file or the output")]
    Io(#[from] io::Error),
}

hanok_core::error_codes! {
    Failure {
        "HNK-301": Self::NoStore,
        "HNK-302": Self::NoFile(_),
        "HNK-303": Self::Keys(..) | Self::NoKey(_) | Self::NoKeys,
        "HNK-304": Self::NoBackup,
        "HNK-305": Self::NoThread(_),
        "HNK-306": Self::NotSure,
        "HNK-307": Self::Name(_),
        "HNK-308": Self::InDoubt(..),
        "HNK-309": Self::Damaged(..),
        "HNK-310": Self::Repair(_) | Self::Pages,
        "HNK-311": Self::Import(_),
        "HNK-312": Self::Io(_),
        "HNK-313": Self::ManyRequests(..) | Self::ShortRequest(..),
        "HNK-314": Self::NoAnswer(_),
        "HNK-316": Self::Moved(_),
        "HNK-315": Self::NoRecord(..) | Self::Audit(_) | Self::OtherAudit(..),
    }
    of {
        Self::Store(error) => error,
        Self::Refused(error) => error,
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Checkpoint(error) => Self::Store(error),
            error => Self::Import(error),
        }
    }
}

impl Failure {
    /// The failure to open a store, with what can be done where its pages are damaged.
    pub(crate) fn of(self, is_file: bool) -> Self {
        match self {
            Self::Store(error) if is_file && hanok_sqlite::Sqlite::is_damage(&error) => {
                Self::Repair(error)
            }
            other => other,
        }
    }

    /// The code that the command exits with.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::NoKey(_) | Self::NoKeys => 2,
            Self::Keys(..) => 1,
            Self::NoStore | Self::NoBackup | Self::NotSure | Self::Name(_) => 2,
            Self::InDoubt(..) | Self::Moved(_) => 3,
            Self::ManyRequests(..) | Self::ShortRequest(..) | Self::NoAnswer(_) => 2,
            Self::Refused(error) => match **error {
                RunError::Conflict { .. } | RunError::AlreadyAnswered(_) | RunError::Stale(_) => 3,
                RunError::WrongAnswer { .. } | RunError::NoSuchRequest(_) => 2,
                _ => 1,
            },
            Self::NoRecord(..) | Self::Audit(_) | Self::OtherAudit(..) => 4,
            Self::Damaged(..) | Self::Repair(_) | Self::Pages => 4,
            Self::Store(error) => match error {
                CheckpointError::Conflict { .. } | CheckpointError::Fenced { .. } => 3,
                CheckpointError::NoSuchPosition { .. } | CheckpointError::ThreadExists(_) => 2,
                CheckpointError::Corrupt { .. } => 4,
                _ => 1,
            },
            Self::NoFile(_) | Self::NoThread(_) | Self::Import(_) | Self::Io(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Failure;

    #[test]
    fn the_guide_has_a_row_for_every_code_of_the_command() {
        let guide = include_str!("../../../docs/guides/errors.md");
        let rows = guide.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let rows: Vec<_> = rows.filter(|(code, _)| code.starts_with("HNK-3")).collect();
        let told: BTreeSet<_> = rows.iter().map(|(code, _)| *code).collect();
        assert_eq!(told, Failure::CODES.iter().copied().collect());
        assert_eq!(rows.len(), Failure::CODES.len(), "no code twice");
    }
}
