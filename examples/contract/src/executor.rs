//! Makes the calls, one after the other or all at once.

use hanok_agent::{Observation, ToolTurn, TurnUsage};
use hanok_graph::{Context, Snapshot};
use hanok_state::{State, ToolCall};

use crate::{
    Absent, ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Missing, Origin,
    failure::NodeFailure,
    planner::{completed, shown_of},
    tools::Lookup,
};

/// Makes the calls one after the other: each may take what those before it found.
pub(crate) async fn executor(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    let mut read = ContractState::clone(&state);
    for call in &state.next_tools {
        let call = completed(call.clone(), &read);
        if read.tool_history.has(&call) {
            continue;
        }
        let found = expert.tools.run(&context, &call).await?;
        keep(&mut read, &context, &call, found.observation);
    }
    Ok(update(read))
}

/// Makes all calls at once.
pub(crate) async fn parallel_executor(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    let turn = ToolTurn { messages: &state.messages, usage: &TurnUsage::default() };
    let found = expert.tools.run_all(&context, turn, &state.next_tools).await?;
    let mut read = ContractState::clone(&state);
    for (call, found) in state.next_tools.iter().zip(found) {
        keep(&mut read, &context, call, found.observation);
    }
    Ok(update(read))
}

/// What `call` found becomes part of what was read. A call that failed may be made again.
fn keep(read: &mut ContractState, context: &Context, call: &ToolCall, observation: Observation) {
    let lookup =
        observation.data.as_ref().and_then(|data| serde_json::from_value(data.0.clone()).ok());
    let Lookup { materials, mut absent } = lookup.unwrap_or_default();
    let fault = observation.fault.map(|_| observation.text);
    match &fault {
        Some(fault) => absent.push(Absent::new(Missing::Fault, fault.as_str())),
        None => {
            read.tool_history.note(call);
        }
    }
    context.custom(&ContractEvent::ToolFinished {
        tool: shown_of(call),
        found: materials.iter().map(|it| format!("{} {}", it.origin.name(), it.label)).collect(),
        absent: absent.iter().map(|it| it.text.clone()).collect(),
        fault,
    });
    for material in materials {
        if material.origin == Origin::Contract && material.article.is_some() {
            read.explored.insert(material.label.clone());
            read.unexplored.retain(|label| *label != material.label);
        }
        let same = |known: &&mut Material| {
            (known.origin, &known.label, &known.text)
                == (material.origin, &material.label, &material.text)
        };
        match read.collected.iter_mut().find(same) {
            Some(known) => known.named |= material.named,
            None => read.collected.push(material),
        }
    }
    for one in absent {
        if !read.absent.contains(&one) {
            read.absent.push(one);
        }
    }
}

fn update(read: ContractState) -> ContractStateUpdate {
    ContractState::update()
        .next_tools(Vec::new())
        .tool_history(read.tool_history)
        .collected(read.collected)
        .absent(read.absent)
        .explored(read.explored)
        .unexplored(read.unexplored)
}
