//! Records of what happens to a thread as a whole: its state is edited, written anew, erased or copied.

use hanok_core::{Answerer, Changes, Position, Stored, StoredSchema, ThreadKey};

use crate::{
    entry::frontier::Frontier,
    life::Life,
    wire::{Wire, record, wire},
};

record! {
    /// The state was edited from outside.
    #[derive(Default)]
    Edit {
        /// The node in whose place it was edited, if it was in one's.
        node: Option<String>,
        /// The writes.
        changes: Changes,
        /// The tasks that are due now, `None` if that stays as it was.
        frontier: Option<Frontier>,
        ;
        /// The person who did so, if they are known.
        by: Option<Answerer>,
    }
}

/// The thread goes on from the parent of this entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rewind {
    /// The person who went back, if they are known.
    pub by: Option<Answerer>,
}

impl Rewind {
    /// Those of a person.
    pub(crate) const FIELDS: std::ops::RangeInclusive<usize> = 3..=3;
}

wire! {
    Rewind: |rewind, to| rewind.by.write(to), |from| Ok(Self { by: Wire::read(from)? });
}

record! {
    /// The state so far, written whole.
    Rebase {
        /// The schema it is written in.
        schema: StoredSchema,
        /// The fields, as one map.
        fields: Stored,
        /// The pending writes at these positions, in this schema. A pending write that is not named stays as it is.
        writes: Vec<(Position, Changes)>,
        /// The writes that a subgraph has added to the state that it shares with its caller, in this schema; `None` if they stay as
        /// they are.
        added: Option<Vec<Changes>>,
    }
}

record! {
    /// The schema of the state has more fields.
    Extend {
        /// The schema with the fields.
        schema: StoredSchema,
        /// Their values: the defaults of the build that knew them first.
        values: Changes,
    }
}

record! {
    /// The state was written anew and all that led to it was cut off: it says that it happened, not what went.
    Erased {
        /// The person or program that did so, as they say.
        by: String,
    }
}

record! {
    /// All that precedes is copied from another thread, or from an earlier life of this one.
    Copied {
        /// That thread.
        from: ThreadLife,
    }
}

record! {
    /// One life of a thread: another thread of the same name, in another store or at another time, has another.
    ThreadLife {
        /// The thread.
        thread: ThreadKey,
        /// The life.
        life: Life,
    }
}
