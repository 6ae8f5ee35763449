//! The conversation: as the state keeps it, and as a model is sent it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use hanok_memory::STORED;
use hanok_model::DataMark;
use hanok_parse::{Language, neutralise};
use hanok_state::{Arguments, Content, Json, Message, Messages, Part, Role, ToolCall};

use crate::{
    arguments::is_object,
    observation::{FaultKind, Observation},
    prompt,
    protocol::Protocol,
    reply::foreign,
};

/// The beginning of an observation in the text protocol.
const LABEL: &str = "Observation: ";

/// The metadata key of a message's data mark.
const MARK: &str = "data_mark";

/// The metadata key of a message's kind, for messages that neither the user nor the agent wrote.
const KIND: &str = "kind";

/// The task of an agent, as a message.
pub(crate) fn task(text: String) -> Message {
    Message::user(text).with_metadata(KIND, "task")
}

/// The summary of an earlier conversation, as a message.
pub(crate) fn summary(marked: &str, language: Language) -> Message {
    let text = format!("{}\n\n{marked}", prompt::summary(language));
    Message::user(text).with_metadata(KIND, "summary")
}

/// True for a message of the user: no observation, no task and no summary.
pub(crate) fn is_from_user(message: &Message) -> bool {
    let note = |key| message.metadata().contains_key(key);
    message.role() == Role::User
        && message.tool_call_id().is_none()
        && !note(KIND)
        && !note("fault")
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// The user, the service, or the agent itself.
    Trusted,
    /// A tool, if its name is known; or what it read.
    Tool(Option<&'a str>),
    /// Another agent's model.
    Task,
    /// Somebody else: what was found, or a summary.
    Data,
}

/// The author of `message`. The agent's own words about a call are its own.
pub(crate) fn origin(message: &Message) -> Origin<'_> {
    let note = |key| message.metadata().get(key).and_then(|Json(note)| note.as_str());
    if message.tool_call_id().is_some() || message.role() == Role::Tool {
        let of_tools = [FaultKind::Failed, FaultKind::Refused].map(FaultKind::code);
        return match note("fault") {
            Some(fault) if !of_tools.contains(&fault) => Origin::Trusted,
            _ => Origin::Tool(note("tool")),
        };
    }
    match note(KIND) {
        Some("task") => Origin::Task,
        Some(_) => Origin::Data,
        None => Origin::Trusted,
    }
}

/// True for a message with text between data marks.
pub(crate) fn is_marked(message: &Message) -> bool {
    message.role() != Role::System && message.text().contains("<data-")
}

/// The messages and calls of a conversation as text, for a summary or for another model. The text does not prove who wrote it,
/// so it goes between marks ([`DataMark`]).
///
/// ```
/// use hanok_agent::{DataMark, transcript};
/// use hanok_state::Message;
///
/// let talk = [Message::user("연차는?"), Message::assistant("15일입니다.")];
/// assert_eq!(transcript(&talk), "[user] 연차는?\n[assistant] 15일입니다.\n");
/// let data = DataMark::from_code("00ff").around(&transcript(&talk));
/// assert!(data.starts_with("<data-00ff>"));
/// ```
pub fn transcript<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    for message in messages {
        let observation = observation_text(message);
        let is_result =
            message.tool_call_id().is_some() || message.metadata().contains_key("fault");
        let who = if is_result { Role::Tool } else { message.role() };
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "[{who}] {}", observation.trim());
        for call in message.tool_calls() {
            let _ = writeln!(text, "[{who}] {}({})", call.name, call.arguments);
        }
    }
    text
}

/// The calls in a conversation that have an observation, in the order of the calls, each with it.
///
/// ```
/// use hanok_agent::{FaultKind, observations};
/// use hanok_state::{Message, ToolCall};
///
/// let calls = ["1", "2"].map(|id| ToolCall::new(id, "look", "{}"));
/// let talk = [
///     Message::assistant("").with_tool_calls(calls),
///     Message::tool("1", "snow"),
///     Message::tool("2", "no such place").with_metadata("fault", "failed"),
/// ];
/// let seen: Vec<_> = observations(&talk).map(|(call, it)| (call.id.as_str(), it.text, it.fault)).collect();
/// let failed = Some(FaultKind::Failed);
/// assert_eq!(seen, [("1", "snow".to_owned(), None), ("2", "no such place".to_owned(), failed)]);
/// ```
pub fn observations<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
) -> impl Iterator<Item = (&'m ToolCall, Observation)> {
    let messages: Vec<_> = messages.into_iter().collect();
    let by_id = messages.iter().filter_map(|it| Some((it.tool_call_id()?, *it)));
    let by_id: BTreeMap<_, _> = by_id.collect();
    let calls = messages.into_iter().flat_map(Message::tool_calls);
    calls.filter_map(move |call| {
        let message = by_id.get(call.id.as_str())?;
        let note = |key: &str| message.metadata().get(key).cloned();
        let observation = Observation {
            text: message.text().into_owned(),
            fault: note("fault").and_then(|Json(code)| serde_json::from_value(code).ok()),
            data: note("data"),
            images: Vec::new(),
            stored: note(STORED).and_then(|Json(name)| name.as_str().map(str::to_owned)),
        };
        Some((call, observation))
    })
}

/// The observation of `call` as a message of the state. The mark is shown to the model only; the state keeps the text
/// as it is, and the code beside it.
pub(crate) fn observed(
    call: Option<&ToolCall>,
    observation: Observation,
    mark: Option<&DataMark>,
    protocol: Protocol,
) -> Message {
    let mark = mark.filter(|_| observation.is_foreign());
    let Observation { text, fault, data, images, stored } = observation;
    let mut message = match (protocol, call) {
        (Protocol::Native, Some(call)) => Message::tool(call.id.as_str(), text),
        _ => Message::user(format!("{LABEL}{text}")),
    };
    if !images.is_empty() {
        let content = with_images(&message.text(), images);
        message = message.with_content(content);
    }
    if let Some(call) = call {
        message =
            message.with_tool_call_id(call.id.as_str()).with_metadata("tool", call.name.as_str());
    }
    if let Some(fault) = fault {
        message = message.with_metadata("fault", fault.code());
    }
    if let Some(data) = data {
        message = message.with_metadata("data", data);
    }
    if let Some(name) = stored {
        message = message.with_metadata(STORED, name);
    }
    match mark {
        Some(mark) => message.with_metadata(MARK, mark.code()),
        None => message,
    }
}

/// The observations that calls of an earlier turn never got, because the turn was cut short.
pub(crate) fn missing(messages: &Messages, protocol: Protocol, language: Language) -> Vec<Message> {
    let observed_ids: BTreeSet<_> = messages.iter().filter_map(Message::tool_call_id).collect();
    let calls = messages.iter().flat_map(Message::tool_calls);
    calls
        .filter(|call| !observed_ids.contains(call.id.as_str()))
        .map(|call| {
            let text = prompt::not_made(language);
            observed(Some(call), Observation::fault(FaultKind::NotMade, text), None, protocol)
        })
        .collect()
}

/// The ids of all calls so far.
pub(crate) fn call_ids(messages: &Messages) -> BTreeSet<&str> {
    messages.iter().flat_map(Message::tool_calls).map(|call| call.id.as_str()).collect()
}

/// The messages that the model is sent: the system prompt, then the conversation, each call followed by its observation.
///
/// In the text protocol calls and observations are text alone, and what came from outside stands between data marks.
pub(crate) fn request(system: &str, messages: &Messages, protocol: Protocol) -> Vec<Message> {
    let called = call_ids(messages);
    let observations: BTreeMap<_, _> =
        messages.iter().filter_map(|message| Some((message.tool_call_id()?, message))).collect();
    let mut sent = vec![Message::system(system)];
    for message in messages.iter() {
        if message.tool_call_id().is_some_and(|id| called.contains(id)) {
            continue;
        }
        sent.push(shown(message, protocol));
        let calls = message.tool_calls().iter();
        let results: Vec<_> =
            calls.filter_map(|call| observations.get(call.id.as_str()).copied()).collect();
        sent.extend(results.iter().map(|result| shown(result, protocol)));
        // Few servers take pictures in a message of the role tool: they follow in one of the user.
        let images: Vec<_> = results.iter().flat_map(|result| images(result)).collect();
        if protocol == Protocol::Native && !images.is_empty() {
            sent.push(Message::user(Content::Parts(images)));
        }
    }
    sent
}

/// `text` with pictures behind it.
fn with_images(text: &str, images: Vec<String>) -> Content {
    let text = Part::Text { text: text.to_owned() };
    let images = images.into_iter().map(|url| Part::Image { url });
    Content::Parts(std::iter::once(text).chain(images).collect())
}

/// The pictures of a message.
fn images(message: &Message) -> Vec<Part> {
    match message.content() {
        Content::Parts(parts) => {
            parts.iter().filter(|part| matches!(part, Part::Image { .. })).cloned().collect()
        }
        _ => Vec::new(),
    }
}

/// True when every call in `messages` has exactly one result, and every result its call. One that is still to come counts.
pub(crate) fn is_whole(messages: &Messages) -> bool {
    let calls: Vec<_> = messages.iter().flat_map(Message::tool_calls).map(|c| &*c.id).collect();
    let results: Vec<_> = messages.iter().filter_map(Message::tool_call_id).collect();
    let called: BTreeSet<_> = calls.iter().copied().collect();
    let observed: BTreeSet<_> = results.iter().copied().collect();
    called == observed && observed.len() == results.len()
}

/// One message as the model is sent it.
fn shown(message: &Message, protocol: Protocol) -> Message {
    let plain = match (message.tool_call_id(), protocol) {
        (Some(id), Protocol::Native) => Message::tool(id, observation_text(message)),
        (Some(_), Protocol::Text) => match images(message) {
            images if images.is_empty() => Message::user(marked(message)),
            images => {
                let text = Part::Text { text: marked(message) };
                Message::user(Content::Parts(std::iter::once(text).chain(images).collect()))
            }
        },
        (None, protocol) => {
            // Users paste pages.
            let pasted = is_from_user(message).then(|| foreign::changed(message, neutralise));
            let content = pasted.flatten().unwrap_or_else(|| message.content().clone());
            let plain = Message::new(message.role(), content);
            match protocol {
                Protocol::Native => {
                    plain.with_tool_calls(message.tool_calls().iter().map(sendable))
                }
                Protocol::Text => plain,
            }
        }
    };
    match message.name() {
        Some(name) => plain.with_name(name),
        None => plain,
    }
}

/// A call as servers take it back: some read the arguments, and refuse a conversation in which they are no object. The
/// observation says what was wrong with them.
fn sendable(call: &ToolCall) -> ToolCall {
    let mut sendable = call.clone();
    if !is_object(&call.arguments) {
        sendable.arguments = Arguments::default();
    }
    sendable
}

/// An observation of the text protocol, its text between data marks where it came from outside.
fn marked(message: &Message) -> String {
    let text = observation_text(message);
    let Some(Json(code)) = message.metadata().get(MARK) else {
        // A result of another program's conversation has no mark.
        let is_foreign = message.role() == Role::Tool && !message.metadata().contains_key("fault");
        let text = if is_foreign { neutralise(&text) } else { text.as_str().into() };
        return format!("{LABEL}{text}");
    };
    let mark = DataMark::from_code(code.as_str().unwrap_or_default());
    format!("{}\n{}", LABEL.trim_end(), mark.around(&text))
}

/// The text of an observation, without the label.
fn observation_text(message: &Message) -> String {
    let text = message.text();
    match message.role() {
        Role::User => text.strip_prefix(LABEL).unwrap_or(&text).to_owned(),
        _ => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hanok_parse::Language;
    use hanok_state::{Message, Messages, Role, ToolCall};

    use super::{missing, observed, request};
    use crate::{DataMark, Observation, Protocol};

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.into(), name: "find".into(), arguments: Default::default() }
    }

    /// Two calls, whose observations came late and after a question.
    fn conversation(protocol: Protocol) -> Messages {
        let mark = DataMark::from_code("00ff");
        let gave = |id, text: &str| {
            observed(Some(&call(id)), Observation::result(text.into(), None), Some(&mark), protocol)
        };
        [
            Message::user("휴가는?").with_id("1"),
            Message::assistant("Action: find").with_tool_calls([call("a"), call("b")]).with_id("2"),
            Message::user("아직인가요?").with_id("3"),
            gave("b", "연 15일").with_id("4"),
            gave("a", "월 1일").with_id("5"),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn every_call_is_followed_by_its_observations_in_call_order() {
        let text = request("system", &conversation(Protocol::Text), Protocol::Text);
        let texts: Vec<_> = text.iter().map(|m| (m.role(), m.text().into_owned())).collect();
        assert_eq!(
            texts,
            [
                (Role::System, "system".into()),
                (Role::User, "휴가는?".into()),
                (Role::Assistant, "Action: find".into()),
                (Role::User, "Observation:\n<data-00ff>\n월 1일\n</data-00ff>".into()),
                (Role::User, "Observation:\n<data-00ff>\n연 15일\n</data-00ff>".into()),
                (Role::User, "아직인가요?".to_owned()),
            ]
        );
        assert!(text.iter().all(|m| m.tool_calls().is_empty() && m.tool_call_id().is_none()));
    }

    #[test]
    fn a_conversation_of_either_protocol_is_sent_in_the_chosen_one() {
        for kept in [Protocol::Text, Protocol::Native] {
            let native = request("system", &conversation(kept), Protocol::Native);
            let roles: Vec<_> = native
                .iter()
                .map(|m| (m.role(), m.tool_call_id(), m.text().into_owned()))
                .collect();
            assert_eq!(roles[3], (Role::Tool, Some("a"), "월 1일".into()), "{kept:?}");
            assert_eq!(roles[4], (Role::Tool, Some("b"), "연 15일".into()), "{kept:?}");
            assert_eq!(native[2].tool_calls().len(), 2, "{kept:?}");
        }
    }

    #[test]
    fn a_call_that_was_cut_short_has_an_observation_that_says_so() {
        let mut cut = conversation(Protocol::Text).iter().take(4).cloned().collect::<Messages>();
        let repair = missing(&cut, Protocol::Text, Language::English);
        assert_eq!(repair.iter().map(|m| m.tool_call_id()).collect::<Vec<_>>(), [Some("a")]);
        cut = cut.iter().cloned().chain(repair).collect();
        assert!(missing(&cut, Protocol::Text, Language::English).is_empty());
    }
}
