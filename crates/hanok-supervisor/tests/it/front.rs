//! What stands in front of a prompt stays, over random histories of agents, supervisors and compactions: a request begins with all
//! of the one before it in its thread, or a break is said between them, and none is said without one.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures::StreamExt;
use hanok_agent::{
    AgentState, AgentStateUpdate, BreakCause, DataMark, Language, Protocol, ReactAgent,
    memory::{Compaction, Compactor, KeepRecent, Overflow, Trigger, turn_data},
};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Tenant, ThreadKey};
use hanok_graph::{Durability, Event, EventKind, Graph, Input, Mode, Thread};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedModel, SharedTool, TokenCounter,
    ToolSpec,
};
use hanok_state::{Message, State, ToolCall};
use hanok_supervisor::{Supervisor, SupervisorState};
use hanok_testkit::{is_full, stretch};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The histories, of agents and of supervisors.
const AGENTS: u64 = 6_000;
const SUPERVISORS: u64 = 4_000;

/// Numbers from a seed (SplitMix64).
#[derive(Debug)]
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn words(&mut self, most: u64) -> String {
        let count = 1 + self.below(most);
        let words = ["leave", "rule", "fifteen", "days", "budget"];
        (0..count).map(|_| words[self.below(5) as usize]).collect::<Vec<_>>().join(" ")
    }
}

/// What was sent and what is still to be drawn, which the models of a history share.
#[derive(Debug)]
struct World {
    draw: Draw,
    sent: Vec<(String, ChatRequest)>,
    calls: u64,
}

/// An event of a request that was answered.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sent {
    RequestSent { number: usize, summary: bool },
}

/// An event of a break, of an agent or a supervisor.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Broken {
    PromptBroken { cause: BreakCause },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Agent,
    Router,
}

/// A model that says anything.
#[derive(Clone, Debug)]
struct Improvising {
    name: &'static str,
    role: Role,
    world: Arc<Mutex<World>>,
}

impl Improvising {
    fn reply(&self, world: &mut World, native: bool) -> Message {
        let chance = world.draw.below(20);
        if self.role == Role::Router {
            let task = world.draw.words(4);
            return Message::assistant(match chance {
                0 => String::new(),
                1 => format!("Delegate: nobody\nTask: {task}"),
                2..=6 => format!("Delegate: left\nTask: {task}"),
                7..=8 => format!("Delegate: left\nTask: {task}\nDelegate: right\nTask: {task}"),
                9..=10 => "Delegate: right\nTask: the same".to_owned(),
                11 => "Delegate: left\nTask: a\nDelegate: nobody\nTask: b".to_owned(),
                _ => format!("Final Answer: {task}"),
            });
        }
        let words = world.draw.words(12);
        let mut call = |name: &str| {
            world.calls += 1;
            ToolCall::new(world.calls.to_string(), name, json!({ "words": world.draw.below(40) }))
        };
        match (chance, native) {
            (0, _) => Message::assistant(""),
            (1, true) => Message::assistant("").with_tool_calls([call("gone")]),
            (2..=3, true) => Message::assistant("").with_tool_calls([call("look"), call("look")]),
            (4..=11, true) => Message::assistant(words).with_tool_calls([call("look")]),
            (1, false) => Message::assistant("Action: gone\nAction Input: {}"),
            (2, false) => Message::assistant("Action: look\nAction Input: {broken"),
            (3..=11, false) => {
                let call = call("look");
                let text = format!("Action: look\nAction Input: {}", call.arguments);
                Message::assistant(text)
            }
            _ => Message::assistant(format!("Final Answer: {words}")),
        }
    }
}

impl ChatModel for Improvising {
    fn name(&self) -> &str {
        self.name
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let mut world = self.world.lock().unwrap();
        let text = |message: Option<&Message>| message.unwrap().text().into_owned();
        let summary = text(request.messages.first()).contains("between the marks")
            || text(request.messages.last()).starts_with("Do not answer. Summarise");
        if world.draw.below(30) == 0 {
            return Err(ModelError::ContextTooLong { limit: None, requested: None, source: None });
        }
        let native = !request.tools.is_empty();
        let message = match summary {
            true if world.draw.below(8) == 0 => Message::assistant(" "),
            true => Message::assistant("It was about leave."),
            false => self.reply(&mut world, native),
        };
        let number = world.sent.len();
        world.sent.push((self.name.to_owned(), request));
        call.custom(&Sent::RequestSent { number, summary });
        Ok(ChatReply::new(message, self.name))
    }
}

/// What a run is given: what its prompts are made of besides the conversation.
#[derive(Clone, Copy, Default)]
struct Knobs {
    prompt: u64,
    other_model: bool,
    more_tools: bool,
}

/// The requests of a thread, or of a member's run in it.
#[derive(Default)]
struct Chain {
    last: Option<usize>,
    broken: Vec<BreakCause>,
}

/// What was seen of the histories.
#[derive(Default)]
struct Course {
    chains: BTreeMap<String, Chain>,
    causes: BTreeMap<&'static str, u64>,
    kept: u64,
    /// Requests for summaries that begin as the last prompt, and those that were to and do not: something else changed too.
    shared: u64,
    other: u64,
}

impl Course {
    fn add(&mut self, course: Self) {
        for (cause, count) in course.causes {
            *self.causes.entry(cause).or_default() += count;
        }
        self.kept += course.kept;
        self.shared += course.shared;
        self.other += course.other;
    }

    /// Checks one event.
    fn event(&mut self, event: &Event, world: &Mutex<World>, history: &str) {
        let EventKind::Custom(item) = &event.kind else { return };
        let chain = self.chains.entry(event.path.to_string()).or_default();
        if let Ok(Broken::PromptBroken { cause }) = item.decode() {
            *self.causes.entry(cause.code()).or_default() += 1;
            chain.broken.push(cause);
        }
        let Ok(Sent::RequestSent { number, summary }) = item.decode() else { return };
        let world = world.lock().unwrap();
        let (model, request) = &world.sent[number];
        let begins = |with: usize, request: &[Message], whole: bool| {
            let (other, with) = &world.sent[with];
            let tools = with.tools == world.sent[number].1.tools;
            let common = with.messages.iter().zip(request).take_while(|(a, b)| a == b).count();
            let most =
                if whole { with.messages.len() } else { with.messages.len().min(request.len()) };
            other == model && tools && common >= most
        };
        if summary {
            // One that shares the front is, up to its last message, a beginning of the last prompt or of what follows it.
            if request.messages.last().unwrap().text().starts_with("Do not answer") {
                let front = &request.messages[..request.messages.len() - 1];
                let is_front = chain.last.is_none_or(|last| begins(last, front, false));
                self.shared += u64::from(is_front);
                self.other += u64::from(!is_front);
            }
            return;
        }
        if let Some(last) = chain.last {
            let stays = begins(last, &request.messages, true);
            let (then, now) = (&world.sent[last].1, request);
            assert_eq!(
                stays,
                chain.broken.is_empty(),
                "{history}: {:?}\n{then:#?}\n{now:#?}",
                chain.broken
            );
            self.kept += u64::from(stays);
        }
        *chain = Chain { last: Some(number), ..Chain::default() };
    }

    /// Runs one turn. A turn may fail: a model's window is full, and nothing is left to take. What its last task sent is then no
    /// part of the thread.
    async fn turn<S: State, C: Clone + Send + Sync + 'static>(
        &mut self,
        thread: &Thread<S, C>,
        input: S::Update,
        services: C,
        world: &Mutex<World>,
        history: &str,
    ) {
        let mut events = thread.stream(Input::New(input), services);
        while let Some(event) = events.next().await {
            self.event(&event, world, history);
        }
        if events.outcome().await.is_err() {
            self.chains.clear();
        }
    }
}

fn policy(draw: &mut Draw) -> Compaction {
    let trigger = match draw.below(6) {
        0..=3 => Trigger::Messages(6 + draw.below(6) as usize),
        4 => Trigger::Tokens(200 + draw.below(300)),
        _ => Trigger::Any(vec![Trigger::Messages(12), Trigger::Tokens(500)]),
    };
    let keep = match draw.below(2) {
        0 => KeepRecent::Messages(draw.below(4) as usize),
        _ => KeepRecent::Turns(1),
    };
    let overflow = if draw.below(2) == 0 { Overflow::Fold } else { Overflow::DropOldest };
    let policy = Compaction::new().trigger(trigger).keep(keep).overflow(overflow).long_result(40);
    policy.summary_tokens(30).counter(TokenCounter::estimate())
}

fn tool(name: &str) -> SharedTool {
    let schema = json!({ "properties": { "words": { "type": "integer" } } });
    let spec = ToolSpec::new(name, "Looks something up", schema).unwrap();
    SharedTool::new(FnTool::untyped(spec, |arguments, _| async move {
        let words = arguments.decode::<serde_json::Value>().unwrap()["words"].as_u64();
        Ok("found ".repeat(words.unwrap_or(3) as usize + 1).into())
    }))
}

fn agent(world: &Arc<Mutex<World>>, draw: &mut Draw) -> ReactAgent<AgentState, Knobs> {
    let model = |name| Improvising { name, role: Role::Agent, world: world.clone() };
    let (own, other) = (model("own"), SharedModel::new(model("other")));
    let (shared, more) = (SharedModel::new(own.clone()), tool("more"));
    let builder = ReactAgent::builder("agent", "Knows the rules", own.clone())
        .protocol(if draw.below(2) == 0 { Protocol::Native } else { Protocol::Text })
        .max_iterations(5)
        .tools([tool("look")])
        .services::<Knobs>()
        .prompt_by(|_, knobs: &Knobs| format!("You answer in manner {}.", knobs.prompt))
        .model_by(move |_, knobs| if knobs.other_model { other.clone() } else { shared.clone() })
        .tools_by(move |_, knobs| if knobs.more_tools { vec![more.clone()] } else { Vec::new() });
    let builder = match draw.below(4) {
        0 => builder,
        _ => builder.memory(Compactor::new(policy(draw), own).unwrap()),
    };
    builder.build().unwrap()
}

fn thread<S: State, C: Send + Sync + 'static>(graph: &Graph<S, C>, seed: u64) -> Thread<S, C> {
    let key = ThreadKey::new(Tenant::default(), &format!("t{seed}")).unwrap();
    graph
        .checkpointer(InMemoryCheckpointer::new())
        .thread(key)
        .durability(Durability::Exit)
        .modes([Mode::Custom])
}

impl World {
    fn of(seed: u64) -> Self {
        Self { draw: Draw(seed), sent: Vec::new(), calls: 0 }
    }
}

/// P61: of an agent, by text and by native calls, with and without a memory.
#[tokio::test]
async fn the_front_of_an_agent_s_prompt_stays_or_a_break_is_said() {
    let world = Arc::new(Mutex::new(World::of(0)));
    let mut draw = Draw(1);
    let agents: Vec<_> = (0..40).map(|_| agent(&world, &mut draw)).collect();
    let mut whole = Course::default();
    for (seed, agent) in stretch(0..AGENTS).zip(agents.iter().cycle()) {
        *world.lock().unwrap() = World::of(seed);
        let mut draw = Draw(!seed);
        let thread = thread(agent.graph(), seed);
        let (mut course, mut knobs) = (Course::default(), Knobs::default());
        for turn in 0..1 + draw.below(3) {
            match draw.below(30) {
                0 => knobs.prompt += 1,
                1 => knobs.other_model = !knobs.other_model,
                2 => knobs.more_tools = !knobs.more_tools,
                _ => {}
            }
            let mark = DataMark::from_code(format!("{:016x}", draw.next()));
            let question = Message::user(draw.words(10));
            let data = turn_data(&draw.words(20), Language::English, &mark);
            let data = data.filter(|_| turn % 3 == 1);
            let input =
                data.into_iter().fold(agent.input([question], None), AgentStateUpdate::message);
            course.turn(&thread, input, knobs, &world, &format!("agent {seed}, turn {turn}")).await;
        }
        whole.add(course);
    }
    // Each cause came, and most prompts stay.
    let Course { causes, kept, shared, other, .. } = whole;
    let all: Vec<_> = causes.keys().copied().collect();
    let every = ["compaction", "model", "more_tools", "prompt", "repair", "tools"];
    // A sample of agents may lack the rare ones.
    assert!(all == every || !is_full() && all.len() > 3, "{all:?}");
    let breaks: u64 = causes.values().sum();
    assert!(kept > breaks, "{kept} kept, {causes:?}");
    let (least, part) = if is_full() { (100, 9) } else { (10, 3) };
    assert!(shared > least && shared > part * other, "{shared} shared, {other} not");
}

/// P61: of a routing model and of the agents that it delegates to, each in its own run.
#[tokio::test]
async fn the_front_of_a_supervisor_s_prompt_stays_or_a_break_is_said() {
    let world = Arc::new(Mutex::new(World::of(0)));
    let model = |role| Improvising { name: "own", role, world: world.clone() };
    let member = |name| {
        let builder = ReactAgent::builder(name, "Knows", model(Role::Agent));
        builder.tools([tool("look")]).build().unwrap()
    };
    let supervisor = |n: usize| {
        let builder = Supervisor::builder(model(Role::Router)).keep_routing(n.is_multiple_of(2));
        let builder = builder.agent(member("left")).agent(member("right"));
        let builder = if n % 4 < 2 { builder.parallel() } else { builder };
        let memory = || Compactor::new(policy(&mut Draw(n as u64)), model(Role::Router)).unwrap();
        if n < 4 { builder } else { builder.memory(memory()) }.build().unwrap()
    };
    let supervisors: Vec<_> = (0..8).map(supervisor).collect();
    let mut whole = Course::default();
    for (seed, supervisor) in stretch(0..SUPERVISORS).zip(supervisors.iter().cycle()) {
        *world.lock().unwrap() = World::of(seed);
        let mut draw = Draw(!seed);
        let thread: Thread<SupervisorState> = thread(supervisor.graph(), seed);
        let mut course = Course::default();
        for turn in 0..1 + draw.below(3) {
            let input = supervisor.ask(draw.words(10));
            let history = format!("supervisor {seed}, turn {turn}");
            course.turn(&thread, input, (), &world, &history).await;
        }
        whole.add(course);
    }
    let Course { causes, kept, .. } = whole;
    assert_eq!(causes.keys().copied().collect::<Vec<_>>(), ["compaction", "repair"]);
    assert!(kept > causes["repair"] + causes["compaction"], "{kept} kept, {causes:?}");
}
