//! The conversation: as the state keeps it, and as the routing model is sent it.

use hanok_agent::{DataMark, Handoff, Language, StopReason, transcript};
use hanok_state::{Json, Message, Messages, Role};

use crate::{agent_result::AgentResult, prompt};

/// The metadata key of a message's kind.
const KIND: &str = "kind";
/// The reply that chose an agent.
const ROUTING: &str = "routing";
/// The result of an agent.
const RESULT: &str = "result";
/// A message of an agent on the way to its result.
const WORK: &str = "work";
/// The results of the agents, as the model reads them.
const RESULTS: &str = "given";
/// A task that the agents' crate writes, and that a team begins with.
const GIVEN_TASK: &str = "task";
/// Calls and results of other agents, as data.
const CALLS: &str = "calls";
const MARK: &str = "data_mark";
const TASK: &str = "task";
const SKIPPED: &str = "skipped";
/// The reason for which the agent, or the turn, ended.
const STOPPED: &str = "stopped";

/// The reply that chose an agent, as it was written.
pub(crate) fn routing(reply: &str, skipped: &[String]) -> Message {
    let message = Message::assistant(reply.trim()).with_metadata(KIND, ROUTING);
    if skipped.is_empty() { message } else { message.with_metadata(SKIPPED, skipped.to_vec()) }
}

/// The result of an agent: a message of the agent, with its name before the text.
pub(crate) fn result(
    agent: &str,
    task: Option<&str>,
    output: &str,
    stopped: StopReason,
    mark: &DataMark,
) -> Message {
    let message = Message::assistant(format!("[{agent}] {output}"))
        .with_name(agent)
        .with_metadata(KIND, RESULT)
        .with_metadata(STOPPED, stopped.code())
        .with_metadata(MARK, mark.code());
    match task {
        Some(task) => message.with_metadata(TASK, task),
        None => message,
    }
}

/// A message of `agent` on the way to its result.
pub(crate) fn work(message: Message, agent: &str) -> Message {
    message.with_name(agent).with_metadata(KIND, WORK)
}

/// The end of a turn that the model did not end itself.
pub(crate) fn ended(text: &str, stopped: StopReason) -> Message {
    Message::assistant(text).with_metadata(STOPPED, stopped.code())
}

/// The results of this turn, which begins with the last message of the user; oldest first.
pub(crate) fn results(messages: &Messages) -> Vec<AgentResult> {
    let mut turn: Vec<_> = this_turn(messages).collect();
    turn.reverse();
    let (mut results, mut work) = (Vec::new(), Vec::new());
    for message in turn {
        if note(message, KIND) == Some(WORK) {
            work.push(message);
        } else if let Some(result) = read_result(message) {
            let work = std::mem::take(&mut work);
            let work = (!work.is_empty()).then(|| transcript(work));
            results.push(AgentResult { work, ..result });
        }
    }
    results
}

/// The last thing in this turn that is an agent's answer.
pub(crate) fn best(messages: &Messages) -> Option<AgentResult> {
    this_turn(messages).filter_map(read_result).find(|result| result.answered)
}

/// The answer of `agent` to `task` in this turn, if there is one. A task that repeats the old one and goes on is the same:
/// small models copy the result behind it.
pub(crate) fn answered(
    messages: &Messages,
    agent: &str,
    task: Option<&str>,
) -> Option<AgentResult> {
    this_turn(messages).filter_map(read_result).find(|result| {
        let old = result.task.as_deref().unwrap_or_default();
        let same = match task {
            Some(task) if !old.is_empty() => task.starts_with(old),
            task => task.unwrap_or_default() == old,
        };
        result.agent == agent && result.answered && same
    })
}

/// The task of `handoff` as a message, which keeps it as it was written.
pub(crate) fn task(handoff: &Handoff, language: Language, mark: &DataMark) -> Option<Message> {
    let message = handoff.message(language, mark)?;
    Some(match handoff.task.as_deref() {
        Some(task) => message.with_metadata(TASK, task),
        None => message,
    })
}

/// The task in `message`, as it was written.
pub(crate) fn task_text(message: &Message) -> Option<&str> {
    note(message, TASK).filter(|_| note(message, KIND) == Some(GIVEN_TASK))
}

/// The task that a turn began with: the last message in the view of a team that was given one.
pub(crate) fn given_task(view: &[Message]) -> Option<&Message> {
    let last = view.iter().rfind(|message| message.role() == Role::User)?;
    (note(last, KIND) == Some(GIVEN_TASK)).then_some(last)
}

/// Messages of another conversation, for a routing model, which calls nothing: calls and their results are data.
pub(crate) fn with_calls_as_data(messages: Vec<Message>, mark: &DataMark) -> Vec<Message> {
    let (mut view, mut calls) = (Vec::new(), Vec::new());
    let as_data = |calls: Vec<Message>| {
        let text = (!calls.is_empty()).then(|| mark.around(&transcript(&calls)));
        text.map(|text| Message::user(text).with_metadata(KIND, CALLS))
    };
    for message in messages {
        if is_of_calls(&message) {
            calls.push(message);
        } else {
            view.extend(as_data(std::mem::take(&mut calls)));
            view.push(message);
        }
    }
    view.extend(as_data(calls));
    view
}

/// True for a call and its result.
fn is_of_calls(message: &Message) -> bool {
    !message.tool_calls().is_empty()
        || message.tool_call_id().is_some()
        || message.role() == Role::Tool
        || message.metadata().contains_key("fault")
}

/// True for what a supervisor keeps for itself: the routing, and the work and results of its agents.
pub(crate) fn is_inner(message: &Message) -> bool {
    matches!(note(message, KIND), Some(ROUTING | RESULT | WORK))
}

/// The messages for the routing model: the system prompt, and the conversation as it sees it.
pub(crate) fn request(
    system: &str,
    messages: &Messages,
    notes: &[String],
    language: Language,
) -> Vec<Message> {
    std::iter::once(Message::system(system)).chain(model_view(messages, notes, language)).collect()
}

/// The conversation as a model sees it: the user's messages, what a team was given, and the answers, and before the last message of the user the
/// results of this turn, as data.
pub(crate) fn model_view(
    messages: &Messages,
    notes: &[String],
    language: Language,
) -> Vec<Message> {
    let spoken = messages.iter().filter(|message| !is_inner(message)).map(|message| {
        let plain = Message::new(message.role(), message.content().clone());
        match note(message, KIND) {
            // Who wrote it stays beside it.
            Some(kind) => plain.with_metadata(KIND, kind),
            None => plain,
        }
    });
    let mut view: Vec<_> = spoken.collect();
    let results = results(messages);
    if !results.is_empty() || !notes.is_empty() {
        let last = view.iter().rposition(|message| message.role() == Role::User);
        let data = prompt::results(&results, notes, language);
        let data = Message::user(data).with_metadata(KIND, RESULTS);
        view.insert(last.unwrap_or(view.len()), data);
    }
    view
}

/// The messages after the last one of the user, newest first.
fn this_turn(messages: &Messages) -> impl Iterator<Item = &Message> {
    // Agents' observations are said by a user too, in the text protocol.
    let is_said = |message: &Message| message.role() == Role::User && !is_inner(message);
    messages.iter().rev().take_while(move |message| !is_said(message))
}

fn read_result(message: &Message) -> Option<AgentResult> {
    if note(message, KIND) != Some(RESULT) {
        return None;
    }
    let agent = message.name()?.to_owned();
    let text = message.text();
    let output = text.strip_prefix(&format!("[{agent}] ")).unwrap_or(&text).to_owned();
    Some(AgentResult {
        agent,
        task: note(message, TASK).map(str::to_owned),
        work: None,
        output,
        answered: note(message, STOPPED) == Some(StopReason::Answered.code()),
        mark: DataMark::from_code(note(message, MARK).unwrap_or_default()),
    })
}

fn note<'a>(message: &'a Message, key: &str) -> Option<&'a str> {
    let Json(value) = message.metadata().get(key)?;
    value.as_str()
}
