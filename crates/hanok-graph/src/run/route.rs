//! Routing: the targets of a task that is done.

use std::sync::Arc;

use hanok_checkpoint::{Due, Goto};
use hanok_core::Panicked;
use hanok_state::State;

use crate::{
    error::NodeError,
    graph::definition::{Definition, Vertex, Ways},
    names::END,
    node::command::Target,
};

/// Runs the routers of `ways` on `view`; returns their targets.
pub(crate) fn run_routers<S>(ways: &Ways<S>, view: &S) -> Result<Vec<Target>, NodeError> {
    let mut targets = Vec::new();
    for branch in &ways.branches {
        let routed = Panicked::catch(|| (branch.router)(view))
            .map_err(|Panicked(message)| NodeError::Panicked(message))?
            .map_err(NodeError::Router)?;
        for target in &routed {
            if !branch.declared.contains(target.node()) {
                return Err(unknown_target(target.node(), to_strings(&branch.declared)));
            }
        }
        if targets.is_empty() {
            targets = routed;
        } else {
            targets.extend(routed);
        }
    }
    Ok(targets)
}

/// The stored form of the edges in `ways`.
pub(crate) fn edges<S>(ways: &Ways<S>) -> impl Iterator<Item = Goto> {
    ways.edges.iter().map(|node| Goto::Node(node.clone()))
}

impl<S: State, C> Definition<S, C> {
    /// The targets of `ways`, which are those of `node` or of START, from `state`: the edges, then those of the routers.
    pub(crate) fn targets(
        &self,
        ways: &Ways<S>,
        node: Option<&Vertex<S, C>>,
        state: &S,
    ) -> Result<Vec<Goto>, NodeError> {
        let routed = run_routers(ways, &*self.seen_by_routers(node, state))?
            .into_iter()
            .map(|target| self.stored(target));
        edges(ways).map(Ok).chain(routed).collect()
    }

    /// The stored form of a target, checked against the input type of its node.
    pub(crate) fn stored(&self, target: Target) -> Result<Goto, NodeError> {
        let takes = |node: &str| self.nodes.get(node).and_then(|vertex| vertex.kind);
        Ok(match target {
            Target::Node(node) if node.as_ref() == END => Goto::End,
            Target::Node(node) => {
                if takes(&node).is_some() {
                    return Err(NodeError::NoInput { node: node.to_string() });
                }
                Goto::Node(node)
            }
            // The end takes nothing.
            Target::Send(send) if send.node.as_ref() == END => {
                return Err(unknown_target(
                    END,
                    self.nodes.keys().map(ToString::to_string).collect(),
                ));
            }
            Target::Send(send) => {
                if let (Some(takes), Some(sent)) = (takes(&send.node), send.kind)
                    && takes.id != sent.id
                {
                    return Err(NodeError::WrongInput {
                        target: send.node.to_string(),
                        takes: takes.name,
                        sent: sent.name,
                    });
                }
                let input = send.input.map_err(|reason| NodeError::Failed(reason.into()))?;
                Goto::Send(Due { node: send.node, input: Some(input), limits: send.limits })
            }
        })
    }
}

pub(crate) fn unknown_target(target: &str, declared: Vec<String>) -> NodeError {
    NodeError::UnknownTarget { target: target.to_owned(), declared }
}

pub(crate) fn to_strings(names: &[Arc<str>]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}
