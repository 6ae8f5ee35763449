//! Commands from a subgraph to the graph that called it: as they are stored, and as the caller's node returns them.

use hanok_checkpoint::{Due, Goto, Handed};
use hanok_core::{Changes, Stored};
use hanok_state::{State, StateUpdate};

use crate::{
    error::NodeError,
    names::END,
    node::command::{Command, SendTo, Target, ToParent},
};

/// A command to a parent, as it is stored.
pub(crate) fn handed(parent: ToParent) -> Result<Handed, NodeError> {
    let ToParent { changes, goto, only, parent } = parent;
    let changes = changes.map_err(|reason| NodeError::Failed(reason.into()))?;
    let further = parent.map(|parent| handed(*parent).map(Goto::Parent));
    let goto = goto.into_iter().map(|target| {
        Ok(match target {
            Target::Node(node) if node.as_ref() == END => Goto::End,
            Target::Node(node) => Goto::Node(node),
            Target::Send(send) => {
                let input = send.input.map_err(|reason| NodeError::Failed(reason.into()))?;
                Goto::Send(Due { node: send.node, input: Some(input), limits: send.limits })
            }
        })
    });
    Ok(Handed { changes, goto: goto.chain(further).collect::<Result<_, NodeError>>()?, only })
}

/// The command of a subgraph, as a command of the calling node.
pub(crate) fn of_child<S: State>(
    command: ToParent,
    fields: &[hanok_state::FieldSchema],
) -> Result<Command<S>, NodeError> {
    let changes = command.changes.map_err(|reason| NodeError::Failed(reason.into()))?;
    let foreign = changes.0.iter().find(|(name, _)| !fields.iter().any(|f| f.name == *name));
    if let Some((field, _)) = foreign {
        return Err(NodeError::ForeignUpdate { field: field.to_string() });
    }
    let update = apart(changes).iter().try_fold(S::update(), |all, changes| {
        Ok::<_, NodeError>(all.then(S::Update::from_changes(changes)?)?)
    })?;
    let update = Box::new(update);
    Ok(Command { update, goto: command.goto, only: command.only, parent: command.parent })
}

/// Splits changes into lists, one after the other, each of which changes a field once.
pub(crate) fn apart(changes: Changes) -> Vec<Changes> {
    let mut parts: Vec<Changes> = Vec::new();
    for (field, change) in changes.0 {
        match parts.iter_mut().find(|part| part.get(&field).is_none()) {
            Some(part) => part.0.push((field, change)),
            None => parts.push(Changes(vec![(field, change)])),
        }
    }
    parts
}

/// The command of a subgraph, read from its stored form.
pub(crate) fn to_parent(handed: Handed) -> ToParent {
    let (mut targets, mut parent) = (Vec::new(), None::<ToParent>);
    for goto in handed.goto {
        match goto {
            Goto::Node(node) => targets.push(Target::Node(node)),
            Goto::End => targets.push(Target::from(END)),
            Goto::Send(Due { node, input, limits }) => {
                let send = SendTo::stored(&node, input.unwrap_or_else(Stored::nil));
                targets.push(Target::Send(SendTo { limits, ..send }));
            }
            Goto::Parent(handed) => {
                let further = to_parent(handed);
                parent = Some(match parent {
                    Some(before) => before.then(further),
                    None => further,
                });
            }
            Goto::Only => {}
        }
    }
    let (changes, parent) = (Ok(handed.changes), parent.map(Box::new));
    ToParent { changes, goto: targets, only: handed.only, parent }
}
