//! The beginning and the end of a subgraph, for observers.

use std::sync::Arc;

use hanok_checkpoint::RunEnd;
use hanok_core::{CallKey, Chain, Namespace, TaskId};

use crate::{
    error::RunError,
    observe::{
        event::{Event, EventKind},
        sink::{Sink, Teller},
    },
    outcome::Outcome,
};

/// What runs a subgraph: a node, or a call that it makes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphCause {
    /// The node, of the graph one level above.
    pub node: Arc<str>,
    /// The node's task.
    pub task: TaskId,
    /// The key of the call within which the graph runs, if it is that of a tool.
    pub call: Option<CallKey>,
}

/// Reports the beginning of a subgraph, and its end when it is dropped.
pub(crate) struct GraphWatch {
    sink: Sink,
    path: Namespace,
    graph: Arc<str>,
    outcome: RunEnd,
    error: Option<String>,
}

impl GraphWatch {
    /// Begins to watch the graph at `path`; `None` without an observer.
    pub(crate) fn begin(
        sink: &Sink,
        path: &Namespace,
        graph: &str,
        cause: impl FnOnce() -> GraphCause,
    ) -> Option<Self> {
        sink.is_on().then(|| {
            let (sink, path, graph) = (sink.clone(), path.clone(), Arc::from(graph));
            // A graph that nobody waits for any more is cancelled.
            let watch = Self { sink, path, graph, outcome: RunEnd::Cancelled, error: None };
            watch.tell(EventKind::GraphStarted { graph: watch.graph.clone(), cause: cause() });
            watch
        })
    }

    /// Notes how the graph ended.
    pub(crate) fn ended<S>(&mut self, ended: Result<&Outcome<S>, &RunError>) {
        (self.outcome, self.error) = match ended {
            Ok(outcome) => (outcome.name(), None),
            Err(error) => (RunEnd::Failed, Some(Chain(error).to_string())),
        };
    }

    fn tell(&self, kind: EventKind) {
        self.sink.emit(|| Event::new(&self.path, 0, None, None, kind));
    }
}

impl Drop for GraphWatch {
    fn drop(&mut self) {
        let (graph, outcome) = (self.graph.clone(), self.outcome.clone());
        let error = self.error.take();
        self.tell(EventKind::GraphEnded { graph, outcome, error });
    }
}

/// The node of another thread whose observers are told what a thread does.
#[derive(Clone)]
pub(crate) struct ParentWatch {
    sink: Sink,
    /// The namespace of the thread's graph, below that of the node.
    path: Namespace,
    cause: GraphCause,
}

impl ParentWatch {
    /// The watch of a node whose observers `sink` is, for the thread that it calls at `path`; `None` without an observer.
    pub(crate) fn new(sink: &Sink, path: Namespace, cause: GraphCause) -> Option<Self> {
        sink.is_on().then(|| Self { sink: sink.clone(), path, cause })
    }

    /// Begins to watch a run of the thread, whose graph is `graph`.
    pub(crate) fn begin(&self, graph: &str) -> Option<GraphWatch> {
        GraphWatch::begin(&self.sink, &self.path, graph, || self.cause.clone())
    }

    /// The teller of the run's events.
    pub(crate) fn teller(&self) -> Teller {
        let (to, above) = (self.sink.clone(), self.path.clone());
        let tell = move |event: &Event| {
            // The end of the run is that of a graph, which is told by itself.
            if matches!(event.kind, EventKind::Ended { .. }) {
                return;
            }
            let below = event.path.segments();
            // What is too deep or too long for a name is told of the graph above.
            let path =
                below.fold(above.clone(), |path, segment| path.child(segment).unwrap_or(path));
            to.emit(|| Event { path, id: None, ..event.clone() });
        };
        Teller { modes: self.sink.modes(), tell: Arc::new(tell) }
    }
}
