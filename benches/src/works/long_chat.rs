//! An agent's chat of 500 turns with a tool, in a window of 8,000 tokens: what is sent, what of it a server has read before, and
//! whether what was said long ago is still in the prompt that asks for it.
//!
//! The model is a function of its prompt, and `langgraph/suite.py` has the same one for LangChain's summarisation: every third turn
//! calls a tool whose result has some 800 tokens; a summary keeps the sentences that state a code, and the first few. A token is four
//! bytes of role, text and calls, in both.

use std::sync::{Arc, Mutex, PoisonError};

use hanok_agent::{Protocol, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Call, Effect};
use hanok_memory::{Compaction, Compactor, KeepRecent, Overflow, Trigger};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedTool, TokenCounter, ToolSpec,
};
use hanok_state::{Message, Role, ToolCall};
use serde_json::json;

use super::thread;
use crate::{
    Result,
    measure::{ensure, medians},
};

const TURNS: usize = if cfg!(test) { 60 } else { 500 };

/// The tokens of the window, of which six tenths fire a compaction.
const WINDOW: u64 = 8_000;

/// The turns between two facts, and the facts that the last turns ask for.
const EVERY: usize = TURNS / 10;
const FACTS: usize = 10;

const PROJECTS: [&str; FACTS] =
    ["Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine"];

const SENTENCES: [&str; 8] = [
    "The lease runs for two years, and either side may end it with two months' notice. ",
    "If the deposit is not paid back in time, interest is due at five per cent a year. ",
    "It is worth asking for a copy of the register before you sign; it is free of charge online. ",
    "In short: read the contract, compare the numbers, and keep what was said in writing. ",
    "This answers the first question; the second one needs the answer of a tool. ",
    "We deploy every Thursday at two, and roll back at once when something breaks. ",
    "The budget has not changed since the figure that I gave you last time. ",
    "I will check this with the person in charge and tell you again. ",
];

fn filler(from: usize, count: usize) -> String {
    (0..count).filter_map(|n| SENTENCES.get((from + n * 3) % 8).copied()).collect()
}

fn fact(number: usize) -> String {
    let project = PROJECTS.get(number).copied().unwrap_or_default();
    format!("The code of project {project} is {}.", 4_000 + 37 * number)
}

fn question(turn: usize) -> String {
    let asked = (turn + FACTS).checked_sub(TURNS);
    let said = match asked {
        Some(asked) => {
            format!("What is the code of project {}?", PROJECTS.get(asked).unwrap_or(&""))
        }
        None if turn % EVERY == 3 => fact(turn / EVERY),
        None => filler(turn * 5, 2),
    };
    format!("Turn {turn}: {said}")
}

/// The parts of a prompt, each as the text that is counted.
fn parts(request: &ChatRequest) -> Vec<String> {
    let tools = request.tools.iter().map(|tool| format!("{} {}", tool.name(), tool.schema()));
    let messages = request.messages.iter().map(|message| {
        let calls = message.tool_calls().iter();
        let calls: String =
            calls.map(|call| format!(" {} {}", call.name, call.arguments)).collect();
        format!("{} {}{calls}", message.role(), message.text())
    });
    tools.chain(messages).collect()
}

fn tokens(parts: &[String]) -> u64 {
    parts.iter().map(|part| u64::try_from(part.len()).unwrap_or(u64::MAX)).sum::<u64>() / 4
}

/// What was sent.
#[derive(Debug, Default)]
struct Course {
    sent: u64,
    read: u64,
    largest: u64,
    recalled: usize,
    orphans: usize,
    before: Vec<String>,
}

impl Course {
    fn request(&mut self, request: &ChatRequest, is_summary: bool) {
        let parts = parts(request);
        let same = parts.iter().zip(&self.before).take_while(|(now, then)| now == then).count();
        self.sent += tokens(&parts);
        self.read += tokens(parts.get(..same).unwrap_or_default());
        if is_summary {
            return;
        }
        self.largest = self.largest.max(tokens(&parts));
        self.before = parts;
        let calls = request.messages.iter().flat_map(Message::tool_calls).map(|call| &*call.id);
        let results: Vec<_> = request.messages.iter().filter_map(Message::tool_call_id).collect();
        let calls: Vec<_> = calls.collect();
        self.orphans += calls.iter().filter(|id| !results.contains(id)).count();
        self.orphans += results.iter().filter(|id| !calls.contains(id)).count();
    }
}

/// A model that is a function of its prompt.
#[derive(Debug, Clone, Default)]
struct Scripted(Arc<Mutex<Course>>);

impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(&self, request: ChatRequest, _: &Call) -> Result<ChatReply, ModelError> {
        let mut course = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |message: Option<&Message>| {
            message.map(|message| message.text().into_owned()).unwrap_or_default()
        };
        let (first, last) = (text(request.messages.first()), text(request.messages.last()));
        let is_summary =
            last.starts_with("Do not answer. Summarise") || first.contains("between the marks");
        course.request(&request, is_summary);
        let message = match is_summary {
            true => Message::assistant(summary(&request)),
            false => {
                let asked = request.messages.iter().rev().find(|it| it.text().starts_with("Turn "));
                reply(&text(asked), &request, &mut course)
            }
        };
        Ok(ChatReply::new(message, "scripted"))
    }
}

/// The sentences that state a code, and the first few of the others.
fn summary(request: &ChatRequest) -> String {
    let whole: String = request.messages.iter().skip(1).map(|it| it.text() + "\n").collect();
    let facts = (0..FACTS).map(fact).filter(|fact| whole.contains(fact.as_str()));
    let others = SENTENCES.iter().filter(|sentence| whole.contains(**sentence)).take(4);
    facts.map(|fact| fact + " ").chain(others.map(|it| (*it).to_owned())).collect()
}

fn reply(asked: &str, request: &ChatRequest, course: &mut Course) -> Message {
    let number = asked.split([' ', ':']).nth(1).and_then(|turn| turn.parse::<usize>().ok());
    let turn = number.unwrap_or_default();
    let is_answered = request.messages.last().is_some_and(|last| last.role() == Role::Tool);
    if let Some(number) = (turn + FACTS).checked_sub(TURNS) {
        let fact = fact(number);
        let is_there = request.messages.iter().any(|message| message.text().contains(&fact));
        course.recalled += usize::from(is_there);
        return Message::assistant(if is_there { fact } else { "I do not know.".to_owned() });
    }
    match turn % 3 == 1 && !is_answered {
        true => {
            let call = ToolCall::new(turn.to_string(), "look", json!({ "turn": turn }));
            Message::assistant("").with_tool_calls([call])
        }
        false => Message::assistant(filler(turn, 6)),
    }
}

fn look() -> Result<SharedTool> {
    let schema = json!({ "properties": { "turn": { "type": "integer" } }, "required": ["turn"] });
    let look =
        FnTool::untyped(ToolSpec::new("look", "Looks", schema)?, |arguments, _| async move {
            let turn = arguments.as_str().chars().filter(char::is_ascii_digit).collect::<String>();
            Ok(filler(turn.parse().unwrap_or_default(), 40).into())
        });
    Ok(SharedTool::new(look.effect(Effect::Pure)))
}

/// Tokens that were sent and read before, those of the largest prompt, the facts that were recalled, the calls and results that stand
/// alone, and the cost where a token that was read before costs a tenth.
pub(crate) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let policy = Compaction::new()
        .trigger(Trigger::Fraction(0.6))
        .window(WINDOW)
        .keep(KeepRecent::Messages(20))
        .overflow(Overflow::Fold)
        .counter(TokenCounter::estimate());
    medians(rounds.min(1), async || {
        let model = Scripted::default();
        let agent = ReactAgent::builder("chat", "Answers", model.clone())
            .protocol(Protocol::Native)
            .tools([look()?])
            .memory(Compactor::new(policy.clone(), model.clone())?)
            .build()?;
        let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
        for turn in 0..TURNS {
            thread.invoke(agent.ask(question(turn)), ()).await?.done()?;
        }
        let course = model.0.lock().unwrap_or_else(PoisonError::into_inner);
        ensure(course.largest < WINDOW && course.orphans == 0, "a prompt is no good")?;
        let (sent, read) = (course.sent as f64, course.read as f64);
        Ok([
            sent / 1e3,
            100.0 * read / sent,
            (read / 10.0 + (sent - read)) / 1e3,
            course.largest as f64,
            course.recalled as f64,
            course.orphans as f64,
        ])
    })
}
