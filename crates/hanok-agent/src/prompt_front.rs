//! The front of a prompt: what the next one of its conversation begins with.

use hanok_model::{ChatRequest, TokenCounter, ToolSpec};
use hanok_state::{Content, Message, Role};
use serde::{Deserialize, Serialize};

/// The front of a prompt, by digests: enough to see whether the next prompt of the conversation begins with it.
///
/// The servers of models keep what they have read of a prompt. The next one costs a fraction as far as its tools, its system prompt
/// and its messages are the same, byte by byte, from the beginning on. A conversation keeps the front of its last prompt, so that
/// whatever breaks it is said ([`BreakCause`]).
///
/// ```
/// use hanok_agent::{BreakCause, PromptFront};
/// use hanok_model::ChatRequest;
/// use hanok_state::Message;
///
/// let prompt = ChatRequest::new([Message::system("Be kind."), Message::user("Hi")]);
/// let (front, _) = PromptFront::of("m", &prompt, &[]).after(None);
/// let next = prompt.clone().message(Message::assistant("Hello")).message("Leave?");
/// let (front, broken) = PromptFront::of("m", &next, &[]).after(Some(&front));
/// assert_eq!(broken, None);
///
/// let other = ChatRequest::new([Message::system("Be brief."), Message::user("Hi")]);
/// let (_, broken) = PromptFront::of("m", &other, &[]).after(Some(&front));
/// assert_eq!(broken, Some(BreakCause::Prompt));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptFront {
    model: String,
    system: String,
    tools: String,
    tool_count: u32,
    messages: String,
    message_count: u32,
    /// The number of steps that had made the conversation smaller.
    #[serde(default)]
    compactions: u32,
}

/// The cause for which a prompt does not begin as the last one of its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakCause {
    /// Another model is asked.
    Model,
    /// The system prompt is another one.
    Prompt,
    /// The tools are others.
    Tools,
    /// There are more tools, behind those that there were.
    MoreTools,
    /// The conversation was made smaller.
    Compaction,
    /// The last prompt held a correction that the conversation does not keep.
    Repair,
    /// Messages that were sent were changed, or taken out.
    History,
}

impl BreakCause {
    /// The stable code, as it is serialised.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Prompt => "prompt",
            Self::Tools => "tools",
            Self::MoreTools => "more_tools",
            Self::Compaction => "compaction",
            Self::Repair => "repair",
            Self::History => "history",
        }
    }

    /// The most tokens of `request` that a server reads anew because of it, by `counter`: all of them, or those behind the tools
    /// and the system prompt where these are as they were.
    #[must_use]
    pub fn tokens(self, request: &ChatRequest, counter: &TokenCounter) -> u64 {
        let whole = counter.request(request);
        match self {
            Self::Model | Self::Prompt | Self::Tools | Self::MoreTools => whole,
            Self::Compaction | Self::Repair | Self::History => {
                let system = request.messages.iter().take_while(|it| it.role() == Role::System);
                let none = counter.request(&ChatRequest::default());
                let tools = ChatRequest::default().tools(request.tools.iter().cloned());
                let tools = counter.request(&tools).saturating_sub(none);
                let system: u64 = system.map(|message| counter.message(message)).sum();
                whole.saturating_sub(system).saturating_sub(tools)
            }
        }
    }
}

/// The parts of a prompt that the next one is to begin with.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct FrontParts<'a> {
    model: &'a str,
    system: &'a [Message],
    messages: &'a [Message],
    tools: &'a [ToolSpec],
    compactions: u32,
}

impl PromptFront {
    /// The parts of `request` to `model`, whose reader is shown `tools`, as schemas or within the system prompt.
    pub fn of<'a>(
        model: &'a str,
        request: &'a ChatRequest,
        tools: &'a [ToolSpec],
    ) -> FrontParts<'a> {
        let head = request.messages.iter().take_while(|it| it.role() == Role::System).count();
        let (system, messages) = request.messages.split_at(head);
        FrontParts { model, system, messages, tools, compactions: 0 }
    }
}

impl FrontParts<'_> {
    /// Names the number of steps that have made the conversation smaller. Default: 0.
    pub fn compactions(self, compactions: u32) -> Self {
        Self { compactions, ..self }
    }

    /// The front of this prompt behind one with the front `last`, and the cause for which it does not begin with that, if it does
    /// not.
    #[must_use]
    pub fn after(self, last: Option<&PromptFront>) -> (PromptFront, Option<BreakCause>) {
        let Self { model, system, messages, tools, compactions } = self;
        let at = |count: Option<u32>| count.and_then(|count| usize::try_from(count).ok());
        let (tools_then, tools_now) =
            digests(tools, at(last.map(|last| last.tool_count)), tool_digest);
        let (messages_then, messages_now) =
            digests(messages, at(last.map(|last| last.message_count)), message_digest);
        let (_, system) = digests(system, None, message_digest);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let front = PromptFront {
            model: model.to_owned(),
            system,
            tools: tools_now,
            tool_count: count(tools.len()),
            messages: messages_now,
            message_count: count(messages.len()),
            compactions,
        };
        let cause = |last: &PromptFront| {
            let is_same = |then: &Option<String>, digest: &String| then.as_ref() == Some(digest);
            if last.model != front.model {
                Some(BreakCause::Model)
            } else if !is_same(&tools_then, &last.tools) {
                Some(BreakCause::Tools)
            } else if last.tool_count != front.tool_count {
                Some(BreakCause::MoreTools)
            } else if last.system != front.system {
                Some(BreakCause::Prompt)
            } else if is_same(&messages_then, &last.messages) {
                None
            } else if last.compactions != front.compactions {
                Some(BreakCause::Compaction)
            } else {
                Some(BreakCause::History)
            }
        };
        let cause = last.and_then(cause);
        (front, cause)
    }
}

/// The digests of the first `most` of `parts`, `None` where there are fewer, and of all of them.
fn digests<T>(
    parts: &[T],
    most: Option<usize>,
    add: fn(&mut Digest, &T),
) -> (Option<String>, String) {
    let mut digest = Digest::default();
    let mut first = (most == Some(0)).then(|| digest.text());
    for (count, part) in (1..).zip(parts) {
        add(&mut digest, part);
        if most == Some(count) {
            first = Some(digest.text());
        }
    }
    (first, digest.text())
}

#[derive(Default)]
struct Digest(blake3::Hasher);

impl Digest {
    /// Adds a text, and where it ends.
    fn add(&mut self, text: &str) {
        self.0.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    fn text(&self) -> String {
        let hex = self.0.finalize().to_hex();
        hex.get(..16).unwrap_or(&hex).to_owned()
    }
}

fn message_digest(digest: &mut Digest, message: &Message) {
    digest.add(&message.role().to_string());
    match message.content() {
        Content::Text(text) => digest.add(text),
        // Pictures, which are few.
        other => digest.add(&serde_json::to_string(other).unwrap_or_default()),
    }
    digest.add(message.name().unwrap_or_default());
    digest.add(message.tool_call_id().unwrap_or_default());
    for call in message.tool_calls() {
        digest.add(&call.id);
        digest.add(&call.name);
        digest.add(call.arguments.as_str());
    }
    digest.add("");
}

fn tool_digest(digest: &mut Digest, tool: &ToolSpec) {
    digest.add(tool.name());
    digest.add(tool.description());
    digest.add(&tool.schema().to_string());
}

/// `message` as one that has no id yet.
pub(crate) fn unnamed(message: &Message) -> Message {
    let plain = Message::new(message.role(), message.content().clone());
    let plain = plain.with_tool_calls(message.tool_calls().iter().cloned());
    let plain = match message.name() {
        Some(name) => plain.with_name(name),
        None => plain,
    };
    let plain = match message.tool_call_id() {
        Some(id) => plain.with_tool_call_id(id),
        None => plain,
    };
    let notes = message.metadata().iter();
    notes.fold(plain, |plain, (key, note)| plain.with_metadata(key.as_str(), note.clone()))
}

#[cfg(test)]
mod tests {
    use hanok_model::{ChatRequest, TokenCounter, ToolSpec};
    use hanok_state::Message;
    use serde_json::json;

    use super::{BreakCause, PromptFront};

    fn prompt(system: &str, texts: &[&str]) -> ChatRequest {
        let texts = texts.iter().map(|text| Message::user(*text));
        ChatRequest::new(std::iter::once(Message::system(system)).chain(texts))
    }

    fn tool(name: &str) -> ToolSpec {
        ToolSpec::new(name, "A tool", json!({})).unwrap()
    }

    #[test]
    fn every_change_in_front_has_its_cause() {
        let (a, b, c) = (tool("a"), tool("b"), tool("c"));
        let two = [a.clone(), b.clone()];
        let request = prompt("s", &["1", "2"]);
        let (front, none) = PromptFront::of("m", &request, &two).compactions(3).after(None);
        assert_eq!(none, None);
        for (model, system, texts, tools, compactions, want) in [
            ("m", "s", &["1", "2"][..], vec![a.clone(), b.clone()], 3, None),
            ("m", "s", &["1", "2", "3"], vec![a.clone(), b.clone()], 4, None),
            ("n", "s", &["1", "2"], vec![a.clone(), b.clone()], 3, Some(BreakCause::Model)),
            ("m", "t", &["1", "2"], vec![a.clone(), b.clone()], 3, Some(BreakCause::Prompt)),
            ("m", "t", &["1", "2"], vec![b.clone(), a.clone()], 3, Some(BreakCause::Tools)),
            ("m", "s", &["1", "2"], vec![a.clone()], 3, Some(BreakCause::Tools)),
            ("m", "t", &["1", "2"], vec![a.clone(), b.clone(), c], 3, Some(BreakCause::MoreTools)),
            ("m", "s", &["1", "3"], vec![a.clone(), b.clone()], 3, Some(BreakCause::History)),
            ("m", "s", &["1"], vec![a.clone(), b.clone()], 3, Some(BreakCause::History)),
            ("m", "s", &["2"], vec![a.clone(), b.clone()], 4, Some(BreakCause::Compaction)),
            ("m", "s", &["2", "1"], vec![a, b], 4, Some(BreakCause::Compaction)),
        ] {
            let request = prompt(system, texts);
            let parts = PromptFront::of(model, &request, &tools).compactions(compactions);
            let (_, cause) = parts.after(Some(&front));
            assert_eq!(cause, want, "{model} {system} {texts:?} {tools:?}");
        }
    }

    #[test]
    fn a_break_costs_what_stands_behind_it() {
        let counter = TokenCounter::estimate();
        let request = prompt(&"system ".repeat(50), &["one", "two"]).tools([tool("a")]);
        let (whole, behind) = (
            BreakCause::Model.tokens(&request, &counter),
            BreakCause::Compaction.tokens(&request, &counter),
        );
        let messages = prompt("", &["one", "two"]);
        let messages = counter.messages(messages.messages.iter().skip(1));
        assert_eq!((whole, behind), (counter.request(&request), messages));
    }
}
