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
/// What the supervisor's model is told beside a result.
const NOTES: &str = "notes";
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
    notes: &[String],
) -> Message {
    let message = Message::assistant(format!("[{agent}] {output}"))
        .with_name(agent)
        .with_metadata(KIND, RESULT)
        .with_metadata(STOPPED, stopped.code())
        .with_metadata(MARK, mark.code());
    let message = match notes {
        [] => message,
        notes => message.with_metadata(NOTES, notes.to_vec()),
    };
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
    let mut results: Vec<_> = this_turn(messages).filter_map(read_result).collect();
    results.reverse();
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
    let is_result = |message: &&Message| note(message, KIND) == Some(RESULTS);
    let last = view.iter().rfind(|it| it.role() == Role::User && !is_result(it))?;
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
pub(crate) fn request(system: &str, messages: &Messages, language: Language) -> Vec<Message> {
    let view = model_view(messages, true, language);
    std::iter::once(Message::system(system)).chain(view).collect()
}

/// The conversation as a model sees it: the user's messages, what a team was given, the results of the agents as data, each where it
/// came, and the answers. What it shows of some messages it shows of more of them too: nothing moves, and nothing goes.
///
/// The notes are for the routing model alone.
pub(crate) fn model_view(
    messages: &Messages,
    with_notes: bool,
    language: Language,
) -> Vec<Message> {
    let (mut view, mut work, mut number) = (Vec::new(), Vec::new(), 0);
    for message in messages.iter() {
        let kind = note(message, KIND);
        match kind {
            Some(ROUTING) => {}
            Some(WORK) => work.push(message),
            Some(RESULT) => {
                let Some(mut result) = read_result(message) else { continue };
                number += 1;
                let work = std::mem::take(&mut work);
                result.work = (!work.is_empty()).then(|| transcript(work));
                if !with_notes {
                    result.notes.clear();
                }
                let data = prompt::result(number, &result, language);
                view.push(Message::user(data).with_metadata(KIND, RESULTS));
            }
            kind => {
                if message.role() == Role::User {
                    number = 0;
                }
                let plain = Message::new(message.role(), message.content().clone());
                view.push(match kind {
                    // Who wrote it stays beside it.
                    Some(kind) => plain.with_metadata(KIND, kind),
                    None => plain,
                });
            }
        }
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
        notes: notes(message),
        output,
        answered: note(message, STOPPED) == Some(StopReason::Answered.code()),
        mark: DataMark::from_code(note(message, MARK).unwrap_or_default()),
    })
}

/// What the model is told beside the result in `message`.
fn notes(message: &Message) -> Vec<String> {
    let noted = message.metadata().get(NOTES).and_then(|Json(notes)| notes.as_array());
    let texts = noted.into_iter().flatten().filter_map(|note| note.as_str());
    texts.map(str::to_owned).collect()
}

fn note<'a>(message: &'a Message, key: &str) -> Option<&'a str> {
    let Json(value) = message.metadata().get(key)?;
    value.as_str()
}
