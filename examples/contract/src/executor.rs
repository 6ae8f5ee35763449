//! What the calls found.

use hanok_agent::Observation;
use hanok_graph::Context;
use hanok_state::ToolCall;

use crate::{
    Absent, ContractEvent, ContractState, Material, Missing, Origin, planner::shown_of,
    tools::Lookup,
};

/// What `call` found becomes part of what was read.
pub(crate) fn observe(
    read: &mut ContractState,
    call: &ToolCall,
    observation: Observation,
    context: &Context,
) {
    let lookup =
        observation.data.as_ref().and_then(|data| serde_json::from_value(data.0.clone()).ok());
    let Lookup { materials, mut absent } = lookup.unwrap_or_default();
    let fault = observation.fault.map(|_| observation.text);
    absent.extend(fault.iter().map(|fault| Absent::new(Missing::Fault, fault.as_str())));
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
