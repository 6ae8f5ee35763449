//! One call of a thread, as a task of its process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use hanok_core::{Cancellation, Position, ThreadKey};
use hanok_graph::{Event, Input, Outcome, RunError, Thread};
use hanok_state::State;

use super::core::{Process, TaskNumber};

/// What a client asks for.
pub(crate) enum Asked<S: State> {
    Run(Input<S>),
    Rewind(Position),
    Edit(S::Update),
    Fork(ThreadKey),
}

/// What became of it: an outcome only if something ran.
pub(crate) type Answered<S> = Result<Option<Outcome<S>>, RunError>;

/// A call under way.
pub(crate) struct Client<S: State> {
    pub(crate) task: TaskNumber,
    pub(crate) process: Process,
    /// Whether it runs the thread, and does not only write to it.
    pub(crate) runs: bool,
    pub(crate) cancel: Cancellation,
    pub(crate) drain: Cancellation,
    pub(crate) heard: Heard<S>,
}

/// What a call has answered, and the events that it has shown.
pub(crate) struct Heard<S: State>(Arc<Mutex<Said<S>>>);

struct Said<S: State> {
    answer: Option<Answered<S>>,
    events: Vec<Event>,
}

impl<S: State> Clone for Heard<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: State> Default for Heard<S> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Said { answer: None, events: Vec::new() })))
    }
}

impl<S: State> Heard<S> {
    fn lock(&self) -> MutexGuard<'_, Said<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.lock().answer.is_some()
    }

    pub(crate) fn answer(&self) -> Option<Answered<S>> {
        self.lock().answer.take()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }
}

/// Does what is asked, and says what came of it. `watched` says whether its events are read.
pub(crate) async fn call<S: State, C: Send + Sync + 'static>(
    thread: Thread<S, C>,
    asked: Asked<S>,
    services: C,
    watched: bool,
    heard: Heard<S>,
) {
    let answer = match asked {
        Asked::Run(input) if watched => {
            let mut events = thread.stream(input, services);
            while let Some(event) = events.next().await {
                heard.lock().events.push(event);
            }
            events.outcome().await.map(Some)
        }
        Asked::Run(input) => thread.run(input, services).await.map(Some),
        Asked::Rewind(to) => thread.rewind(to).await.map(|_| None),
        Asked::Edit(update) => thread.edit(update).await.map(|_| None),
        Asked::Fork(to) => thread.fork(None, &to).await.map(|_| None),
    };
    heard.lock().answer = Some(answer);
}
