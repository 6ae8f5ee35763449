//! The arguments of the command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hanok_checkpoint::{Keep, Kind};
use hanok_core::Timestamp;

use crate::{decisions::Sort, failure::Failure};

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
        /// The name of the thread.
        thread: String,
        /// As it was at this position.
        #[arg(long, value_name = "POSITION")]
        at: Option<u64>,
    },
    /// Tells the checkpoints of a thread, newest first, or all its entries.
    History(HistoryArguments),
    /// Tells what was decided on a thread, oldest first: by whom, among what, why, and what came of it.
    ///
    /// Decisions are known by what they are, entries of hanok-agent's `Choice` in a field of any name, and those of its
    /// `ToolSelector`. With `--json` each is a line with the members `choice`, `result` and `total`.
    Decisions(DecisionsArguments),
    /// Lists what the threads of the tenant ask people: questions, approvals, calls in doubt.
    Inbox {
        #[command(flatten)]
        person: Person,
    },
    /// Shows what a thread asks, whole, and what an answer has to fit. What a form marks as secret is left out.
    #[command(name = "asked")]
    Requests {
        /// The name of the thread.
        thread: String,
        /// Show what a form marks as secret, too, and the arguments of a call in doubt.
        #[arg(long)]
        secrets: bool,
    },
    /// Answers a request of a thread, whatever program runs it. Nothing is run: the next run goes on with the answer.
    Answer(AnswerArguments),
    /// Tells what people were asked on a thread and what they decided, oldest first. With `--json` each is a line, which holds the
    /// hash of the one before.
    Audit(AuditArguments),
    /// Tells what changed between two positions of a thread.
    Diff {
        /// The name of the thread.
        thread: String,
        #[command(flatten)]
        positions: Between,
    },
    /// Begins a thread with the state of another.
    Fork {
        /// The name of the thread.
        thread: String,
        #[command(flatten)]
        to: NewName,
        /// As it was at this position. Default: the end.
        #[arg(long, value_name = "POSITION")]
        at: Option<u64>,
        #[command(flatten)]
        doubts: Doubts,
    },
    /// Writes a thread, with all its history and all that is pending, under another name.
    Copy {
        /// The name of the thread.
        thread: String,
        /// The name of the copy; no thread has it yet.
        to: String,
    },
    /// Makes a thread go on from an earlier position; what came after stays in the history.
    Rewind {
        /// The name of the thread.
        thread: String,
        #[command(flatten)]
        to: Earlier,
        #[command(flatten)]
        doubts: Doubts,
    },
    /// Takes a thread from the run that owns it, on whatever host, and says whose it was. Such a run stores nothing more; the
    /// next one finishes its turn.
    Release {
        /// The name of the thread.
        thread: String,
    },
    /// Cuts off the history of a thread before the checkpoints that are to stay.
    Prune {
        /// The name of the thread.
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
    /// Removes a thread, its forks, and theirs. Without `--yes` it lists them, and removes nothing.
    Erase {
        /// The name of the thread.
        thread: String,
        /// Removes the thread alone: its forks keep what they hold of it.
        #[arg(long)]
        keep_forks: bool,
        #[command(flatten)]
        yes: Yes,
    },
    /// Removes a thread alone. Without `--yes` it says which, and removes nothing.
    Delete {
        /// The name of the thread.
        thread: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Reads every record and snapshot of a thread, and tells what is damaged.
    Verify {
        /// The name of the thread.
        #[arg(required_unless_present = "all")]
        thread: Option<String>,
        /// Every thread of the tenant.
        #[arg(long, conflicts_with = "thread")]
        all: bool,
    },
    /// Writes a thread as lines of JSON: all that it holds, so keep them like the store.
    ///
    /// Each line says an entry twice: as JSON, for reading, and under `stored`, which `import` takes in. An edit of the JSON is
    /// not taken in, and one of `stored` is refused.
    Export {
        /// The name of the thread.
        thread: String,
        /// The file, which must not be there. Default: the standard output.
        file: Option<PathBuf>,
    },
    /// Takes in a thread that was exported; under another name it is a copy.
    ///
    /// What is taken in is the `stored` of each line. The rest of a line is for reading: an edit of it changes nothing.
    Import {
        /// The name that it is given; no thread has it yet.
        thread: String,
        /// The lines that `export` wrote.
        file: PathBuf,
    },
    /// Takes threads, as they are, into another SQLite file, whose keys are its own: from a plain store into an encrypted one, and
    /// back. The threads stay here too.
    ///
    /// A thread that is there already is left as it is there, so that a transfer that broke off is begun again. One that a run
    /// owns is refused. `verify --all` there says whether all is whole, `delete` here removes what is no longer needed.
    Transfer(TransferArguments),
    /// Copies the store, as it is at one moment, into a new SQLite file, while others use it.
    Backup {
        /// The new file.
        file: PathBuf,
    },
    /// Writes what is whole of a damaged SQLite file into a new one, and says what was lost of each thread.
    Repair {
        /// The new file.
        file: PathBuf,
    },
    /// Lists the threads whose time is over, of all tenants.
    Expired,
    /// Lists the threads whose run was lost, of all tenants.
    Abandoned,
}

/// A name, by its place or as an option.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct NewName {
    /// The name of the new thread; no thread has it yet.
    #[arg(value_name = "TO")]
    to: Option<String>,
    /// The same as an option.
    #[arg(long = "to", value_name = "NAME")]
    to_option: Option<String>,
}

impl NewName {
    pub(crate) fn name(self) -> String {
        self.to.or(self.to_option).unwrap_or_default()
    }
}

/// A position, by its place or as an option.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Earlier {
    /// The position, as `history` tells it.
    #[arg(value_name = "POSITION")]
    to: Option<u64>,
    /// The same as an option.
    #[arg(long = "to", visible_alias = "at", value_name = "POSITION")]
    to_option: Option<u64>,
}

impl Earlier {
    pub(crate) fn position(self) -> u64 {
        self.to.or(self.to_option).unwrap_or_default()
    }
}

/// Two positions, by their places or as options.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Between {
    /// The earlier position, as `history` tells it.
    #[arg(required_unless_present = "at")]
    before: Option<u64>,
    /// The later one. Default: the end.
    after: Option<u64>,
    /// The earlier position as an option.
    #[arg(long, value_name = "POSITION", conflicts_with_all = ["before", "after"])]
    at: Option<u64>,
    /// The later one as an option.
    #[arg(long, value_name = "POSITION", conflicts_with = "after")]
    to: Option<u64>,
}

impl Between {
    /// The earlier position, and the later one if it is not the end.
    pub(crate) fn positions(self) -> (u64, Option<u64>) {
        (self.before.or(self.at).unwrap_or_default(), self.after.or(self.to))
    }
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// The name of the thread.
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
pub(crate) struct DecisionsArguments {
    /// The name of the thread.
    pub(crate) thread: String,
    /// Only those of this agent.
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only those about this: `intent`, `teams`, `plan`, `tools`, `replan`, `review`; `fallback`, where a model made no choice that
    /// can be used; or `none`, where nothing was chosen.
    #[arg(long, value_parser = Sort::named)]
    pub(crate) kind: Option<Sort>,
    /// Only those in which this tool, team or other option was chosen.
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only those of which something failed.
    #[arg(long, conflicts_with = "succeeded")]
    pub(crate) failed: bool,
    /// Only those of which nothing failed.
    #[arg(long)]
    pub(crate) succeeded: bool,
    /// Only those of at least this confidence, as it was claimed.
    #[arg(long, value_name = "NUMBER", value_parser = confidence)]
    pub(crate) min_confidence: Option<f64>,
    /// Only what was decided then or later.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Only what was decided before then.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Timestamp>,
}

/// A person.
#[derive(Debug, Args)]
pub(crate) struct Person {
    /// The person who answers. Default: the system's user, and the record says so.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A role of the person.
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArguments {
    /// The name of the thread.
    pub(crate) thread: String,
    /// The request: its id, or how that begins, at least 4 characters of it.
    pub(crate) request: String,
    #[command(flatten)]
    pub(crate) decision: AnswerForm,
    #[command(flatten)]
    pub(crate) person: Person,
    /// A key under which the same answer may be given again.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The digest of what was read, as `asked` tells it: an answer to anything else is refused.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) shown: Option<String>,
}

/// An answer, in one of its forms.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct AnswerForm {
    /// The answer as JSON.
    #[arg(value_name = "JSON")]
    value: Option<String>,
    /// Approves a call as it is.
    #[arg(long)]
    approve: bool,
    /// Rejects a call, with words for the model.
    #[arg(long, value_name = "WORDS", num_args = 0..=1, default_missing_value = "")]
    reject: Option<String>,
    /// Has the call made with these arguments, as JSON.
    #[arg(long, value_name = "JSON")]
    edit: Option<String>,
    /// Of a call in doubt: it was made, with this result, as JSON.
    #[arg(long, value_name = "JSON")]
    made: Option<String>,
    /// Of a call in doubt: it was not made, so it is made now.
    #[arg(long)]
    not_made: bool,
    /// Of a call in doubt: it is given up.
    #[arg(long)]
    give_up: bool,
}

impl AnswerForm {
    /// The answer.
    pub(crate) fn json(&self) -> Result<serde_json::Value, Failure> {
        let read = |text: &String| {
            serde_json::from_str::<serde_json::Value>(text)
                .map_err(|error| Failure::NoAnswer(error.into()))
        };
        Ok(match self {
            Self { value: Some(text), .. } => read(text)?,
            Self { reject: Some(words), .. } if words.is_empty() => {
                serde_json::json!({"decision": "reject"})
            }
            Self { reject: Some(words), .. } => {
                serde_json::json!({"decision": "reject", "message": words})
            }
            Self { edit: Some(text), .. } => {
                serde_json::json!({"decision": "edit", "arguments": read(text)?})
            }
            Self { made: Some(text), .. } => serde_json::json!({"made": read(text)?}),
            Self { not_made: true, .. } => "not_made".into(),
            Self { give_up: true, .. } => "give_up".into(),
            _ => serde_json::json!({"decision": "approve"}),
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// The name of the thread.
    pub(crate) thread: String,
    /// Checks the log, or the lines of a file that `--json` wrote earlier against it. HANOK_AUDIT_KEY is the key of the hashes.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub(crate) verify: Option<Option<PathBuf>>,
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
pub(crate) struct TransferArguments {
    /// The file, which is made where there is none.
    pub(crate) file: PathBuf,
    /// The keys of that store, in a file as for `--keys`. Without it what is written there is not encrypted.
    #[arg(long, value_name = "FILE")]
    pub(crate) to_keys: Option<PathBuf>,
    /// The name of a thread.
    #[arg(long, value_name = "THREAD", required_unless_present = "all")]
    pub(crate) thread: Option<String>,
    /// Every thread of the tenant.
    #[arg(long, conflicts_with = "thread")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Yes {
    /// Says that what is removed cannot be brought back.
    #[arg(long)]
    yes: bool,
}

impl Yes {
    pub(crate) fn is_confirmed(&self) -> bool {
        self.yes
    }

    pub(crate) fn confirmed(&self) -> Result<(), Failure> {
        if self.yes { Ok(()) } else { Err(Failure::NotSure) }
    }
}

fn tag(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("a tag is KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn confidence(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or("a confidence is a number like 0.5")
}

fn time(text: &str) -> Result<Timestamp, &'static str> {
    let wrong = "a time is like 2026-01-31T09:00:00Z, after 1970";
    let time = text.parse::<jiff::Timestamp>().or(Err(wrong))?;
    u64::try_from(time.as_millisecond()).map(Timestamp).or(Err(wrong))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::CommandLine;

    #[test]
    fn every_verb_and_argument_is_explained() {
        let command = CommandLine::command();
        for verb in command.get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for argument in verb.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", verb.get_name(), argument.get_id());
            }
        }
    }
}
