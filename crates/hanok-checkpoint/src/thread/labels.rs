//! Labels: the state of a thread in a list, without its log being read.

use std::sync::Arc;

use hanok_core::{Namespace, Timestamp};

use crate::{
    backend::threads::{DEADLINE, deadline_label},
    entry::fold::{RunFold, ThreadFold},
    entry::run_end::RunEnd,
};

/// The label that names the graph that ran last.
pub const GRAPH: &str = "graph";

/// The label that says how far the thread is: [`Labels::status`].
pub const STATUS: &str = "status";

/// The label that says how many requests are open; none if no request is.
pub const REQUESTS: &str = "requests";

/// The labels of a thread. They hold no text of a user's, of a question or of a state, and are not encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The name of the graph, if it is known.
    pub graph: Option<Arc<str>>,
    /// The status of the thread.
    pub status: Status,
    /// The number of requests that are open.
    pub requests: usize,
    /// When the first of them expires.
    pub deadline: Option<Timestamp>,
}

/// The status of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Status {
    /// A run goes on with what was left, or is the first.
    Running,
    /// A turn is not over, and its last run is not known.
    #[default]
    Due,
    /// The last run ended so. A thread that was `done` stays so until a later turn ends in another way: whether a run owns a
    /// thread is for its head to say.
    Ended(RunEnd),
}

impl Status {
    /// The text of the label.
    ///
    /// ```
    /// use hanok_checkpoint::{RunEnd, Status};
    ///
    /// assert_eq!(Status::Running.as_str(), "running");
    /// assert_eq!(Status::Ended(RunEnd::Interrupted).as_str(), "interrupted");
    /// ```
    pub fn as_str(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Due => "due",
            Self::Ended(end) => end.as_str(),
        }
    }
}

impl Labels {
    /// Those of a thread that `graph` runs.
    pub fn running(graph: Arc<str>) -> Self {
        Self { graph: Some(graph), status: Status::Running, ..Self::default() }
    }

    /// Those of a thread whose turn is over.
    pub fn done(graph: Option<Arc<str>>) -> Self {
        Self { graph, status: Status::Ended(RunEnd::Done), ..Self::default() }
    }

    /// Those of a thread that is as its log says.
    pub fn of(fold: &ThreadFold) -> Self {
        let doubts =
            |run: &RunFold| run.records.intents.values().filter(|intent| intent.asks()).count();
        let doubts: usize = fold.runs.values().map(doubts).sum();
        let questions = || {
            fold.runs.values().flat_map(|run| {
                let done = run.records.written();
                run.records.open_questions().filter(move |question| !done.contains(&question.task))
            })
        };
        let root = fold.run(&Namespace::root());
        let status = match root {
            None => Status::Due,
            Some(root) if root.open => Status::Running,
            Some(root) if root.frontier.is_done() => Status::Ended(RunEnd::Done),
            Some(_) if doubts > 0 => Status::Ended(RunEnd::InDoubt),
            Some(_) if questions().next().is_some() => Status::Ended(RunEnd::Interrupted),
            Some(root) if root.paused => Status::Ended(RunEnd::Breakpoint),
            Some(root) => match &root.ended {
                // What it waited for is not there any more.
                None | Some(RunEnd::Done | RunEnd::Interrupted | RunEnd::InDoubt) => Status::Due,
                Some(end) => Status::Ended(end.clone()),
            },
        };
        Self {
            graph: root.and_then(|root| root.graph.name.clone()),
            status,
            requests: doubts + questions().count(),
            deadline: questions().filter_map(|question| question.deadline).min(),
        }
    }

    /// The labels that have to be written where they say `before`; all of them where that is not known.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let done = Labels::done(None);
    /// assert!(done.since(Some(&done)).is_empty());
    /// assert_eq!(done.since(None)[0], (STATUS.to_owned(), Some("done".to_owned())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn since(&self, before: Option<&Self>) -> Vec<(String, Option<String>)> {
        let count = |requests: usize| (requests > 0).then(|| requests.to_string());
        let time = |deadline: Option<Timestamp>| deadline.map(deadline_label);
        if before == Some(self) {
            return Vec::new();
        }
        let name = |labels: &Self| labels.graph.as_deref().map(str::to_owned);
        let mut changes = Vec::new();
        let mut change = |name: &str, is: Option<String>, was: Option<Option<String>>| {
            if was.as_ref() != Some(&is) {
                changes.push((name.to_owned(), is));
            }
        };
        if self.graph.is_some() {
            change(GRAPH, name(self), before.map(name));
        }
        let status = |labels: &Self| Some(labels.status.as_str().to_owned());
        change(STATUS, status(self), before.map(status));
        change(REQUESTS, count(self.requests), before.map(|before| count(before.requests)));
        change(DEADLINE, time(self.deadline), before.map(|before| time(before.deadline)));
        changes
    }

    /// Checks whether the turn is over.
    pub fn is_done(&self) -> bool {
        self.status == Status::Ended(RunEnd::Done)
    }
}
