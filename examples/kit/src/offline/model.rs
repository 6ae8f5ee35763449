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
    choice,
    conversation::Conversation,
    pick::Wanted,
    prompt::{Aliases, Part},
    reply, route, summary,
};

/// A [`ChatModel`] of rules: it reads the messages it is sent, and nothing else.
///
/// - Where the system prompt asks for delegations, it routes the question to the agent whose description fits, and answers
///   with what the agent gave.
/// - Where it asks for actions, or the request has native tools, it calls the tool that fits with arguments out of the
///   question, and answers with the sentences of the result that fit the question best, and their source. Calls that are
///   proposed beside the question (`- 제안: name {…}`) it makes as they are.
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
    let conversation = Conversation::read(request, aliases);
    let language = conversation.language;
    if let ResponseFormat::JsonSchema { schema, .. } = &request.response_format {
        return Message::assistant(choice::fill(&schema.0, &conversation).to_string());
    }
    if let Some(said) = summary::asked_behind(request) {
        return Message::assistant(summary::of(&said, language));
    }
    match &conversation.part {
        Part::Supervisor(agents) => {
            Message::assistant(reply::routed(&route::route(&conversation, agents), language))
        }
        Part::Agent(_) if !conversation.proposed.is_empty() && conversation.native => {
            let number = request.messages.len();
            let calls = conversation.proposed.iter().enumerate();
            let calls = calls.map(|(at, wanted)| called(format!("call-{number}-{at}"), wanted));
            Message::assistant("").with_tool_calls(calls.collect::<Vec<_>>())
        }
        Part::Agent(tools) => {
            let act = agent::act(&conversation, tools);
            match (&act, conversation.native) {
                (Act::Call(wanted), true) => {
                    // Unique in its conversation, and the same for the same request.
                    let call = called(format!("call-{}", request.messages.len()), wanted);
                    Message::assistant(reply::before(wanted, language)).with_tool_calls([call])
                }
                (Act::Talk(talk), true) => Message::assistant(reply::said(talk, language)),
                (Act::Answer(findings), true) => {
                    Message::assistant(reply::answered(findings, language))
                }
                (_, false) => Message::assistant(reply::acted(&act, language)),
            }
        }
        Part::Alone if summary::is_asked(request) => {
            Message::assistant(summary::of(&conversation.data, language))
        }
        Part::Alone => {
            let is_bare = conversation.data.is_empty() && conversation.results.is_empty();
            let talk = || route::talk(&conversation, &conversation.listed);
            if let Some(talk) = is_bare.then(talk).flatten() {
                return Message::assistant(reply::said(&talk, language));
            }
            let findings = agent::alone(&conversation);
            Message::assistant(reply::answered(&findings, language))
        }
    }
}

fn called(id: String, wanted: &Wanted) -> ToolCall {
    let arguments = Arguments::new(Value::Object(wanted.arguments.clone()).to_string());
    ToolCall { id, name: wanted.tool.clone(), arguments }
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
