//! How a run begins.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Changes, Reader, RunId, StoredError, StoredSchema, TaskId, Writer};

use crate::{
    Epoch, Frontier,
    wire::{id, option_task, small, write_option_task},
};

/// A run begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    /// The run.
    pub run: RunId,
    /// Its claim's number; nothing for a subgraph's run.
    pub epoch: Epoch,
    /// For a subgraph's run: the task that calls it. That task, run again, goes on with this run.
    pub parent: Option<TaskId>,
    /// Whether the state of a subgraph outlives the call.
    pub persistence: Persistence,
    /// Whether a subgraph begins with its caller's state, and gives back what it added.
    pub shared: bool,
    /// What the input writes. Empty for a run that goes on.
    pub input: Changes,
    /// What is due first, `None` for a run that goes on with what was due.
    pub frontier: Option<Frontier>,
    /// The schema of a state that begins here, and holds nothing before the input. `None` for a run whose state is there
    /// already: the log has said its schema, or its caller's is that of a state which it shares.
    pub schema: Option<Arc<StoredSchema>>,
    /// The fingerprint of the graph.
    pub graph: u64,
    /// How often, since the last commit, a run went on with what a lost one left.
    pub takeovers: u32,
    /// What the run's caller calls it, for whoever looks for it later.
    pub tags: BTreeMap<String, String>,
}

/// How long the state of a subgraph lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// As long as the call.
    #[default]
    PerCall,
    /// As long as the thread.
    PerThread,
}

impl Begin {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.array(11).bin(&self.run.0.to_be_bytes()).uint(self.epoch.0);
        write_option_task(to, self.parent);
        to.bool(self.persistence == Persistence::PerThread).bool(self.shared);
        self.input.write(to);
        write_option_frontier(to, self.frontier.as_ref());
        match &self.schema {
            Some(schema) => schema.write(to),
            None => {
                to.nil();
            }
        }
        to.uint(self.graph).uint(u64::from(self.takeovers)).map(self.tags.len());
        for (key, value) in &self.tags {
            to.str(key).str(value);
        }
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            run: RunId(id(from)?),
            epoch: Epoch(from.uint()?),
            parent: option_task(from)?,
            persistence: match from.bool()? {
                true => Persistence::PerThread,
                false => Persistence::PerCall,
            },
            shared: from.bool()?,
            input: Changes::read(from)?,
            frontier: option_frontier(from)?,
            schema: if from.is_nil() {
                from.nil()?;
                None
            } else {
                Some(StoredSchema::read(from)?.into())
            },
            graph: from.uint()?,
            takeovers: small(from)?,
            tags: (0..from.map()?)
                .map(|_| Ok((from.str()?.to_owned(), from.str()?.to_owned())))
                .collect::<Result<_, StoredError>>()?,
        })
    }
}

pub(crate) fn write_option_frontier(to: &mut Writer, frontier: Option<&Frontier>) {
    match frontier {
        Some(frontier) => frontier.write(to),
        None => {
            to.nil();
        }
    }
}

pub(crate) fn option_frontier(from: &mut Reader<'_>) -> Result<Option<Frontier>, StoredError> {
    if from.is_nil() {
        from.nil()?;
        return Ok(None);
    }
    Frontier::read(from).map(Some)
}
