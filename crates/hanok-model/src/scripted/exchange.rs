//! One question to a scripted model, and its answer.

use std::{fmt, time::Duration};

use hanok_core::Token;
use hanok_state::{Arguments, Message, ToolCall};

use crate::{ChatReply, ChatRequest, ModelError, Usage};

type Check = Box<dyn Fn(&ChatRequest) -> Result<(), String> + Send>;

/// One exchange of a script: what the request has to be, and what the model answers.
pub struct Exchange {
    checks: Vec<Check>,
    pub(super) outcome: Outcome,
    pub(super) pieces: Vec<Token>,
    pub(super) delay: Option<Duration>,
}

pub(super) enum Outcome {
    Reply(Box<ChatReply>),
    Error(ModelError),
}

impl Exchange {
    /// The model says `text`.
    pub fn says(text: impl Into<String>) -> Self {
        Self::replies(ChatReply::new(Message::assistant(text.into()), ""))
    }

    /// The model asks for these calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::replies(ChatReply::new(Message::assistant("").with_tool_calls(calls), ""))
    }

    /// The model asks for one call of the tool `name`. The call's id is the number of the exchange.
    ///
    /// ```
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use serde_json::json;
    ///
    /// let model = ScriptedModel::new([
    ///     Exchange::call("get_weather", json!({"city": "Seoul"})),
    ///     Exchange::says("It is raining.").contains("rain"),
    /// ]);
    /// ```
    pub fn call(name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        Self::calls([ToolCall::new("", name, arguments)])
    }

    /// Gives its only call an id, if it has none.
    pub(super) fn numbered(mut self, number: usize) -> Self {
        if let Outcome::Reply(reply) = &mut self.outcome
            && let [call] = reply.message.tool_calls()
            && call.id.is_empty()
        {
            let call = ToolCall { id: format!("call-{number}"), ..call.clone() };
            reply.message = reply.message.clone().with_tool_calls([call]);
        }
        self
    }

    /// The model answers `reply`, under its own name.
    pub fn replies(reply: ChatReply) -> Self {
        Self::new(Outcome::Reply(Box::new(reply)))
    }

    /// The model fails.
    pub fn fails(error: ModelError) -> Self {
        Self::new(Outcome::Error(error))
    }

    fn new(outcome: Outcome) -> Self {
        Self { checks: Vec::new(), outcome, pieces: Vec::new(), delay: None }
    }

    /// Some message of the request has to contain `text`.
    #[must_use]
    pub fn contains(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.check(move |request| match has(request, &text) {
            true => Ok(()),
            false => Err(format!("no message contains {text:?}")),
        })
    }

    /// No message of the request may contain `text`.
    #[must_use]
    pub fn lacks(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.check(move |request| match has(request, &text) {
            true => Err(format!("a message contains {text:?}")),
            false => Ok(()),
        })
    }

    /// The request has to pass `check`, which says what is wrong with it. Several checks are all made.
    #[must_use]
    pub fn check(
        mut self,
        check: impl Fn(&ChatRequest) -> Result<(), String> + Send + 'static,
    ) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// Sets the model's reasoning besides its text. Default: none.
    #[must_use]
    pub fn reasoning(self, reasoning: impl Into<String>) -> Self {
        self.reply(|reply| reply.reasoning(reasoning))
    }

    /// The tokens that the exchange costs. Default: an estimate.
    #[must_use]
    pub fn usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        let usage = Usage { input_tokens, output_tokens, ..Usage::default() };
        self.reply(|reply| reply.usage(usage))
    }

    /// The pieces of text that a watcher sees, also before a failure; of a reply that is one call and no text, the pieces of the
    /// arguments. Default: the whole text in one; none of a failure.
    #[must_use]
    pub fn pieces<S: Into<String>>(self, pieces: impl IntoIterator<Item = S>) -> Self {
        Self { pieces: pieces.into_iter().map(|piece| Token::Text(piece.into())).collect(), ..self }
    }

    /// Sets the time that the model takes, by the call's clock. Default: no time.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay: Some(delay), ..self }
    }

    fn reply(self, change: impl FnOnce(ChatReply) -> ChatReply) -> Self {
        let outcome = match self.outcome {
            Outcome::Reply(reply) => Outcome::Reply(Box::new(change(*reply))),
            error => error,
        };
        Self { outcome, ..self }
    }

    /// All differences of `request` from what the exchange expects.
    pub(super) fn problem(&self, request: &ChatRequest) -> Option<String> {
        let problems: Vec<_> =
            self.checks.iter().filter_map(|check| check(request).err()).collect();
        (!problems.is_empty()).then(|| problems.join("; "))
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Exchange");
        shown.field("checks", &self.checks.len());
        match &self.outcome {
            Outcome::Reply(reply) => shown.field("reply", reply),
            Outcome::Error(error) => shown.field("error", error),
        };
        shown.finish_non_exhaustive()
    }
}

fn has(request: &ChatRequest, text: &str) -> bool {
    request.messages.iter().any(|message| message.text().contains(text))
}
