//! Whoever calls a thread, and what they hear.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hanok_checkpoint::Keep;
use hanok_core::{Cancellation, Changes, Position, RequestId, RunId, Stored, ThreadKey};
use hanok_graph::{Event, Pending, RunError};

use crate::numbers::{Process, TaskNumber};

/// The actions of a client.
pub(crate) enum Action {
    /// An input, and the name of its run, if it has one.
    Input(Changes, Option<RunId>),
    Resume,
    Answers(Vec<(RequestId, Stored)>),
    Rewind(Position),
    Edit(Changes),
    Erase(Changes),
    Fork(ThreadKey),
    Copy(ThreadKey),
    Prune(Keep),
    Delete,
}

impl Action {
    /// True when it runs the thread, and does not only write to it.
    pub(crate) fn runs(&self) -> bool {
        matches!(self, Self::Input(..) | Self::Resume | Self::Answers(_))
    }
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) name: &'static str,
    /// The requests that are open for people.
    pub(crate) requests: Vec<Pending>,
}

/// The reply to an action: an end only if something ran.
pub(crate) type Reply = Result<Option<Ended>, RunError>;

/// A call under way.
pub(crate) struct Client {
    pub(crate) task: TaskNumber,
    pub(crate) process: Process,
    /// True when it runs the thread.
    pub(crate) runs: bool,
    pub(crate) cancel: Cancellation,
    pub(crate) drain: Cancellation,
    pub(crate) heard: Heard,
}

/// The reply of a call, and the events that it has shown.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Words>>);

#[derive(Default)]
struct Words {
    reply: Option<Reply>,
    events: Vec<Event>,
}

impl Heard {
    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn event(&self, event: Event) {
        self.lock().events.push(event);
    }

    pub(crate) fn reply(&self, reply: Reply) {
        self.lock().reply = Some(reply);
    }

    pub(crate) fn has_reply(&self) -> bool {
        self.lock().reply.is_some()
    }

    pub(crate) fn take_reply(&self) -> Option<Reply> {
        self.lock().reply.take()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }
}
