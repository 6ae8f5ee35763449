//! Records of the tasks of a super-step.

use std::sync::Arc;

use hanok_core::{Answerer, Audience, Changes, Position, Spent, Stored, TaskId, Timestamp};

use crate::{
    entry::frontier::{Frontier, Goto},
    entry::outbox::Outbox,
    wire::{malformed, record, wire},
};

record! {
    /// The write of a task, and where it goes on.
    TaskWrite {
        /// The task.
        task: TaskId,
        /// Its node.
        node: Arc<str>,
        /// The changes.
        changes: Changes,
        /// The targets at which it goes on.
        goto: Vec<Goto>,
        /// The spending.
        spent: Spent,
        /// Items for others, handed over when a commit folds the write.
        outbox: Vec<Outbox>,
    }
}

record! {
    /// A super-step is done.
    Commit {
        /// The number of the super-step within its turn.
        step: u32,
        /// The nodes that ran, in the order of their tasks.
        nodes: Vec<Arc<str>>,
        /// The pending writes that count, in the order of their tasks.
        folds: Vec<Position>,
        /// Other changes. A field that these mention counts as they say, not as the folded writes do.
        changes: Changes,
        /// The tasks that are due next.
        frontier: Frontier,
        /// The spending of the step.
        spent: Spent,
        /// Items for others, handed over at least once.
        outbox: Vec<Outbox>,
    }
}

record! {
    /// Pending writes that do not count.
    Void {
        /// The positions.
        writes: Vec<Position>,
        /// The field they could not be merged into; empty if it was no field.
        field: String,
        /// Why not.
        reason: String,
    }
}

record! {
    /// A memoised step is done.
    Memo {
        /// The task it belongs to.
        task: TaskId,
        /// The step's name within the task.
        name: String,
        /// The result.
        value: Stored,
        /// The spending.
        spent: Spent,
    }
}

record! {
    /// A call that must not be made twice is about to be made.
    Intent {
        /// The task that makes it.
        task: TaskId,
        /// The call's idempotency key.
        key: String,
        /// The tool.
        tool: String,
        /// The arguments of the tool, as JSON text.
        arguments: String,
        /// Names the question whether the call was made, should nobody know.
        id: String,
        /// The node that makes it.
        node: String,
        /// The fate of the task should nobody know.
        doubt: Doubt,
        /// True once the call was begun and has a note, from which it goes on: nobody is asked about it meanwhile.
        noted: bool,
    }
}

impl Intent {
    /// Checks whether a person is to be asked about the call, should its task be over without a result.
    pub fn asks(&self) -> bool {
        self.doubt == Doubt::Ask && !self.noted
    }

    /// Checks whether whoever runs the task again makes the call again: it goes on from its note, or may be repeated.
    pub fn repeats(&self) -> bool {
        self.doubt == Doubt::Repeat || self.noted
    }
}

/// The fate of a task that meant to make a call and left no result.
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

wire! {
    Doubt: |doubt, to| to.uint(match doubt {
        Doubt::Ask => 0,
        Doubt::Repeat => 1,
        Doubt::GiveUp => 2,
    }),
    |from| match from.uint()? {
        0 => Ok(Self::Ask),
        1 => Ok(Self::Repeat),
        2 => Ok(Self::GiveUp),
        _ => malformed(from, "what becomes of a doubt"),
    };
}

record! {
    /// A task has failed for the last time.
    Failed {
        /// The task.
        task: TaskId,
        /// Its node.
        node: String,
        /// The kind of failure; the engine's own word.
        kind: String,
        /// The error and what caused it, for people.
        message: String,
        /// The number of times that the node was run.
        attempts: u32,
        /// The spending.
        spent: Spent,
    }
}

record! {
    /// A task asks a person.
    Question {
        /// Names the question within the thread.
        id: String,
        /// The task that asks.
        task: TaskId,
        /// Its node.
        node: String,
        /// The payload that is shown.
        payload: Stored,
        /// The JSON Schema that an answer has to fit, as JSON text.
        schema: Option<String>,
        /// Until when an answer counts.
        deadline: Option<Timestamp>,
        ;
        /// The people who may answer. Nothing is everybody.
        audience: Option<Audience>,
    }
}

record! {
    /// A person answered.
    Answer {
        /// The question.
        id: String,
        /// The answer.
        value: Stored,
        ;
        /// The person who gave it, if they are known.
        by: Option<Answerer>,
        /// The key under which whoever passed it on may pass it on again.
        key: Option<String>,
    }
}

record! {
    /// An answer does not count.
    Reopen {
        /// The question, which is open again.
        id: String,
        /// Why the answer does not count; for people.
        reason: String,
    }
}
