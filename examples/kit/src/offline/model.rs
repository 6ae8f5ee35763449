//! The model.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hanok_core::{Call, Token};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, ResponseFormat, TokenCounter, Usage, Wait,
};
use hanok_state::{Arguments, Message, ToolCall};
use serde_json::Value;

use crate::offline::{
    agent::{self, Act},
    form,
    listed::Aliases,
    reply,
    request::{Part, Request},
    summary,
    talk::talk,
};

/// A [`ChatModel`] of rules: it reads the messages it is sent, and nothing else.
///
/// - Where the system prompt asks for delegations, it routes the question to the agent whose description fits, and answers
///   with what the agent gave.
/// - Where it asks for actions, or the request has native tools, it calls the tool that fits with arguments out of the
///   question, and answers with the sentences of the result that fit the question best, and their source.
/// - Where the request has a JSON schema, it chooses among listed values the one whose description fits the question, and
///   says whether the data that came with the question answers it.
/// - Where the system prompt asks for a summary, it keeps what people told and asked, in their own words.
/// - What people said before it tells again when it is asked for that.
/// - Otherwise, or where nothing fits, it says so.
///
/// It keeps nothing between two calls: the same request gets the same reply. It heeds the request to stop and the
/// deadline, writes word by word to the call's sink, and counts tokens by an estimate. A request's temperature, limits of
/// length and stop texts are not heeded.
///
/// ```
/// use hanok_core::Call;
/// use hanok_model::{ChatModel, ChatRequest};
/// use hanok_state::Message;
/// use kit::OfflineModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), hanok_model::ModelError> {
/// let prompt = "You route.\n\n- library: documents and rules\n- sums: calculates\n\nDelegate: agent\nTask: task";
/// let request = ChatRequest::new([Message::system(prompt), Message::user("What is 6 * 7?")]);
/// let reply = OfflineModel::new().chat(request, &Call::detached()).await?;
/// assert!(reply.message.text().ends_with("Delegate: sums\nTask: What is 6 * 7?"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OfflineModel {
    counter: TokenCounter,
    aliases: Aliases,
}

impl OfflineModel {
    /// The model's name.
    pub const NAME: &str = "offline";

    /// The model.
    #[must_use]
    pub fn new() -> Self {
        Self { counter: TokenCounter::default(), aliases: Aliases::new() }
    }

    /// Adds words by which people ask for tools, teams and agents, by their names. A real model needs none of them, and so they stand
    /// in no prompt: a description says what a thing is for.
    #[must_use]
    pub fn aliases<N, A>(mut self, aliases: impl IntoIterator<Item = (N, A)>) -> Self
    where
        N: Into<String>,
        A: IntoIterator<Item: Into<String>>,
    {
        for (name, words) in aliases {
            let known = self.aliases.entry(name.into()).or_default();
            known.extend(words.into_iter().map(Into::into));
        }
        self
    }

    fn usage(&self, request: &ChatRequest, written: &Message) -> Usage {
        let (input_tokens, output_tokens) =
            (self.counter.request(request), self.counter.message(written));
        Usage { input_tokens, output_tokens, estimated: true, ..Usage::default() }
    }
}

impl Default for OfflineModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ChatModel for OfflineModel {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        go_on(call)?;
        let written = write(&request, &self.aliases);
        let usage = self.usage(&request, &written);
        if let Some(sink) = call.sink() {
            for word in written.text().split_inclusive(char::is_whitespace) {
                go_on(call)?;
                sink.token(Token::Text(word.to_owned()));
                Turn::default().await;
            }
        }
        call.spend().add(usage.spent());
        Ok(ChatReply::new(written, Self::NAME).usage(usage))
    }
}

/// Whether the call may go on.
fn go_on(call: &Call) -> Result<(), ModelError> {
    if call.stop().is_cancelled() {
        return Err(ModelError::Cancelled);
    }
    if call.time_left().is_some_and(|left| left.is_zero()) {
        return Err(ModelError::TimedOut { what: Wait::Deadline, after: Duration::ZERO });
    }
    Ok(())
}

/// The message that answers `request`.
fn write(request: &ChatRequest, aliases: &Aliases) -> Message {
    let read = Request::read(request, aliases);
    let language = read.language;
    if let ResponseFormat::JsonSchema { schema, .. } = &request.response_format {
        return Message::assistant(form::fill(&schema.0, &read).to_string());
    }
    if let Some(said) = summary::asked_behind(request) {
        return Message::assistant(summary::of(&said, language));
    }
    let act = match &read.part {
        Part::Supervisor(agents) => agent::route(&read, agents),
        Part::Agent(tools) => agent::act(&read, tools),
        Part::Alone if summary::is_asked(request) => {
            return Message::assistant(summary::of(&read.data, language));
        }
        Part::Alone => {
            let is_bare = read.data.is_empty() && read.results.is_empty();
            let talk = is_bare.then(|| talk(&read, &read.listed)).flatten();
            let act = talk.map_or_else(|| Act::Answer(agent::alone(&read)), Act::Talk);
            return Message::assistant(reply::said(&act, language));
        }
    };
    match &act {
        Act::Call(wanted) if read.native => {
            // Unique in its conversation, and the same for the same request.
            let id = format!("call-{}", request.messages.len());
            let arguments = Arguments::new(Value::Object(wanted.arguments.clone()).to_string());
            let call = ToolCall { id, name: wanted.tool.clone(), arguments };
            Message::assistant(reply::before(wanted, language)).with_tool_calls([call])
        }
        act if read.native => Message::assistant(reply::said(act, language)),
        act => Message::assistant(reply::labelled(act, language)),
    }
}

/// Lets others run between two words.
#[derive(Debug, Default)]
struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
