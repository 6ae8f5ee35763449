//! What a list of threads says of each, without its log being read.

use std::{borrow::Cow, sync::Arc};

use hanok_core::{Namespace, Timestamp};

use crate::{BREAKPOINT, Doubt, IN_DOUBT, INTERRUPTED, RunFold, ThreadFold};

/// The label that names the graph that ran last.
pub const GRAPH: &str = "graph";

/// The label that says how far the thread is: [`Labels::status`].
pub const STATUS: &str = "status";

/// The label that says how many requests are open; none if no request is.
pub const REQUESTS: &str = "requests";

/// The label that says when the first of them expires, in milliseconds since the epoch; none if none does.
pub const DEADLINE: &str = "deadline";

/// What the labels of a thread say. They hold no text of a user's, of a question or of a state, and are not encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The name of the graph, if it is known.
    pub graph: Option<Arc<str>>,
    /// `running` from the time on when a run goes on with what was left, or begins the first turn; how the last run ended, as
    /// an [`End`](crate::End) says it; `due` for what is left of a turn whose last run is not known. A thread that was `done`
    /// stays so until a later turn ends in another way: whether a run owns a thread is for its head to say.
    pub status: Cow<'static, str>,
    /// How many requests are open.
    pub requests: usize,
    /// When the first of them expires.
    pub deadline: Option<Timestamp>,
}

/// The status of a thread that runs.
const RUNNING: &str = "running";

/// The status of a thread whose turn is over.
const DONE: &str = "done";

impl Labels {
    /// Those of a thread that `graph` runs.
    pub fn running(graph: Arc<str>) -> Self {
        Self { graph: Some(graph), status: RUNNING.into(), ..Self::default() }
    }

    /// Those of a thread whose turn is over.
    pub fn done(graph: Option<Arc<str>>) -> Self {
        Self { graph, status: DONE.into(), ..Self::default() }
    }

    /// Those of a thread that is as its log says; the log does not name the graph.
    pub fn of(fold: &ThreadFold) -> Self {
        let doubts = |run: &RunFold| {
            run.records.intents.values().filter(|intent| intent.doubt == Doubt::Ask).count()
        };
        let doubts: usize = fold.runs.values().map(doubts).sum();
        let questions = || {
            fold.runs.values().flat_map(|run| {
                let done = run.records.written();
                run.records.open_questions().filter(move |question| !done.contains(&question.task))
            })
        };
        let root = fold.run(&Namespace::root());
        let status = match root {
            None => "due".into(),
            Some(root) if root.open => RUNNING.into(),
            Some(root) if root.frontier.is_done() => DONE.into(),
            Some(_) if doubts > 0 => IN_DOUBT.into(),
            Some(_) if questions().next().is_some() => INTERRUPTED.into(),
            Some(root) if root.paused => BREAKPOINT.into(),
            // What it waited for is not there any more.
            Some(root) if [DONE, INTERRUPTED, IN_DOUBT, ""].contains(&root.ended.as_str()) => {
                "due".into()
            }
            Some(root) => root.ended.clone().into(),
        };
        Self {
            graph: None,
            status,
            requests: doubts + questions().count(),
            deadline: questions().filter_map(|question| question.deadline).min(),
        }
    }

    /// What has to be written where the labels say `before`; all of it where that is not known.
    pub fn since(&self, before: Option<&Self>) -> Vec<(String, Option<String>)> {
        let count = |requests: usize| (requests > 0).then(|| requests.to_string());
        let time = |deadline: Option<Timestamp>| deadline.map(|deadline| deadline.0.to_string());
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
        change(STATUS, Some(self.status.to_string()), before.map(|b| Some(b.status.to_string())));
        change(REQUESTS, count(self.requests), before.map(|before| count(before.requests)));
        change(DEADLINE, time(self.deadline), before.map(|before| time(before.deadline)));
        changes
    }

    /// Whether the turn is over.
    pub fn is_done(&self) -> bool {
        self.status == DONE
    }
}
