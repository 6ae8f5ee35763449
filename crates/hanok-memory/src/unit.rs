//! The parts of a conversation that stay together.

use std::collections::HashMap;

use hanok_parse::{Bare, Declared, Parser};
use hanok_state::{Message, Role};

use crate::turn_data::is_turn_data;

/// The beginnings of an observation in the text protocol.
pub(crate) const LABELS: [&str; 2] = ["Observation:", "관찰:"];

/// A part of a conversation that is kept or taken as a whole: a message, or a call with its results and what was said
/// before the last of them came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its first message.
    pub(crate) start: usize,
    /// The first message behind it.
    pub(crate) end: usize,
    /// True while a call in it has no result.
    pub(crate) open: bool,
}

/// A conversation in units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Units {
    /// The units behind the system messages that the conversation begins with.
    pub(crate) units: Vec<Unit>,
    /// The message that the last turn begins with, or the last unit where no user spoke.
    pub(crate) last_turn: usize,
    /// The messages that turns begin with.
    pub(crate) turns: Vec<usize>,
    /// Of each message, whether it is what came of a call.
    pub(crate) results: Vec<bool>,
}

impl Unit {
    /// True for a call with its results.
    pub(crate) fn is_call(&self) -> bool {
        self.end - self.start > 1
    }
}

impl Units {
    /// The units of `messages`, which are in their order.
    pub(crate) fn of(messages: &[&Message]) -> Self {
        let head = messages.iter().take_while(|message| message.role() == Role::System).count();
        let links = Links::of(messages);
        let mut units = Vec::new();
        let mut from = head;
        while from < messages.len() {
            let (mut to, mut at, mut open) = (from + 1, from, false);
            while at < to {
                to = to.max(links.end(at));
                open |= links.open(at);
                at += 1;
            }
            units.push(Unit { start: from, end: to, open });
            from = to;
        }
        let turns: Vec<usize> = (head..messages.len())
            .filter(|at| links.owner.get(*at).copied().flatten().is_none())
            .filter(|at| messages.get(*at).is_some_and(|message| is_said(message)))
            .collect();
        let last = units.last().map_or(messages.len(), |unit| unit.start);
        let results = messages.iter().zip(&links.owner).map(|(message, owner)| {
            owner.is_some() || message.role() == Role::Tool || message.tool_call_id().is_some()
        });
        Self {
            last_turn: turns.last().copied().unwrap_or(last),
            results: results.collect(),
            turns,
            units,
        }
    }
}

/// The links between calls and their results.
struct Links {
    /// The call that a message answers, if it does.
    owner: Vec<Option<usize>>,
    /// The end of the unit that begins at a message.
    ends: Vec<usize>,
    /// The number of calls of a message without a result.
    missing: Vec<usize>,
}

impl Links {
    fn of(messages: &[&Message]) -> Self {
        let mut links = Self {
            owner: vec![None; messages.len()],
            ends: (1..=messages.len()).collect(),
            missing: vec![0; messages.len()],
        };
        links.by_id(messages);
        links.by_label(messages);
        links
    }

    /// Native calls, and those of the text protocol where the messages keep the ids.
    fn by_id(&mut self, messages: &[&Message]) {
        // An id that is used twice names the latest call; a second result goes with the first.
        let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            if let Some((call, answered)) = message.tool_call_id().and_then(|id| calls.get_mut(id))
            {
                if !std::mem::replace(answered, true) {
                    self.answered(*call);
                }
                let call = *call;
                self.join(at, call);
            }
            for call in message.tool_calls() {
                calls.insert(&call.id, (at, false));
                self.ask(at);
            }
        }
    }

    /// Calls of the text protocol without ids: the observations stand right behind them.
    fn by_label(&mut self, messages: &[&Message]) {
        let mut calling: Option<usize> = None;
        for (at, message) in messages.iter().enumerate() {
            let role = message.role();
            if role == Role::Assistant {
                let next = messages.get(at + 1);
                let observed = next.is_none_or(|next| is_observation(next));
                let noted = next.is_some_and(|next| next.metadata().contains_key("fault"));
                // Calls with ids are answered by ids: what stands behind them may have come there because others were taken.
                let asks = message.tool_calls().is_empty() && (noted || writes_calls(message));
                calling = (observed && asks).then_some(at);
                // Nothing came of it yet.
                if calling.is_some() && next.is_none() {
                    self.ask(at);
                }
            } else if self.owner.get(at).copied().flatten().is_some() {
                // It is known by its id.
            } else if let Some(call) = calling.filter(|_| is_observation(message)) {
                self.join(at, call);
            } else {
                calling = None;
            }
        }
    }

    fn join(&mut self, result: usize, call: usize) {
        if let Some(owner) = self.owner.get_mut(result) {
            *owner = Some(call);
        }
        if let Some(end) = self.ends.get_mut(call) {
            *end = (*end).max(result + 1);
        }
    }

    fn ask(&mut self, call: usize) {
        if let Some(missing) = self.missing.get_mut(call) {
            *missing += 1;
        }
    }

    fn answered(&mut self, call: usize) {
        if let Some(missing) = self.missing.get_mut(call) {
            *missing = missing.saturating_sub(1);
        }
    }

    fn end(&self, at: usize) -> usize {
        self.ends.get(at).copied().unwrap_or(at + 1)
    }

    fn open(&self, at: usize) -> bool {
        self.missing.get(at).is_some_and(|missing| *missing > 0)
    }
}

/// True for a message without an id that may be the result of the call right before it.
fn is_observation(message: &Message) -> bool {
    let text = message.text();
    let labelled = LABELS.iter().any(|label| text.trim_start().starts_with(label));
    message.role() == Role::User && labelled
}

/// The kinds of messages that a program puts into a conversation in the user's role.
const NOTES: [&str; 3] = ["task", "summary", "calls"];

/// True for a message of a person: no result, no task, no summary.
pub(crate) fn is_said(message: &Message) -> bool {
    let kind = message.metadata().get("kind").and_then(|kind| kind.0.as_str());
    let noted = kind.is_some_and(|kind| NOTES.contains(&kind)) || is_turn_data(message);
    message.role() == Role::User && message.tool_call_id().is_none() && !noted
}

/// A parser of calls in any format, by whatever mark: what it finds is counted, and never made.
pub(crate) fn any_call() -> Parser {
    Parser::new(Declared::any()).policy(Bare::On)
}

/// True for a model's text that is a call, in any format.
fn writes_calls(message: &Message) -> bool {
    !any_call().parse(&message.text()).calls.is_empty()
}

#[cfg(test)]
mod tests {
    use hanok_state::{Message, ToolCall};

    use super::{Unit, Units};

    fn user(text: &str) -> Message {
        Message::user(text)
    }

    fn says(text: &str) -> Message {
        Message::assistant(text)
    }

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "find".into(),
            arguments: Default::default(),
        };
        Message::assistant("").with_tool_calls(ids.iter().map(call))
    }

    fn gave(id: &str) -> Message {
        Message::tool(id, "15일")
    }

    /// The units as `0-2` or `3?` for an open one, and where the last turn begins.
    fn units(messages: &[Message]) -> (String, usize) {
        let messages: Vec<&Message> = messages.iter().collect();
        let units = Units::of(&messages);
        let name = |Unit { start, end, open }: &Unit| {
            let last = end - 1;
            let range = match *start == last {
                true => last.to_string(),
                false => format!("{start}-{last}"),
            };
            format!("{range}{}", if *open { "?" } else { "" })
        };
        (units.units.iter().map(name).collect::<Vec<_>>().join(" "), units.last_turn)
    }

    #[test]
    fn a_call_and_all_its_results_are_one_unit() {
        let text = "Action: find\nAction Input: {\"q\": \"휴가\"}";
        for (name, messages, want) in [
            ("plain", vec![user("a"), says("b"), user("c")], ("0 1 2", 2)),
            ("system first", vec![Message::system("s"), user("a"), says("b")], ("1 2", 1)),
            (
                "parallel calls",
                vec![user("a"), calls(&["1", "2"]), gave("2"), gave("1"), says("b"), user("c")],
                ("0 1-3 4 5", 5),
            ),
            (
                "a late result takes what stands between along",
                vec![user("a"), calls(&["1"]), user("b"), gave("1"), says("c")],
                ("0 1-3 4", 2),
            ),
            (
                "one missing",
                vec![user("a"), calls(&["1", "2"]), gave("1"), user("b")],
                ("0 1-2? 3", 3),
            ),
            (
                "a result twice",
                vec![user("a"), calls(&["1"]), gave("1"), gave("1"), user("b")],
                ("0 1-3 4", 4),
            ),
            (
                "an id twice",
                vec![user("a"), calls(&["1"]), gave("1"), calls(&["1"]), user("b")],
                ("0 1-2 3? 4", 4),
            ),
            (
                "the text protocol",
                vec![user("a"), says(text), user("Observation: 15일"), says("b"), user("c")],
                ("0 1-2 3 4", 4),
            ),
            (
                "a call with an id that waits, and what it is not answered by",
                vec![user("a"), calls(&["1"]), user("관찰: 흐림"), says("b")],
                ("0 1? 2 3", 2),
            ),
            ("a text call that waits", vec![user("a"), says(text)], ("0 1?", 0)),
            ("a person may begin so, too", vec![says("네"), user("Observation: 흐림")], ("0 1", 1)),
            (
                "a note of somebody else's",
                vec![user("a").with_metadata("kind", "survey"), says("b")],
                ("0 1", 0),
            ),
            (
                "a fault belongs to its reply",
                vec![
                    user("a"),
                    says("Action: nothing"),
                    user("Observation: no tool").with_metadata("fault", "unreadable"),
                    user("b"),
                ],
                ("0 1-2 3", 3),
            ),
            ("nobody asked", vec![says("a"), says("b")], ("0 1", 1)),
            ("nothing", vec![], ("", 0)),
        ] {
            let (range, last) = units(&messages);
            assert_eq!((range.as_str(), last), want, "{name}");
        }
    }
}
