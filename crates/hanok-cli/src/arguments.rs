//! The arguments of the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hanok_checkpoint::{Keep, Kind};
use hanok_core::Timestamp;

use crate::failure::Failure;

/// Looks into the threads of a store, repairs, prunes, erases and moves them.
///
/// It exits with 0 when it did what was asked, 1 when it failed, 2 on wrong usage, 3 when a thread is in use or moved
/// meanwhile, and 4 when something is damaged.
#[derive(Debug, Parser)]
#[command(name = "hanok", version)]
pub(crate) struct CommandLine {
    /// The SQLite file that holds the threads.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) db: Option<PathBuf>,
    /// The PostgreSQL database that holds the threads. HANOK_POSTGRES says it too, and shows no password to others.
    #[cfg(feature = "postgres")]
    #[arg(long, value_name = "URL", global = true, conflicts_with = "db")]
    pub(crate) postgres: Option<String>,
    /// The schema of that database.
    #[cfg(feature = "postgres")]
    #[arg(long, value_name = "NAME", global = true, default_value = "hanok")]
    pub(crate) schema: String,
    /// The keys of an encrypted store: a file with a line for each, its number and 64 hexadecimal digits, first the one that
    /// writes. HANOK_KEYS names it too.
    #[cfg(feature = "encryption")]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) keys: Option<PathBuf>,
    /// Whose threads.
    #[arg(long, value_name = "TENANT", global = true, default_value = "default")]
    pub(crate) tenant: String,
    /// Answers with one JSON object a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Lists the threads of the tenant.
    List {
        /// Only the forks of this thread.
        #[arg(long, value_name = "THREAD")]
        forks_of: Option<String>,
        /// Only those of this status: `done`, `running`, `interrupted`, `in_doubt`, `failed`, `due`, …
        #[arg(long, conflicts_with = "forks_of")]
        status: Option<String>,
    },
    /// Shows the state of a thread's graphs, what is due and what is asked.
    Show {
        thread: String,
        /// As it was at this position.
        #[arg(long, value_name = "POSITION")]
        at: Option<u64>,
    },
    /// Tells the checkpoints of a thread, newest first, or all its entries.
    History(HistoryArguments),
    /// Tells what changed between two positions of a thread.
    Diff {
        thread: String,
        before: u64,
        /// Default: the end.
        after: Option<u64>,
    },
    /// Begins a thread with the state of another.
    Fork {
        thread: String,
        to: String,
        /// As it was at this position.
        #[arg(long, value_name = "POSITION")]
        at: Option<u64>,
        #[command(flatten)]
        doubts: Doubts,
    },
    /// Writes a thread, with all its history and all that is pending, under another name.
    Copy { thread: String, to: String },
    /// Makes a thread go on from an earlier position; what came after stays in the history.
    Rewind {
        thread: String,
        to: u64,
        #[command(flatten)]
        doubts: Doubts,
    },
    /// Takes a thread from the run that owns it, on whatever host, and says whose it was. Such a run stores nothing more; the
    /// next one finishes its turn.
    Release { thread: String },
    /// Cuts off the history of a thread before the checkpoints that are to stay.
    Prune {
        #[arg(required_unless_present = "all")]
        thread: Option<String>,
        /// Every thread of the tenant.
        #[arg(long, conflicts_with = "thread")]
        all: bool,
        #[command(flatten)]
        keep: Retained,
        #[command(flatten)]
        yes: Yes,
    },
    /// Removes a thread, its forks, and theirs.
    Erase {
        thread: String,
        /// Removes the thread alone: its forks keep what they hold of it.
        #[arg(long)]
        keep_forks: bool,
        #[command(flatten)]
        yes: Yes,
    },
    /// Removes a thread alone.
    Delete {
        thread: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Reads every record and snapshot of a thread, and tells what is damaged.
    Verify {
        #[arg(required_unless_present = "all")]
        thread: Option<String>,
        /// Every thread of the tenant.
        #[arg(long, conflicts_with = "thread")]
        all: bool,
    },
    /// Writes a thread as lines of JSON: all that it holds, so keep them like the store.
    Export {
        thread: String,
        /// Default: the standard output.
        file: Option<PathBuf>,
    },
    /// Takes in a thread that was exported; under another name it is a copy.
    Import { thread: String, file: PathBuf },
    /// Copies the store, as it is at one moment, into a new SQLite file, while others use it.
    Backup { file: PathBuf },
    /// Writes what is whole of a damaged SQLite file into a new one, and says what was lost of each thread.
    Repair { file: PathBuf },
    /// Lists the threads whose time is over, of all tenants.
    Expired,
    /// Lists the threads whose run was lost, of all tenants.
    Abandoned,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    pub(crate) thread: String,
    /// Entries instead of checkpoints.
    #[arg(long)]
    pub(crate) entries: bool,
    /// Entries of these kinds only.
    #[arg(long, value_name = "KIND", value_parser = |name: &str| name.parse::<Kind>())]
    pub(crate) kind: Vec<Kind>,
    /// Only what is about this node.
    #[arg(long)]
    pub(crate) node: Option<String>,
    /// Only the graph at this path: its segments, outermost first; none for the thread's own.
    #[arg(long, value_name = "SEGMENT", num_args = 0..)]
    pub(crate) path: Option<Vec<String>>,
    /// Only runs with this tag.
    #[arg(long, value_name = "KEY=VALUE", value_parser = tag)]
    pub(crate) tag: Vec<(String, String)>,
    /// Only what was written then or later.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Only what was written before then.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Timestamp>,
    /// Only what stands before this position.
    #[arg(long, value_name = "POSITION")]
    pub(crate) before: Option<u64>,
    /// At most so many.
    #[arg(long, default_value_t = 100)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Retained {
    /// So many of the newest checkpoints stay.
    #[arg(long, value_name = "COUNT")]
    last: Option<usize>,
    /// The checkpoints since then stay.
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Timestamp>,
}

impl Retained {
    pub(crate) fn keep(&self) -> Keep {
        match (self.last, self.since) {
            (Some(count), _) => Keep::Last(count),
            (None, Some(since)) => Keep::Since(since),
            (None, None) => Keep::Newest,
        }
    }
}

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Doubts {
    /// Even if nobody knows whether a call was made: it may be made twice.
    #[arg(long)]
    pub(crate) discard_doubts: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Yes {
    /// Says that what is removed cannot be brought back.
    #[arg(long)]
    yes: bool,
}

impl Yes {
    pub(crate) fn confirmed(&self) -> Result<(), Failure> {
        if self.yes { Ok(()) } else { Err(Failure::NotSure) }
    }
}

fn tag(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("a tag is KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn time(text: &str) -> Result<Timestamp, &'static str> {
    let wrong = "a time is like 2026-01-31T09:00:00Z, after 1970";
    let time = text.parse::<jiff::Timestamp>().or(Err(wrong))?;
    u64::try_from(time.as_millisecond()).map(Timestamp).or(Err(wrong))
}
