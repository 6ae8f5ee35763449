//! States that hold no agent, two, or one whose rule is not `nested`.

use hanok::{
    State,
    agent::{AgentState, HasAgent},
};

#[derive(State, HasAgent, Clone, Default, Debug)]
struct Nowhere {
    customer: String,
}

#[derive(State, HasAgent, Clone, Default, Debug)]
struct Plain {
    agent: AgentState,
}

#[derive(State, HasAgent, Clone, Default, Debug)]
struct Two {
    #[reduce(nested)]
    agent: AgentState,
    #[reduce(nested)]
    other: AgentState,
}

fn main() {}
