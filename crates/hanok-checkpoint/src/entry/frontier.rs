//! The tasks that are due next.

use std::sync::Arc;

use hanok_core::{Changes, Reader, Stored, StoredError, Writer};

use crate::wire::{Wire, array_of, malformed, record};

/// The number of graphs that a command may be handed up: one more than graphs may be nested.
const DEEPEST: usize = 17;

record! {
    /// The tasks that are due after a commit: those of the next super-step, in order, and those that wait.
    #[derive(Default)]
    Frontier {
        /// The number of the next super-step within its turn, counted from 0.
        step: u32,
        /// The tasks that are due, in the order in which their writes are merged.
        due: Vec<Due>,
        /// Per join, by name, the nodes that it has seen.
        joins: Vec<(String, Vec<String>)>,
        /// Tasks that run when nothing else is left to run.
        deferred: Vec<Due>,
        /// The command that a finished subgraph leaves to the graph that called it.
        handed: Option<Box<Handed>>,
    }
}

/// One task that is due.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// The node.
    pub node: Arc<str>,
    /// The input of a `Send`.
    pub input: Option<Stored>,
    /// The time-outs that a `Send` has for its task, in place of the node's.
    pub limits: SendLimits,
}

/// The time-outs that a `Send` has for its task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendLimits {
    /// The most that an attempt may take, in milliseconds.
    pub timeout: Option<u64>,
    /// The most that an attempt may take without a sign of life, in milliseconds.
    pub idle_timeout: Option<u64>,
}

/// A command that a subgraph gives to the graph that called it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handed {
    /// The writes of the caller's node.
    pub changes: Changes,
    /// The targets at which the caller's node goes on.
    pub goto: Vec<Goto>,
    /// True if the caller's own edges do not fire.
    pub only: bool,
}

/// A target at which a task goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Goto {
    /// To a node.
    Node(Arc<str>),
    /// To a node, with an input of its own.
    Send(Due),
    /// Out of the subgraph: the graph that called it is given a command.
    Parent(Handed),
    /// Nowhere.
    End,
    /// Only where the rest of the list says: the node's edges and joins do not count. It comes first.
    Only,
}

impl Frontier {
    /// Checks whether nothing is due and nothing waits.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// assert!(Frontier::default().is_done());
    /// assert!(!Frontier { due: vec![Due::node("search")], ..Frontier::default() }.is_done());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_done(&self) -> bool {
        self.due.is_empty() && self.deferred.is_empty()
    }
}

impl Due {
    /// A task of `node` without an input of its own.
    pub fn node(node: impl Into<Arc<str>>) -> Self {
        Self { node: node.into(), input: None, limits: SendLimits::default() }
    }
}

impl Wire for Due {
    fn write(&self, to: &mut Writer) {
        match &self.input {
            None => to.str(&self.node),
            Some(input) if self.limits == SendLimits::default() => {
                to.array(2).str(&self.node).raw(input.as_bytes())
            }
            Some(input) => {
                to.array(4).str(&self.node).raw(input.as_bytes());
                self.limits.timeout.write(to);
                self.limits.idle_timeout.write(to);
                to
            }
        };
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        let mut ahead = from.clone();
        if let Ok(parts) = ahead.array() {
            let limited = parts == 4;
            array_of(from, if limited { 4 } else { 2 }, "a node, its input and its time-outs")?;
            let (node, input) = (from.str()?.into(), Some(Wire::read(from)?));
            let limits = match limited {
                true => SendLimits { timeout: Wire::read(from)?, idle_timeout: Wire::read(from)? },
                false => SendLimits::default(),
            };
            return Ok(Self { node, input, limits });
        }
        Ok(Self::node(from.str()?))
    }
}

impl Handed {
    /// `depth` graphs below the one that a command is handed to.
    fn read_below(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        if depth >= DEEPEST {
            return malformed(from, "a command of a graph that is not so deep in others");
        }
        if from.array()? != 3 {
            return malformed(from, "the three parts of a command");
        }
        Ok(Self {
            changes: Wire::read(from)?,
            goto: (0..from.array()?)
                .map(|_| Goto::read_below(from, depth + 1))
                .collect::<Result<_, _>>()?,
            only: Wire::read(from)?,
        })
    }
}

impl Wire for Handed {
    fn write(&self, to: &mut Writer) {
        to.array(3);
        self.changes.write(to);
        self.goto.write(to);
        self.only.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::read_below(from, 0)
    }
}

impl Wire for Goto {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Node(node) => {
                to.str(node);
            }
            Self::Send(due) => due.write(to),
            Self::Parent(handed) => handed.write(to),
            Self::End => {
                to.nil();
            }
            Self::Only => {
                to.bool(true);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::read_below(from, 0)
    }
}

impl Goto {
    fn read_below(from: &mut Reader<'_>, depth: usize) -> Result<Self, StoredError> {
        if from.is_nil() {
            from.nil()?;
            return Ok(Self::End);
        }
        if from.clone().bool().is_ok() {
            from.bool()?;
            return Ok(Self::Only);
        }
        if from.clone().array().is_ok_and(|parts| parts == 3) {
            return Handed::read_below(from, depth).map(Self::Parent);
        }
        Ok(match Due::read(from)? {
            Due { node, input: None, .. } => Self::Node(node),
            due => Self::Send(due),
        })
    }
}
