//! Teams whose agents see the services of the run.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_agent::{AgentState, HandoffTool, HasAgent, ReactAgent};
use hanok_core::{BoxError, Call, Effect};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolError};
use hanok_state::State;
use hanok_supervisor::{Member, Supervisor, Swarm};
use schemars::JsonSchema;
use serde::Deserialize;

/// What a run is given.
struct App {
    user: String,
}

#[derive(State, HasAgent, Clone, Debug, Default)]
struct Desk {
    #[reduce(nested)]
    agent: AgentState,
    seen: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn whoami() -> SharedTool {
    let run = |_: Nothing, call: Call| async move {
        let app = call.provided::<App>().map(|app| app.user.clone());
        let user = app.or_else(|| call.provided::<String>().map(|user| user.to_string()));
        Ok(format!("It is {}.", user.ok_or_else(|| ToolError::failed("nobody"))?).into())
    };
    let tool = FnTool::new("whoami", "Who asks", run).unwrap().effect(Effect::Pure);
    SharedTool::new(tool)
}

const CALL: &str = "Action: whoami\nAction Input: {}";

/// Agents with a state of their own, agents that need no services, teams in teams and a graph: all of one team.
#[tokio::test]
async fn the_members_of_a_team_see_its_services() {
    async fn own(
        _: Snapshot<AgentState>,
        cx: Context<App>,
    ) -> Result<<AgentState as State>::Update, BoxError> {
        Ok(AgentState::update().answer(Some(format!("graph of {}", cx.services().user))))
    }
    let graph =
        Graph::<AgentState, App>::builder("own").node("a", own).edge(START, "a").edge("a", END);
    let own = Member::graph(
        "own",
        "Is a graph",
        graph.build().unwrap(),
        |_| AgentState::update(),
        |it| it.answer,
    );
    let model = ScriptedModel::new([
        Exchange::says("Delegate: desk\nTask: who asks?"),
        Exchange::says(CALL),
        Exchange::says("Final Answer: Lee, it seems").contains("It is Lee."),
        Exchange::says("Delegate: mapped\nTask: and you?").contains("Lee, it seems"),
        Exchange::says(CALL),
        Exchange::says("Final Answer: the user Lee").contains("It is user Lee."),
        Exchange::says("Delegate: plain\nTask: and you?").contains("the user Lee"),
        Exchange::says("Final Answer: I know nobody"),
        Exchange::says("Delegate: team\nTask: and you?").contains("I know nobody"),
        Exchange::says("Delegate: own\nTask: and you?"),
        Exchange::says("Final Answer: a graph").contains("graph of Lee"),
        Exchange::says("Final Answer: Lee").contains("a graph"),
    ]);
    let agent = |name: &str| ReactAgent::builder(name, "Knows who asks", model.clone());
    let desk = agent("desk").state::<Desk>().services::<App>().tool(whoami()).build().unwrap();
    let mapped = agent("mapped").services::<String>().tool(whoami()).build().unwrap();
    let mapped = Member::from(mapped).with_services(|app: &App| format!("user {}", app.user));
    let plain = agent("plain").build().unwrap();
    let team = Supervisor::builder(model.clone())
        .services::<App>()
        .name("team")
        .description("A team")
        .agent(own);
    let supervisor = Supervisor::builder(model.clone())
        .max_iterations(8)
        .agent(plain)
        .services::<App>()
        .agent(desk)
        .agent(mapped)
        .agent(team.build().unwrap())
        .build()
        .unwrap();
    let input = supervisor.ask("Who am I?");
    let state = supervisor.graph().invoke(input, App { user: "Lee".into() }).await.unwrap();
    model.finished().unwrap();
    assert_eq!(state.done().unwrap().answer.as_deref(), Some("Lee"));
}

#[tokio::test]
async fn the_agents_of_a_swarm_see_its_services_and_hand_over() {
    let model = ScriptedModel::new([
        Exchange::says("Action: transfer_to_desk\nAction Input: {\"task\": \"who asks?\"}"),
        Exchange::says(CALL),
        Exchange::says("Final Answer: Lee").contains("It is Lee."),
    ]);
    let front = ReactAgent::builder("front", "Takes calls", model.clone())
        .services::<App>()
        .handoff(HandoffTool::to("desk", "Knows who asks"))
        .build()
        .unwrap();
    let desk = ReactAgent::builder("desk", "Knows who asks", model.clone())
        .state::<Desk>()
        .services::<App>()
        .tool(whoami())
        .build()
        .unwrap();
    let swarm = Swarm::builder().services::<App>().agent(front).agent(desk).build().unwrap();
    assert!(swarm.agents()[0].as_agent().is_some() && swarm.agents()[1].as_agent().is_none());
    let state = swarm.graph().invoke(swarm.ask("?"), App { user: "Lee".into() }).await.unwrap();
    model.finished().unwrap();
    let state = state.done().unwrap();
    assert_eq!((state.active.as_str(), state.answer.as_deref()), ("desk", Some("Lee")));
}
