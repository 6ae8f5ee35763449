//! Agents whose tools write and run other agents, under schedules of crashes and deploys: what is written is written once.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::time::Duration;

use hanok_agent::{
    AgentState, AgentTool, HasAgent, Hook, Hooked, Protocol, ReactAgent, ReactAgentBuilder,
};
use hanok_core::{BoxError, Call, Effect, Fields, Stored};
use hanok_graph::Context;
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedTool, ToolError, ToolOutput,
    ToolSpec,
};
use hanok_simulation::{Effects, Fault, Faults, Simulation, World};
use hanok_state::{Message, Role, State, StateUpdate, ToolCall};
use hanok_testkit::{is_full, stretch};
use serde_json::json;

/// The build that begins.
#[derive(State, HasAgent, Clone, Debug, Default)]
struct Desk {
    #[reduce(nested)]
    agent: AgentState,
    #[reduce(append)]
    orders: Vec<String>,
    customer: String,
    cents: u64,
}

/// The build that goes on: the lines have another name, the sum another unit, and something is new.
#[derive(State, HasAgent, Clone, Debug, Default)]
#[state(version = 2, upgrade = in_euros)]
struct NewDesk {
    #[reduce(nested)]
    agent: AgentState,
    #[reduce(append)]
    #[state(alias = "orders")]
    lines: Vec<String>,
    customer: String,
    euros: u64,
    note: String,
}

fn in_euros(_: u32, fields: &mut Fields) -> Result<(), BoxError> {
    if let Some(cents) = fields.take("cents") {
        let cents: u64 = cents.to_stored().decode()?;
        let euros = hanok_core::Change::Set(Stored::encode(&(cents / 100))?);
        fields.apply("euros", &euros)?;
    }
    Ok(())
}

/// What both builds write.
trait Lines: HasAgent {
    fn line(text: &str) -> Self::Update;
    fn served(customer: &str, cents: u64) -> Self::Update;
    fn told(&self) -> String;
}

impl Lines for Desk {
    fn line(text: &str) -> Self::Update {
        Self::update().push_orders(text)
    }

    fn served(customer: &str, cents: u64) -> Self::Update {
        Self::update().customer(customer).cents(cents)
    }

    fn told(&self) -> String {
        format!("{:?} {} {}", self.orders, self.customer, self.cents / 100)
    }
}

impl Lines for NewDesk {
    fn line(text: &str) -> Self::Update {
        Self::update().push_lines(text)
    }

    fn served(customer: &str, cents: u64) -> Self::Update {
        Self::update().customer(customer).euros(cents / 100)
    }

    fn told(&self) -> String {
        format!("{:?} {} {}", self.lines, self.customer, self.euros)
    }
}

/// A model that asks for the same calls at the beginning of each turn, and answers when it has seen their results.
#[derive(Debug, Clone, Copy)]
struct Rote(&'static [&'static str]);

impl ChatModel for Rote {
    fn name(&self) -> &str {
        "rote"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        let is_result = request.messages.last().is_some_and(|it| it.role() == Role::Tool);
        let turn = request.messages.iter().filter(|it| it.role() == Role::User).count();
        let call = |(n, tool): (usize, &&str)| {
            let arguments = json!({ "task": format!("t{turn}") }).to_string();
            ToolCall::new(format!("{turn}-{n}"), *tool, arguments)
        };
        let message = match is_result {
            true => Message::assistant("done"),
            false => Message::assistant("").with_tool_calls(self.0.iter().enumerate().map(call)),
        };
        Ok(ChatReply::new(message, "rote"))
    }
}

fn tool(
    name: &str,
    effect: Effect,
    run: impl Fn(&str, &Call) -> ToolOutput + Send + Sync + 'static,
) -> SharedTool {
    let schema = json!({"properties": {"task": {"type": "string"}}});
    let spec = ToolSpec::new(name, "A tool", schema).unwrap();
    SharedTool::new(
        FnTool::untyped(spec, move |arguments, call| {
            let task: serde_json::Value = arguments.decode().unwrap();
            std::future::ready(Ok(run(task["task"].as_str().unwrap(), &call)))
        })
        .effect(effect),
    )
}

/// A tool that writes a line and may be repeated; one that writes who is served, with this effect on the world; and one that
/// writes what another one sets as well.
fn tools<S: Lines>(serving: Effect) -> [SharedTool; 3] {
    let write = |output: ToolOutput, update: S::Update| output.update(&update).unwrap();
    [
        tool("order", Effect::Pure, move |task, _| {
            write(ToolOutput::new("ordered"), S::line(&format!("order {task}")))
        }),
        tool("serve", serving, move |task, call| {
            let effects = call.provided::<Effects>().unwrap();
            let update = S::served(task, 700).and(S::line(&format!("serve {task}")));
            let made = write(ToolOutput::new("served"), update);
            if serving == Effect::AtMostOnce {
                // What a person says of a call in doubt is what the ledger holds.
                effects.made(call.key().as_str(), &"served");
            }
            made
        }),
        tool("again", Effect::Pure, move |_, _| {
            write(ToolOutput::new("never"), S::served("never", 0).and(S::line("never")))
        }),
    ]
}

/// Writes a line before and after each turn.
#[derive(Debug)]
struct Frame;

impl<S: Lines> Hook<S, Effects> for Frame {
    async fn before_agent(&self, _: &S, _: &Context<Effects>) -> Result<Hooked<S>, BoxError> {
        Ok(Hooked::new().update(S::line("begin")))
    }

    async fn after_agent(&self, _: &S, _: &Context<Effects>) -> Result<Hooked<S>, BoxError> {
        Ok(Hooked::new().update(S::line("end")))
    }
}

fn agent<S: Lines>(world: &World, calls: &'static [&'static str]) -> ReactAgentBuilder<S, Effects> {
    ReactAgent::builder("desk", "Serves", Rote(calls))
        .protocol(Protocol::Native)
        .state::<S>()
        .services::<Effects>()
        .tools(tools::<S>(Effect::Idempotent))
        .hook(Frame)
        .runtime(world.runtime())
}

fn writing<S: Lines>(world: &World) -> Result<(hanok_graph::Graph<S, Effects>, Effects), BoxError> {
    let agent = agent::<S>(world, &["order", "serve", "order", "again"]).build()?;
    Ok((agent.graph().clone(), world.effects()))
}

fn asked<S: Lines>() -> S::Update {
    let agent = ReactAgent::builder("desk", "Serves", Rote(&[])).state::<S>().build().unwrap();
    agent.ask("?")
}

/// B120: the lines of a turn, in their order, each once; the later of two writes of a value never.
#[test]
fn what_tools_and_hooks_write_is_written_once_wherever_the_process_dies() {
    let simulation = Simulation::of(writing::<Desk>)
        .input(asked::<Desk>())
        .input(asked::<Desk>())
        .view(Desk::told);
    let want = r#"["begin", "order t1", "serve t1", "order t1", "end", "begin", "order t2", "serve t2", "order t2", "end"] t2 7"#;
    assert_eq!(simulation.quiet_end(0).unwrap(), want);
    let report = simulation.crash_everywhere(false).unwrap();
    assert!(report.faults[&Fault::Crash] > 40, "{report}");
    simulation.clone().seeds(stretch(0..150)).run().unwrap();
}

/// B120: a build with another state takes over anywhere: between a tool's result and the commit of its step too.
#[test]
fn what_a_tool_wrote_before_a_deploy_is_read_by_the_next_build() {
    let simulation = Simulation::of(writing::<Desk>)
        .input(asked::<Desk>())
        .deploy(writing::<NewDesk>)
        .input(asked::<NewDesk>())
        .input(asked::<NewDesk>())
        .view(NewDesk::told);
    let report = simulation.seeds(stretch(0..400)).faults(Faults::all()).run().unwrap();
    assert!(report.faults[&Fault::Crash] > if is_full() { 50 } else { 5 }, "{report}");
}

/// B123: two sub-agents at once, each with a call that must not be repeated: entered again after a crash, and never in doubt
/// themselves.
#[test]
fn tools_that_run_agents_are_entered_again_wherever_the_process_dies() {
    let simulation = Simulation::of(|world| {
        let sub = |name: &str| {
            let agent = ReactAgent::builder(name, "Serves", Rote(&["serve", "order"]))
                .protocol(Protocol::Native)
                .state::<Desk>()
                .services::<Effects>()
                .tools(tools::<Desk>(Effect::AtMostOnce))
                .build()?;
            Ok::<_, BoxError>(AgentTool::new(agent)?)
        };
        let agent = agent::<Desk>(world, &["one", "order", "two"]).tool(sub("one")?);
        let agent = agent.tool(sub("two")?).build()?;
        Ok((agent.graph().clone(), world.effects()))
    });
    let simulation = simulation.input(asked::<Desk>()).view(|desk: &Desk| {
        let results = desk.agent.messages.iter().filter(|it| it.role() == Role::Tool);
        let results: Vec<_> = results.map(|it| it.text().into_owned()).collect();
        format!("{results:?} {}", desk.told())
    });
    let want = r#"["done", "ordered", "done"] ["begin", "order t1", "end"]  0"#;
    assert_eq!(simulation.quiet_end(0).unwrap(), want);
    let report = simulation.crash_everywhere(false).unwrap();
    assert!(report.faults[&Fault::Crash] > 40, "{report}");
    simulation.clone().seeds(stretch(0..150)).run().unwrap();
}

/// How a payment of [`paying`] may be lost sight of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lost {
    /// It outlives the time of its tool.
    Late,
    /// It outlives the time of the agent that makes it.
    LateWithin,
    /// So does one that has a note.
    Noted,
    /// It panics.
    Panics,
}

/// A tool that pays once for each key, after some time, and may be lost sight of.
fn pay(world: &World, lost: Lost) -> FnTool {
    let spec = ToolSpec::new("pay", "Pays", json!({"properties": {"task": {"type": "string"}}}));
    let runtime = world.runtime();
    let tool = FnTool::untyped(spec.unwrap(), move |_, call| {
        let runtime = runtime.clone();
        async move {
            let effects = call.provided::<Effects>().unwrap();
            let wait = |bits: u64| runtime.clock.sleep(Duration::from_millis(bits & 31));
            wait(runtime.rng.bits()).await;
            let noted = call.noted::<String>().map_err(ToolError::failed)?;
            if noted.is_none() {
                effects.made(call.key().as_str(), &"paid");
            }
            if lost == Lost::Noted && noted.is_none() {
                call.note(&"paid").await.map_err(|error| ToolError::InDoubt(error.into()))?;
            }
            assert!(lost != Lost::Panics || runtime.rng.bits() & 1 == 0, "it breaks");
            wait(runtime.rng.bits()).await;
            Ok(ToolOutput::new("paid"))
        }
    });
    let tool = tool.effect(Effect::AtMostOnce);
    match lost {
        Lost::Late => tool.timeout(Duration::from_millis(24)),
        _ => tool,
    }
}

type Payer = ReactAgentBuilder<AgentState, Effects>;

fn payer(world: &World, name: &str, calls: &'static [&'static str]) -> Payer {
    ReactAgent::builder(name, "Pays", Rote(calls))
        .protocol(Protocol::Native)
        .services::<Effects>()
        .runtime(world.runtime())
}

/// Pays, by itself or through an agent.
fn paying(world: &World, lost: Lost) -> Result<Payer, BoxError> {
    let own = |name| payer(world, name, &["pay"]).tool(pay(world, lost));
    if !matches!(lost, Lost::LateWithin | Lost::Noted) {
        return Ok(own("desk"));
    }
    let agent = AgentTool::new(own("payer").build()?)?.timeout(Duration::from_millis(24));
    Ok(payer(world, "desk", &["payer", "payer"]).tool(agent))
}

/// P4: a payment that is lost sight of is asked about, wherever the process dies: none is made twice without a word, and of none that
/// was made is nothing known. A model may be told of a failure, and of nothing that is in doubt.
#[test]
fn a_payment_that_is_lost_sight_of_is_asked_about_wherever_the_process_dies() {
    for lost in [Lost::Late, Lost::LateWithin, Lost::Noted, Lost::Panics] {
        let simulation = Simulation::of(move |world| {
            let agent = paying(world, lost)?.build()?;
            Ok((agent.graph().clone(), world.effects()))
        });
        let simulation = simulation.input(asking()).input(asking()).any_end();
        simulation.seeds(stretch(0..150)).run().unwrap_or_else(|why| panic!("{lost:?}: {why}"));
    }
}

fn asking() -> <AgentState as State>::Update {
    ReactAgent::builder("payer", "Pays", Rote(&[])).build().unwrap().ask("?")
}
