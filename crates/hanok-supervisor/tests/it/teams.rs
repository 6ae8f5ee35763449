//! Teams in teams: supervisors, swarms and graphs as members.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::sync::{Arc, Mutex};

use hanok_agent::{
    Approval, CapabilityPolicy, Decision, HandoffHistory, HandoffTool, ReactAgent,
    ReactAgentBuilder, StopReason,
};
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{BoxError, Tenant, ThreadKey};
use hanok_graph::{Context, END, Graph, Outcome, START, Snapshot, Thread};
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, ToolSpec};
use hanok_state::{Arguments, State};
use hanok_supervisor::{
    Member, OutputMode, Supervisor, SupervisorBuilder, SupervisorFault, SupervisorState, Swarm,
    SwarmFault,
};
use serde_json::json;

type Ledger = Arc<Mutex<Vec<String>>>;

/// A tool that must not be called twice.
fn pay(ledger: &Ledger) -> SharedTool {
    let ledger = ledger.clone();
    let spec = ToolSpec::new("pay", "Pays", json!({"properties": {"to": {"type": "string"}}}));
    SharedTool::new(FnTool::untyped(spec.unwrap(), move |arguments: Arguments, _| {
        ledger.lock().unwrap().push(arguments.to_string());
        async { Ok("paid".into()) }
    }))
}

fn says(text: &str) -> Exchange {
    Exchange::says(text)
}

fn delegates(to: &str, task: &str) -> Exchange {
    says(&format!("Delegate: {to}\nTask: {task}"))
}

fn agent(name: &str, model: &ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder(name, format!("Knows {name}"), model.clone())
}

/// A team of one agent under a supervisor.
fn team(name: &str, member: impl Into<Member>, model: &ScriptedModel) -> SupervisorBuilder {
    let team = Supervisor::builder(model.clone()).name(name);
    team.description(format!("Does {name}")).agent(member)
}

fn top(member: impl Into<Member>, model: &ScriptedModel) -> Supervisor {
    Supervisor::builder(model.clone()).agent(member).build().unwrap()
}

fn thread(supervisor: &Supervisor, store: &SharedCheckpointer) -> Thread<SupervisorState> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    supervisor.graph().checkpointer(store.clone()).thread(key)
}

async fn answer(supervisor: &Supervisor, text: &str) -> SupervisorState {
    supervisor.graph().invoke(supervisor.ask(text), ()).await.unwrap().done().unwrap()
}

#[derive(State, Clone, Debug, Default)]
struct Echo {
    text: String,
}

/// A graph that says back what it is told, louder.
fn echo() -> Graph<Echo> {
    async fn node(state: Snapshot<Echo>, _: Context) -> Result<EchoUpdate, BoxError> {
        Ok(Echo::update().text(state.text.to_uppercase()))
    }
    let graph = Graph::<Echo>::builder("echo").node("node", node);
    graph.edge(START, "node").edge("node", END).build().unwrap()
}

fn echo_member(name: &str) -> Member {
    let input = |input: hanok_supervisor::MemberInput| Echo::update().text(input.text());
    Member::graph(name, "Shouts", echo(), input, |state| state.text)
}

/// A question of an agent two teams down is answered by another process on the same store, and nothing is done twice.
#[tokio::test]
async fn a_question_deep_in_teams_is_answered_from_another_handle() {
    let (ledger, store) = (Ledger::default(), SharedCheckpointer::new(InMemoryCheckpointer::new()));
    let build = |model: &ScriptedModel| {
        let bank = agent("bank", model).tool(pay(&ledger)).intercept(Approval::new().tool("pay"));
        let swarm =
            Swarm::builder().name("desk").description("Serves").agent(bank.build().unwrap());
        let money = team("money", swarm.build().unwrap(), model).build().unwrap();
        top(money, model)
    };
    let before = ScriptedModel::new([
        delegates("money", "pay Kim"),
        delegates("desk", "pay Kim 10").contains("Task: pay Kim"),
        says("Action: pay\nAction Input: {\"to\": \"kim\"}").contains("Task: pay Kim 10"),
    ]);
    let first = build(&before);
    let asked = match thread(&first, &store).invoke(first.ask("Pay Kim"), ()).await.unwrap() {
        Outcome::Interrupted(asked) => asked,
        other => panic!("{other:?}"),
    };
    // Three graphs deep: the team, the swarm, and the agent.
    assert_eq!((asked.len(), asked[0].path.depth()), (1, 3));
    assert!(ledger.lock().unwrap().is_empty());
    before.finished().unwrap();

    let after = ScriptedModel::new([
        says("Final Answer: paid").contains("paid"),
        says("Final Answer: Kim was paid.").contains("result: paid"),
        says("Final Answer: Kim has the money.").contains("result: Kim was paid."),
    ]);
    let second = thread(&build(&after), &store);
    let done = second.reply(&Decision::Approve, ()).await.unwrap().done().unwrap();
    assert_eq!(done.answer.as_deref(), Some("Kim has the money."));
    assert_eq!(done.agent_outputs.get("money").map(String::as_str), Some("Kim was paid."));
    assert_eq!(*ledger.lock().unwrap(), [r#"{"to":"kim"}"#]);
    after.finished().unwrap();
}

/// A supervisor of a supervisor runs the agents of both, and each reads only what its own was told.
#[tokio::test]
async fn a_team_reads_the_user_and_its_task_and_returns_its_answer_alone() {
    for output in [OutputMode::Last, OutputMode::Full] {
        let model = ScriptedModel::new([
            delegates("research", "find the leave"),
            delegates("rules", "look it up").contains("How much?").contains("Task: find the leave"),
            says("Final Answer: 15").contains("look it up").lacks("find the leave"),
            says("Final Answer: It is 15 days.").contains("result: 15"),
            match output {
                OutputMode::Full => says("Final Answer: 15.").contains("[rules] 15"),
                _ => says("Final Answer: 15.").contains("It is 15 days.").lacks("[rules] 15"),
            },
        ]);
        let research = team("research", agent("rules", &model).build().unwrap(), &model);
        let research = research.build().unwrap();
        let top = Supervisor::builder(model.clone()).agent(research).output(output);
        let state = answer(&top.build().unwrap(), "How much?").await;
        assert_eq!(state.answer.as_deref(), Some("15."));
        model.finished().unwrap();
    }
}

/// A delegation without a task inside a team is one of the task that the team was given.
#[tokio::test]
async fn a_delegation_without_a_task_is_of_the_team_s_own() {
    let model = ScriptedModel::new([
        delegates("research", "find the leave"),
        says("Delegate: rules"),
        says("Final Answer: 15").contains("Task: find the leave"),
        says("Final Answer: 15"),
        says("Final Answer: 15"),
    ]);
    let research = team("research", agent("rules", &model).build().unwrap(), &model);
    answer(&top(research.build().unwrap(), &model), "How much?").await;
    model.finished().unwrap();
}

/// The task of a team is another model's words for its agents too.
#[tokio::test]
async fn a_team_s_task_is_untrusted_for_its_agents() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new([
        delegates("money", "pay Eve"),
        says("Delegate: bank"),
        says("Action: pay\nAction Input: {\"to\": \"eve\"}").contains("Task: pay Eve"),
        says("Final Answer: refused"),
        says("Final Answer: refused"),
        says("Final Answer: refused"),
    ]);
    let policy = CapabilityPolicy::new().refuse_after_untrusted();
    let bank = agent("bank", &model).tool(pay(&ledger)).intercept(policy).build().unwrap();
    answer(&top(team("money", bank, &model).build().unwrap(), &model), "Pay Kim").await;
    assert!(ledger.lock().unwrap().is_empty());
    model.finished().unwrap();
}

/// A team that has no answer says why in its own words, and the supervisor goes on.
#[tokio::test]
async fn a_team_without_an_answer_says_why() {
    let model = ScriptedModel::new([
        delegates("research", "find it"),
        // The first routing call of the team is its last, so it delegates to nobody.
        delegates("rules", "look it up"),
        says("Final Answer: sorry").contains("limit of 1 routing calls"),
    ]);
    let research = team("research", agent("rules", &model).build().unwrap(), &model);
    let top = top(research.max_iterations(1).build().unwrap(), &model);
    assert_eq!(answer(&top, "?").await.answer.as_deref(), Some("sorry"));
    model.finished().unwrap();
}

/// A graph of one's own has its task, and a result that is none is told as such.
#[tokio::test]
async fn a_graph_is_a_member_with_its_own_way_in_and_out() {
    let model = ScriptedModel::new([
        delegates("echo", "quiet words"),
        delegates("mute", "say it").contains("result: QUIET WORDS"),
        says("Final Answer: done").contains("No answer: nothing was found."),
    ]);
    let mute = Member::graph("mute", "Is silent", echo(), |_| Echo::update(), |_| None);
    let top = Supervisor::builder(model.clone()).agent(echo_member("echo")).agent(mute);
    assert_eq!(answer(&top.build().unwrap(), "?").await.answer.as_deref(), Some("done"));
    model.finished().unwrap();
}

/// An agent of a swarm hands over to a graph, with the task as it was written, and to a team, which sees calls as data.
#[tokio::test]
async fn an_agent_of_a_swarm_hands_over_to_a_graph_and_to_a_team() {
    let over = |to: &str, task: &str| {
        says(&format!("Action: transfer_to_{to}\nAction Input: {{\"task\": \"{task}\"}}"))
    };
    for (to, script, said) in [
        ("echo", vec![], "QUIET"),
        (
            "research",
            vec![
                delegates("rules", "look").contains("<data-").contains("Task: quiet"),
                says("Final Answer: 15"),
                says("Final Answer: It is 15."),
            ],
            "It is 15.",
        ),
    ] {
        let first = over(to, "quiet");
        let model = ScriptedModel::new([first].into_iter().chain(script));
        let tool = HandoffTool::to(to, "Helps").history(HandoffHistory::Full);
        let front = agent("front", &model).handoff(tool).build().unwrap();
        let research = team("research", agent("rules", &model).build().unwrap(), &model);
        let members = Swarm::builder().agent(front).agent(echo_member("echo"));
        let swarm = members.agent(research.build().unwrap()).build().unwrap();
        let state = swarm.graph().invoke(swarm.ask("Hi"), ()).await.unwrap().done().unwrap();
        assert_eq!((state.answer.as_deref(), state.active.as_str()), (Some(said), to));
        assert_eq!(state.stopped, Some(StopReason::Answered));
        // What the team did inside is its own.
        let texts: Vec<_> = state.messages.iter().map(|message| message.text()).collect();
        assert!(!texts.iter().any(|text| text.contains("Delegate:")), "{texts:?}");
        assert_eq!(texts.last().map(AsRef::as_ref), Some(said));
        model.finished().unwrap();
    }
}

/// Names are unique across kinds, and a team has a description.
#[test]
fn teams_that_cannot_be_are_refused_with_every_fault() {
    let model = ScriptedModel::new([]);
    let rules = || agent("rules", &model).build().unwrap();
    let nameless = Supervisor::builder(model.clone()).agent(rules()).build().unwrap();
    let error = Supervisor::builder(model.clone())
        .agent(rules())
        .agent(team("rules", rules(), &model).build().unwrap())
        .agent(nameless)
        .agent(echo_member("a\nb"))
        .build()
        .unwrap_err();
    insta::assert_snapshot!(error, @r#"
    the supervisor cannot be built
    - two agents are named `rules`
    - `supervisor` is a team without a description; give it a `.name(…)` and say with `.description(…)` what it is for
    - an agent cannot be named "a\nb": it takes 1 to 64 characters without control characters
    "#);
    assert!(matches!(&error.faults[0], SupervisorFault::TwiceNamed { agent } if agent == "rules"));

    let twice = Swarm::builder().agent(rules()).agent(echo_member("rules")).build().unwrap_err();
    assert!(matches!(&twice.faults[..], [SwarmFault::TwiceNamed { agent }] if agent == "rules"));
}

/// The drawing of a team shows the teams in it.
#[test]
fn the_drawing_of_a_team_shows_those_in_it() {
    let model = ScriptedModel::new([]);
    let rules = agent("rules", &model).build().unwrap();
    let swarm = Swarm::builder().name("desk").description("Serves").agent(rules);
    let middle = team("money", swarm.build().unwrap(), &model).build().unwrap();
    let drawn = top(middle, &model).drawing().mermaid();
    for name in ["money", "desk", "rules", "call_model"] {
        assert!(drawn.contains(name), "{name}: {drawn}");
    }
}
