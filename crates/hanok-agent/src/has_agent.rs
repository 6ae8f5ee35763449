//! States that hold an agent's.

use hanok_state::State;

use crate::state::{AgentState, AgentStateUpdate};

/// A state that holds an [`AgentState`], beside fields of one's own. Write `#[derive(HasAgent)]`, on a state with one field of
/// that type whose rule is `#[reduce(nested)]`.
///
/// ```
/// use hanok_agent::{AgentState, HasAgent, ReactAgent};
/// use hanok_graph::Context;
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_state::State;
///
/// #[derive(State, HasAgent, Clone, Debug, Default)]
/// struct Desk {
///     #[reduce(nested)]
///     agent: AgentState,
///     customer: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Exchange::says("Final Answer: Hello Kim").contains("speak with Kim")]);
/// let agent = ReactAgent::builder("desk", "Answers", model)
///     .state::<Desk>()
///     .prompt_by(|desk: &Desk, _: &()| format!("You speak with {}.", desk.customer))
///     .build()?;
/// let input = agent.ask("Hi").customer("Kim");
/// let desk = agent.graph().invoke(input, ()).await?.done()?;
/// assert_eq!(desk.agent().answer.as_deref(), Some("Hello Kim"));
/// # Ok(())
/// # }
/// ```
pub trait HasAgent: State {
    /// The agent's part.
    fn agent(&self) -> &AgentState;

    /// The agent's part alone.
    fn into_agent(self) -> AgentState;

    /// The update of this state that is this one of the agent's part.
    #[must_use]
    fn wrap(update: AgentStateUpdate) -> Self::Update;
}

impl HasAgent for AgentState {
    fn agent(&self) -> &AgentState {
        self
    }

    fn into_agent(self) -> AgentState {
        self
    }

    fn wrap(update: AgentStateUpdate) -> AgentStateUpdate {
        update
    }
}
