//! Makes the calls, one after the other or all at once.

use futures::future::join_all;
use hanok_agent::{Language, Observation};
use hanok_graph::{Context, Snapshot};
use hanok_model::ToolError;
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
    for (index, call) in state.next_tools.iter().enumerate() {
        let call = completed(call.clone(), &read);
        if read.tool_history.has(&call) {
            continue;
        }
        let found = expert.made(&context, index, &call).await?;
        keep(&mut read, &context, &call, found);
    }
    Ok(update(read))
}

/// Makes all calls at once.
pub(crate) async fn parallel_executor(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    let calls = state.next_tools.iter().enumerate();
    let made = join_all(calls.map(|(index, call)| expert.made(&context, index, call))).await;
    let mut read = ContractState::clone(&state);
    for (call, found) in state.next_tools.iter().zip(made) {
        keep(&mut read, &context, call, found?);
    }
    Ok(update(read))
}

impl Expert {
    /// Makes a call, once and for all of the task's runs.
    async fn made(
        &self,
        context: &Context,
        index: usize,
        call: &ToolCall,
    ) -> Result<Observation, NodeFailure> {
        let given = context.call("tool", &call.name, call.arguments.as_str());
        let run = || self.tools.execute(call, &given, Language::Korean);
        let made = context.step(&format!("tool-{index}"), run).await;
        made.map_err(|error| match error {
            hanok_graph::StepError::Failed(cause) => match cause.downcast::<ToolError>() {
                Ok(source) => NodeFailure::Tool { tool: call.name.clone(), source: *source },
                Err(cause) => hanok_graph::StepError::Failed(cause).into(),
            },
            error => error.into(),
        })
    }
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
