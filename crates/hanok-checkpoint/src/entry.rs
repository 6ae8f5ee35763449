//! What a log says. The vocabulary is closed: a log reads the same in every build.

use std::sync::Arc;

use hanok_core::{
    Changes, Namespace, Position, Reader, RunId, Spent, Stored, StoredError, StoredSchema, TaskId,
    ThreadKey, Timestamp, Writer,
};

use crate::{
    Begin, Frontier, Goto, Outbox, Snapshot,
    begin::{option_frontier, write_option_frontier},
    frontier::{read_texts, texts},
    outbox::{items, write_items},
    run_end::RunEnd,
    wire::{
        id, malformed, namespace, option_str, option_time, small, spent, task, thread, value,
        write_namespace, write_option_str, write_option_time, write_spent, write_thread,
    },
};

/// One entry of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it was written.
    pub at: Timestamp,
    /// Whose it is: the thread's own graph's, or a subgraph's.
    pub namespace: Namespace,
    /// What happened.
    pub body: Body,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// A run begins, or goes on with what an earlier one left.
    Begin(Begin),
    /// A task of a wide super-step is done; what it wrote is pending until a commit names it.
    Write(TaskWrite),
    /// A super-step is done.
    Commit(Commit),
    /// Pending writes do not count: they could not be merged. Their tasks run again.
    Void(Void),
    /// A memoised step of a task is done.
    Memo(Memo),
    /// A call that must not be made twice is about to be made.
    Intent(Intent),
    /// A task asks a person.
    Question(Question),
    /// A person answered.
    Answer(Answer),
    /// The thread goes on from the parent of this entry.
    Rewind,
    /// The state so far, written whole in another schema; no fold crosses it.
    Rebase(Rebase),
    /// The thread is a fork: this is where it comes from, and its state there.
    Origin(Origin),
    /// A run ends.
    End(End),
    /// A task has failed for the last time; its error handler is due.
    Failed(Failed),
    /// The state was edited from outside, between runs.
    Edit(Edit),
    /// The state was written anew and all that led to it was cut off.
    Erased(Erased),
    /// All that precedes is copied from another thread.
    Copied(Copied),
    /// The schema of the state has more fields, which hold their defaults.
    Extend(Extend),
    /// An answer does not count: its question is open again.
    Reopen(Reopen),
}

/// What a task wrote, and where it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskWrite {
    /// The task.
    pub task: TaskId,
    /// Its node.
    pub node: Arc<str>,
    /// What it wrote.
    pub changes: Changes,
    /// Where it goes on.
    pub goto: Vec<Goto>,
    /// What it spent.
    pub spent: Spent,
    /// Items for others, handed over when a commit folds the write.
    pub outbox: Vec<Outbox>,
}

/// A super-step is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The number of the super-step within its turn.
    pub step: u32,
    /// The nodes that ran, in the order of their tasks.
    pub nodes: Vec<Arc<str>>,
    /// The pending writes that count, in the order of their tasks.
    pub folds: Vec<Position>,
    /// What else was written. A field that these mention counts as they say, not as the folded writes do.
    pub changes: Changes,
    /// What is due next.
    pub frontier: Frontier,
    /// What the step spent.
    pub spent: Spent,
    /// Items for others, handed over at least once.
    pub outbox: Vec<Outbox>,
}

/// Pending writes that do not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Void {
    /// Where they stand.
    pub writes: Vec<Position>,
    /// The field they could not be merged into; empty if it was no field.
    pub field: String,
    /// Why not.
    pub reason: String,
}

/// A memoised step is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Memo {
    /// The task it belongs to.
    pub task: TaskId,
    /// The step's name within the task.
    pub name: String,
    /// What it gave.
    pub value: Stored,
    /// What it spent.
    pub spent: Spent,
}

/// A call that must not be made twice is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// The task that makes it.
    pub task: TaskId,
    /// The call's idempotency key.
    pub key: String,
    /// The tool.
    pub tool: String,
    /// What the tool is given, as JSON text.
    pub arguments: String,
    /// Names the question whether the call was made, should nobody know.
    pub id: String,
    /// The node that makes it.
    pub node: String,
    /// What becomes of the task should nobody know.
    pub doubt: Doubt,
}

/// What becomes of a task that meant to make a call and left no result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Doubt {
    /// A person is asked whether the call was made.
    #[default]
    Ask,
    /// The call counts as not made, and is made again.
    Repeat,
    /// The call counts as failed, and is not made again.
    GiveUp,
}

/// A task asks a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Names the question within the thread.
    pub id: String,
    /// The task that asks.
    pub task: TaskId,
    /// Its node.
    pub node: String,
    /// What is shown.
    pub payload: Stored,
    /// The JSON Schema that an answer has to fit, as JSON text.
    pub schema: Option<String>,
    /// Until when an answer counts.
    pub deadline: Option<Timestamp>,
}

/// A task has failed for the last time.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// The task.
    pub task: TaskId,
    /// Its node.
    pub node: String,
    /// What kind of failure it is; the engine's own word.
    pub kind: String,
    /// The error and what caused it, for people.
    pub message: String,
    /// How often the node was run.
    pub attempts: u32,
    /// What it spent.
    pub spent: Spent,
}

/// The state was edited from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The node in whose place it was edited, if it was in one's.
    pub node: Option<String>,
    /// What was written.
    pub changes: Changes,
    /// What is due now, `None` if that stays as it was.
    pub frontier: Option<Frontier>,
}

/// The state was written anew and all that led to it was cut off: it says that it happened, not what went.
#[derive(Debug, Clone, PartialEq)]
pub struct Erased {
    /// Who did so, as they say.
    pub by: String,
}

/// All that precedes is copied from another thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Copied {
    /// That thread.
    pub from: ThreadKey,
}

/// A person answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question.
    pub id: String,
    /// What was said.
    pub value: Stored,
}

/// An answer does not count.
#[derive(Debug, Clone, PartialEq)]
pub struct Reopen {
    /// The question, which is open again.
    pub id: String,
    /// Why the answer does not count; for people.
    pub reason: String,
}

/// The state so far, written whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebase {
    /// The schema it is written in.
    pub schema: StoredSchema,
    /// The fields, as one map.
    pub fields: Stored,
    /// What the pending writes at these positions are in this schema. A pending write that is not named stays as it is.
    pub writes: Vec<(Position, Changes)>,
    /// What a subgraph has added to the state that it shares with its caller, in this schema; `None` if that stays as it is.
    pub added: Option<Vec<Changes>>,
}

/// The schema of the state has more fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Extend {
    /// The schema with the fields.
    pub schema: StoredSchema,
    /// What they hold: the defaults of the build that knew them first.
    pub values: Changes,
}

/// Where a fork comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// The thread it was forked from, of the same tenant.
    pub thread: String,
    /// The position there.
    pub position: Position,
    /// The state there.
    pub snapshot: Snapshot,
}

/// A run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub outcome: RunEnd,
    /// What to know about it; for people.
    pub detail: String,
    /// What was spent and no other entry says.
    pub spent: Spent,
}

/// The numbers by which bodies are stored. Numbers are added, never reused.
mod code {
    pub(super) const BEGIN: u64 = 0;
    pub(super) const WRITE: u64 = 1;
    pub(super) const COMMIT: u64 = 2;
    pub(super) const VOID: u64 = 3;
    pub(super) const MEMO: u64 = 4;
    pub(super) const INTENT: u64 = 5;
    pub(super) const QUESTION: u64 = 6;
    pub(super) const ANSWER: u64 = 7;
    pub(super) const REWIND: u64 = 8;
    pub(super) const REBASE: u64 = 9;
    pub(super) const ORIGIN: u64 = 10;
    pub(super) const END: u64 = 11;
    pub(super) const FAILED: u64 = 12;
    pub(super) const EDIT: u64 = 13;
    pub(super) const ERASED: u64 = 14;
    pub(super) const COPIED: u64 = 15;
    pub(super) const EXTEND: u64 = 16;
    pub(super) const REOPEN: u64 = 17;
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
        write_namespace(to, &self.namespace);
        self.body.write(to);
    }

    /// Reads what [`Entry::to_bytes`] wrote.
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
        let at = Timestamp(reader.uint()?);
        let namespace = namespace(&mut reader)?;
        let body = Body::read(code, &mut reader)?;
        if !reader.is_at_end() {
            return malformed(&reader, "the end of the entry");
        }
        Ok(Self { at, namespace, body })
    }
}

impl Body {
    fn code(&self) -> u64 {
        match self {
            Self::Begin(_) => code::BEGIN,
            Self::Write(_) => code::WRITE,
            Self::Commit(_) => code::COMMIT,
            Self::Void(_) => code::VOID,
            Self::Memo(_) => code::MEMO,
            Self::Intent(_) => code::INTENT,
            Self::Question(_) => code::QUESTION,
            Self::Answer(_) => code::ANSWER,
            Self::Rewind => code::REWIND,
            Self::Rebase(_) => code::REBASE,
            Self::Origin(_) => code::ORIGIN,
            Self::End(_) => code::END,
            Self::Failed(_) => code::FAILED,
            Self::Edit(_) => code::EDIT,
            Self::Erased(_) => code::ERASED,
            Self::Copied(_) => code::COPIED,
            Self::Extend(_) => code::EXTEND,
            Self::Reopen(_) => code::REOPEN,
        }
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Begin(begin) => begin.write(to),
            Self::Write(write) => write.write(to),
            Self::Commit(commit) => commit.write(to),
            Self::Void(void) => {
                positions(to.array(3), &void.writes);
                to.str(&void.field).str(&void.reason);
            }
            Self::Memo(memo) => {
                to.array(4).bin(memo.task.as_bytes()).str(&memo.name).raw(memo.value.as_bytes());
                write_spent(to, memo.spent);
            }
            Self::Intent(intent) => intent.write(to),
            Self::Question(question) => question.write(to),
            Self::Answer(answer) => {
                to.array(2).str(&answer.id).raw(answer.value.as_bytes());
            }
            Self::Rewind => {
                to.nil();
            }
            Self::Rebase(rebase) => rebase.write(to),
            Self::Origin(origin) => {
                to.array(3).str(&origin.thread).uint(origin.position.0);
                to.bin(&origin.snapshot.to_bytes());
            }
            Self::End(end) => {
                to.array(4)
                    .bin(&end.run.0.to_be_bytes())
                    .str(end.outcome.as_str())
                    .str(&end.detail);
                write_spent(to, end.spent);
            }
            Self::Failed(failed) => failed.write(to),
            Self::Edit(edit) => edit.write(to),
            Self::Erased(erased) => {
                to.array(1).str(&erased.by);
            }
            Self::Copied(copied) => write_thread(to.array(2), &copied.from),
            Self::Extend(extend) => {
                extend.schema.write(to.array(2));
                extend.values.write(to);
            }
            Self::Reopen(reopen) => {
                to.array(2).str(&reopen.id).str(&reopen.reason);
            }
        }
    }

    fn read(code: u64, from: &mut Reader<'_>) -> Result<Self, StoredError> {
        if code == code::REWIND {
            return from.nil().map(|()| Self::Rewind);
        }
        let mut ahead = from.clone();
        let parts = ahead.array()?;
        let body = match (code, parts) {
            (code::BEGIN, 11) => Self::Begin(Begin::read(from)?),
            (code::WRITE, 6) => Self::Write(TaskWrite::read(from)?),
            (code::COMMIT, 7) => Self::Commit(Commit::read(from)?),
            (code::VOID, 3) => {
                from.array()?;
                Self::Void(Void {
                    writes: read_positions(from)?,
                    field: from.str()?.to_owned(),
                    reason: from.str()?.to_owned(),
                })
            }
            (code::MEMO, 4) => {
                from.array()?;
                Self::Memo(Memo {
                    task: task(from)?,
                    name: from.str()?.to_owned(),
                    value: value(from)?,
                    spent: spent(from)?,
                })
            }
            (code::INTENT, 7) => Self::Intent(Intent::read(from)?),
            (code::QUESTION, 6) => Self::Question(Question::read(from)?),
            (code::ANSWER, 2) => {
                from.array()?;
                Self::Answer(Answer { id: from.str()?.to_owned(), value: value(from)? })
            }
            (code::REBASE, 4) => Self::Rebase(Rebase::read(from)?),
            (code::ORIGIN, 3) => {
                from.array()?;
                Self::Origin(Origin {
                    thread: from.str()?.to_owned(),
                    position: Position(from.uint()?),
                    snapshot: Snapshot::from_bytes(from.bin()?)?,
                })
            }
            (code::END, 4) => {
                from.array()?;
                Self::End(End {
                    run: RunId(id(from)?),
                    outcome: from.str()?.into(),
                    detail: from.str()?.to_owned(),
                    spent: spent(from)?,
                })
            }
            (code::FAILED, 6) => Self::Failed(Failed::read(from)?),
            (code::EDIT, 3) => Self::Edit(Edit::read(from)?),
            (code::ERASED, 1) => {
                from.array()?;
                Self::Erased(Erased { by: from.str()?.to_owned() })
            }
            (code::COPIED, 2) => {
                from.array()?;
                Self::Copied(Copied { from: thread(from)? })
            }
            (code::EXTEND, 2) => {
                from.array()?;
                Self::Extend(Extend {
                    schema: StoredSchema::read(from)?,
                    values: Changes::read(from)?,
                })
            }
            (code::REOPEN, 2) => {
                from.array()?;
                Self::Reopen(Reopen { id: from.str()?.to_owned(), reason: from.str()?.to_owned() })
            }
            _ => return malformed(from, "an entry of this build"),
        };
        Ok(body)
    }
}

impl TaskWrite {
    fn write(&self, to: &mut Writer) {
        to.array(6).bin(self.task.as_bytes()).str(&self.node);
        self.changes.write(to);
        to.array(self.goto.len());
        self.goto.iter().for_each(|goto| goto.write(to));
        write_spent(to, self.spent);
        write_items(to, &self.outbox);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            task: task(from)?,
            node: from.str()?.into(),
            changes: Changes::read(from)?,
            goto: (0..from.array()?).map(|_| Goto::read(from)).collect::<Result<_, _>>()?,
            spent: spent(from)?,
            outbox: items(from)?,
        })
    }
}

impl Commit {
    fn write(&self, to: &mut Writer) {
        to.array(7).uint(u64::from(self.step));
        texts(to, &self.nodes);
        positions(to, &self.folds);
        self.changes.write(to);
        self.frontier.write(to);
        write_spent(to, self.spent);
        write_items(to, &self.outbox);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            step: small(from)?,
            nodes: read_texts(from)?,
            folds: read_positions(from)?,
            changes: Changes::read(from)?,
            frontier: Frontier::read(from)?,
            spent: spent(from)?,
            outbox: items(from)?,
        })
    }
}

impl Rebase {
    fn write(&self, to: &mut Writer) {
        self.schema.write(to.array(4));
        to.raw(self.fields.as_bytes()).array(self.writes.len());
        for (position, changes) in &self.writes {
            changes.write(to.array(2).uint(position.0));
        }
        match &self.added {
            Some(added) => {
                to.array(added.len());
                added.iter().for_each(|changes| changes.write(to));
            }
            None => {
                to.nil();
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            schema: StoredSchema::read(from)?,
            fields: value(from)?,
            writes: (0..from.array()?)
                .map(|_| {
                    from.array()?;
                    Ok((Position(from.uint()?), Changes::read(from)?))
                })
                .collect::<Result<_, StoredError>>()?,
            added: if from.is_nil() {
                from.nil()?;
                None
            } else {
                let added = (0..from.array()?).map(|_| Changes::read(from));
                Some(added.collect::<Result<_, _>>()?)
            },
        })
    }
}

impl Intent {
    fn write(&self, to: &mut Writer) {
        to.array(7)
            .bin(self.task.as_bytes())
            .str(&self.key)
            .str(&self.tool)
            .str(&self.arguments)
            .str(&self.id)
            .str(&self.node)
            .uint(match self.doubt {
                Doubt::Ask => 0,
                Doubt::Repeat => 1,
                Doubt::GiveUp => 2,
            });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            task: task(from)?,
            key: from.str()?.to_owned(),
            tool: from.str()?.to_owned(),
            arguments: from.str()?.to_owned(),
            id: from.str()?.to_owned(),
            node: from.str()?.to_owned(),
            doubt: match from.uint()? {
                0 => Doubt::Ask,
                1 => Doubt::Repeat,
                2 => Doubt::GiveUp,
                _ => return malformed(from, "what becomes of a doubt"),
            },
        })
    }
}

impl Question {
    fn write(&self, to: &mut Writer) {
        to.array(6)
            .str(&self.id)
            .bin(self.task.as_bytes())
            .str(&self.node)
            .raw(self.payload.as_bytes());
        write_option_str(to, self.schema.as_deref());
        write_option_time(to, self.deadline);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            id: from.str()?.to_owned(),
            task: task(from)?,
            node: from.str()?.to_owned(),
            payload: value(from)?,
            schema: option_str(from)?,
            deadline: option_time(from)?,
        })
    }
}

impl Failed {
    fn write(&self, to: &mut Writer) {
        to.array(6)
            .bin(self.task.as_bytes())
            .str(&self.node)
            .str(&self.kind)
            .str(&self.message)
            .uint(u64::from(self.attempts));
        write_spent(to, self.spent);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            task: task(from)?,
            node: from.str()?.to_owned(),
            kind: from.str()?.to_owned(),
            message: from.str()?.to_owned(),
            attempts: small(from)?,
            spent: spent(from)?,
        })
    }
}

impl Edit {
    fn write(&self, to: &mut Writer) {
        write_option_str(to.array(3), self.node.as_deref());
        self.changes.write(to);
        write_option_frontier(to, self.frontier.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            node: option_str(from)?,
            changes: Changes::read(from)?,
            frontier: option_frontier(from)?,
        })
    }
}

fn positions(to: &mut Writer, positions: &[Position]) {
    to.array(positions.len());
    positions.iter().for_each(|position| {
        to.uint(position.0);
    });
}

fn read_positions(from: &mut Reader<'_>) -> Result<Vec<Position>, StoredError> {
    (0..from.array()?).map(|_| from.uint().map(Position)).collect()
}
