//! The places of subgraphs in the log: a segment below the graph that calls, by the number of the call or by its name.

use std::sync::Arc;

use hanok_core::{CallKey, Namespace};
use hanok_state::State;

use crate::{
    ids::Digest,
    node::attempt::TaskAttempt,
    run::subgraph::{Persistence, SubgraphCall},
    subgraph_error::SubgraphError,
};

/// The longest segment of a namespace, in bytes.
const LONGEST: usize = 256;

/// What a call of a subgraph is told from the others of its task by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Called {
    /// The name of the call; without one it has a number.
    pub(crate) name: Option<Arc<str>>,
    /// The key of the call of a tool within which it runs.
    pub(crate) call: Option<CallKey>,
}

impl<S: State, D: Send + Sync + 'static> SubgraphCall<'_, S, D> {
    /// The namespace of the call, which is noted as made.
    pub(super) fn namespace(&self, scope: &TaskAttempt) -> Result<Namespace, SubgraphError> {
        let graph = self.graph.name();
        let node = scope.named(&scope.task.node);
        let segment = match (&self.named.name, self.persistence) {
            (Some(name), _) => {
                if !scope.log().named.insert(name.clone()) {
                    let (graph, name) = (graph.to_owned(), name.to_string());
                    return Err(SubgraphError::Twice { graph, name });
                }
                named(&node, &task(scope), name)
            }
            (None, Persistence::PerThread) => {
                let number = next(scope, graph);
                format!("{}:{graph}.{number}", escaped(&node))
            }
            // These are told apart by their number alone.
            (None, Persistence::PerCall | Persistence::None) => {
                let number = next(scope, "");
                format!("{node}#{}.{number}", task(scope))
            }
        };
        let child = scope.task.namespace.child(&segment);
        child.map_err(|source| SubgraphError::Name { graph: graph.to_owned(), source })
    }
}

/// The number of the task's next call of this kind.
fn next(scope: &TaskAttempt, kind: &str) -> u32 {
    let mut log = scope.log();
    let count = log.subgraphs.entry(kind.to_owned()).or_default();
    let number = *count;
    *count += 1;
    number
}

fn task(scope: &TaskAttempt) -> String {
    let mut task = scope.id().to_string();
    task.truncate(16);
    task
}

/// The node's name before a colon: the colon is where it ends, and nowhere in it.
fn escaped(node: &str) -> String {
    node.replace('\\', r"\\").replace(':', r"\:")
}

/// The segment of the call `name`. Behind the task a call with a number has a full stop, and one with a name a colon.
///
/// A name that cannot be a part of a segment is one by its hash, and so is one that looks like a hash.
fn named(node: &str, task: &str, name: &str) -> String {
    let node = escaped(node);
    let fits = node.len() + task.len() + name.len() + 2 <= LONGEST;
    if fits && !name.starts_with('#') && !name.chars().any(char::is_control) {
        return format!("{node}#{task}:{name}");
    }
    format!("{node}#{task}:#{}", Digest::new("subgraph").part(name.as_bytes()).hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "0123456789abcdef";

    #[test]
    fn a_name_is_a_segment_of_its_own_however_odd_it_is() {
        let long = "이름".repeat(100);
        let hash = named("call", TASK, "\n");
        let hash = hash.rsplit(':').next().unwrap();
        let names = ["a", "0", ".0", "a:b", r"a\:b", "", "\n", "\u{1b}[2J", "#", hash, &long, "가"];
        let mut segments = Vec::new();
        for node in ["call", "call:a", r"call\", "#", &"n".repeat(200)] {
            for name in names {
                let segment = named(node, TASK, name);
                assert!(Namespace::root().child(&segment).is_ok(), "{segment}");
                assert_eq!(named(node, TASK, name), segment);
                segments.push(segment);
            }
            // As calls with a number are named, and those of the thread.
            segments.extend((0..3).map(|n| format!("{node}#{TASK}.{n}")));
            segments.push(format!("{}:{TASK}.0", escaped(node)));
        }
        let all = segments.len();
        segments.sort_unstable();
        segments.dedup();
        assert_eq!(segments.len(), all);
    }

    #[test]
    fn a_node_without_room_for_a_name_is_refused_by_its_namespace() {
        let segment = named(&"n".repeat(250), TASK, "a");
        assert!(Namespace::root().child(&segment).is_err());
    }
}
