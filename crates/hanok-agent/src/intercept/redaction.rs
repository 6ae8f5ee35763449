//! Personal data that a model does not need to know.

mod pattern;
mod replace;
pub(crate) mod scan;

use std::{borrow::Cow, collections::BTreeSet};

use hanok_core::{Call, Token};
use hanok_model::{ChatReply, ChatRequest, ModelError, ToolError, ToolOutput};
use hanok_state::{Arguments, Content, Json, Message, Part, Role};

use self::{
    pattern::Pattern,
    replace::{Author, Replacer, Strategies},
    scan::PersonalData,
};
pub use self::{pattern::PatternError, replace::RedactionStrategy};
use super::{
    Interceptor, ToolRequest,
    chain::{NextModel, NextTool},
};
use crate::arguments::is_object;

/// Keeps personal data from the model: e-mail addresses, Korean mobile and resident registration numbers, numbers of cards,
/// IP addresses, and what [`pattern`](Self::pattern) adds.
///
/// | where | what is redacted | default |
/// | --- | --- | --- |
/// | [`input`](Self::input) | what the model is sent: all messages but the system prompt, and the arguments of calls in them | yes |
/// | [`results`](Self::results) | what tools give, before it is kept in the log | yes |
/// | [`output`](Self::output) | what the model says | no |
///
/// What a user says stays in the conversation as it was said; only the model does not read it. It is a scanner and no
/// guarantee: names and addresses are not known by their form.
///
/// ```
/// use hanok_agent::{PersonalData, ReactAgent, Redaction, RedactionStrategy};
/// use hanok_model::ScriptedModel;
///
/// let redaction = Redaction::new()
///     .kind(PersonalData::ResidentNumber, RedactionStrategy::Block)
///     .kind(PersonalData::Card, RedactionStrategy::Mask)
///     .restore();
/// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
///     .intercept(redaction)
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Redaction {
    strategies: Strategies,
    input: bool,
    output: bool,
    results: bool,
    restore: bool,
}

impl Default for Redaction {
    fn default() -> Self {
        let all = PersonalData::ALL.map(|kind| (kind, RedactionStrategy::Placeholder));
        let strategies = Strategies { kinds: all.into(), patterns: Vec::new() };
        Self { strategies, input: true, output: false, results: true, restore: false }
    }
}

impl Redaction {
    /// A placeholder stands for all kinds of personal data.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the replacement of one kind. Default: [`RedactionStrategy::Placeholder`].
    ///
    /// ```
    /// use hanok_agent::{PersonalData, Redaction, RedactionStrategy};
    /// use hanok_core::Secret;
    ///
    /// // The same person has the same name in all requests, and nobody can guess who it is.
    /// let key = Secret::new("a key of this service".to_owned());
    /// let redaction = Redaction::new()
    ///     .only([PersonalData::Email, PersonalData::Mobile])
    ///     .kind(PersonalData::Email, RedactionStrategy::Hash(key));
    /// # drop(redaction);
    /// ```
    pub fn kind(mut self, kind: PersonalData, strategy: RedactionStrategy) -> Self {
        self.strategies.kinds.insert(kind, strategy);
        self
    }

    /// Limits the redaction to these kinds. Default: all kinds.
    ///
    /// ```
    /// use hanok_agent::{PersonalData, Redaction};
    ///
    /// // The agent works with addresses of servers, and so reads them.
    /// let redaction = Redaction::new()
    ///     .only(PersonalData::ALL.into_iter().filter(|kind| *kind != PersonalData::Ip));
    /// # drop(redaction);
    /// ```
    pub fn only(mut self, kinds: impl IntoIterator<Item = PersonalData>) -> Self {
        let kinds: BTreeSet<_> = kinds.into_iter().collect();
        self.strategies.kinds.retain(|kind, _| kinds.contains(kind));
        self
    }

    /// Adds what is personal in this program: a regular expression of the crate `regex`, and the name that stands in
    /// placeholders, `[NAME_1]`. [`only`](Self::only) leaves it in.
    ///
    /// It is run over what users write, what tools give and what documents say. No regular expression is run over what a model
    /// writes: there only that is replaced, letter by letter, which it found earlier in the same request.
    ///
    /// ```
    /// use hanok_agent::{PatternError, Redaction, RedactionStrategy};
    ///
    /// let redaction = Redaction::new().pattern("CUSTOMER", r"\bC-\d{6}\b", RedactionStrategy::Placeholder)?;
    /// let error = redaction.pattern("ORDER", "[", RedactionStrategy::Mask).unwrap_err();
    /// assert!(matches!(error, PatternError::BadPattern { .. }));
    /// # Ok::<(), PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`PatternError`] when the name does not consist of 1 to 32 of `A` to `Z`, `0` to `9` and `_`, the pattern is no regular
    /// expression, or it matches the empty text.
    pub fn pattern(
        mut self,
        name: &str,
        pattern: &str,
        strategy: RedactionStrategy,
    ) -> Result<Self, PatternError> {
        self.strategies.patterns.push((Pattern::new(name, pattern)?, strategy));
        Ok(self)
    }

    /// Switches the redaction of requests. Default: on.
    pub fn input(self, input: bool) -> Self {
        Self { input, ..self }
    }

    /// Switches the redaction of replies. Watchers of the tokens then see them when the reply is whole. Default: off.
    pub fn output(self, output: bool) -> Self {
        Self { output, ..self }
    }

    /// Switches the redaction of the results of tools, before they are stored. Default: on.
    pub fn results(self, results: bool) -> Self {
        Self { results, ..self }
    }

    /// Puts back what the placeholders of a request stand for, in the model's answer and in the arguments of its calls: the
    /// user and the tools read the data, the model does not. Who watches its tokens then sees them when the reply is whole.
    /// Default: not.
    pub fn restore(self) -> Self {
        Self { restore: true, ..self }
    }

    /// `text` as it may be kept: its personal data masked, hashed or replaced by names without numbers, and left out where a call
    /// with it is [blocked](RedactionStrategy::Block).
    ///
    /// ```
    /// use hanok_agent::Redaction;
    ///
    /// assert_eq!(Redaction::new().text("kim@example.com입니다"), "[EMAIL]입니다");
    /// ```
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        Replacer::new(&self.strategies).text(text, Author::Other).into_owned()
    }

    fn request(&self, request: &mut ChatRequest) -> Result<Replacer<'_>, ModelError> {
        let texts = request.messages.iter().flat_map(|message| {
            let calls = message.tool_calls().iter().map(|call| call.arguments.as_str().into());
            std::iter::once(message.text()).chain(calls)
        });
        let mut replacer = Replacer::numbered(&self.strategies, texts);
        if self.input {
            let messages = std::mem::take(&mut request.messages).into_iter();
            let messages = messages.map(|message| match message.role() {
                Role::System => message,
                _ => redact(message, &mut replacer),
            });
            request.messages = messages.collect();
        }
        match replacer.blocked.is_empty() {
            true => Ok(replacer),
            false => Err(filtered(&replacer)),
        }
    }

    fn reply(&self, mut reply: ChatReply, sent: &Replacer<'_>) -> Result<ChatReply, ModelError> {
        let mut own = Replacer::new(&self.strategies);
        if self.output {
            reply.message = redact_text(reply.message, &mut own, Author::Model);
            let reasoning = reply.reasoning.take();
            reply.reasoning = reasoning.map(|text| own.text(&text, Author::Model).into_owned());
        }
        if !own.blocked.is_empty() {
            return Err(filtered(&own));
        }
        if self.restore {
            let text = reply.message.text().into_owned();
            if let Cow::Owned(restored) = sent.restored(&text) {
                reply.message = reply.message.with_content(restored);
            }
            reply.message = with_arguments(reply.message, |arguments| {
                match sent.restored(arguments.as_str()) {
                    Cow::Owned(restored) => Some(Arguments::new(restored)),
                    Cow::Borrowed(_) => None,
                }
            });
        }
        Ok(reply)
    }
}

fn redact(message: Message, replacer: &mut Replacer<'_>) -> Message {
    let author = match message.role() {
        Role::Assistant => Author::Model,
        _ => Author::Other,
    };
    let message = redact_text(message, replacer, author);
    with_arguments(message, |arguments| match replacer.text(arguments.as_str(), Author::Model) {
        // A number that became a text is no JSON any more, which servers refuse.
        Cow::Owned(redacted) => {
            Some(Some(Arguments::new(redacted)).filter(is_object).unwrap_or_default())
        }
        Cow::Borrowed(_) => None,
    })
}

/// `message`, whose calls have the arguments that `replace` gives for theirs.
fn with_arguments(
    message: Message,
    mut replace: impl FnMut(&Arguments) -> Option<Arguments>,
) -> Message {
    if message.tool_calls().is_empty() {
        return message;
    }
    let mut calls = message.tool_calls().to_vec();
    for call in &mut calls {
        if let Some(arguments) = replace(&call.arguments) {
            call.arguments = arguments;
        }
    }
    message.with_tool_calls(calls)
}

fn redact_text(message: Message, replacer: &mut Replacer<'_>, author: Author) -> Message {
    let content = match message.content() {
        Content::Text(text) => match replacer.text(text, author) {
            Cow::Owned(redacted) => Content::from(redacted),
            Cow::Borrowed(_) => return message,
        },
        Content::Parts(parts) => {
            let parts = parts.iter().map(|part| match part {
                Part::Text { text } => {
                    Part::Text { text: replacer.text(text, author).into_owned() }
                }
                other => other.clone(),
            });
            Content::Parts(parts.collect())
        }
    };
    message.with_content(content)
}

/// The reason for which blocked data is not passed on: its kinds, and never the data.
fn blocked(replacer: &Replacer<'_>) -> String {
    let kinds: Vec<_> = replacer.blocked.iter().map(|label| label.to_lowercase()).collect();
    format!("personal data is not passed on ({})", kinds.join(", "))
}

fn filtered(replacer: &Replacer<'_>) -> ModelError {
    ModelError::ContentFiltered { source: Some(blocked(replacer).into()) }
}

impl Interceptor for Redaction {
    async fn around_model(
        &self,
        mut request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        let sent = self.request(&mut request)?;
        if !self.output && !self.restore {
            return next.run(request, call).await;
        }
        let reply = next.run(request, &call.clone().quiet()).await?;
        let reply = self.reply(reply, &sent)?;
        show(&reply, call);
        Ok(reply)
    }

    async fn around_tool(
        &self,
        _: &ToolRequest<'_>,
        call: &Call,
        next: NextTool<'_>,
    ) -> Result<ToolOutput, ToolError> {
        let made = next.run(call).await;
        if !self.results {
            return made;
        }
        let mut replacer = Replacer::new(&self.strategies);
        let redacted = match made {
            Ok(mut output) => {
                output.text = replacer.text(&output.text, Author::Other).into_owned();
                output.data = output.data.and_then(|data| {
                    let text = data.0.to_string();
                    let redacted = replacer.text(&text, Author::Other).into_owned();
                    serde_json::from_str(&redacted).ok().map(Json)
                });
                Ok(output)
            }
            Err(ToolError::Failed(error)) => {
                let error = ToolError::Failed(error);
                let report = error.report();
                match replacer.text(&report, Author::Other) {
                    Cow::Owned(redacted) => Err(ToolError::failed(redacted)),
                    Cow::Borrowed(_) => Err(error),
                }
            }
            Err(ToolError::Refused { reason }) => {
                Err(ToolError::refused(replacer.text(&reason, Author::Other).into_owned()))
            }
            other => other,
        };
        match replacer.blocked.is_empty() {
            true => redacted,
            false => Err(ToolError::refused(blocked(&replacer))),
        }
    }
}

/// Shows a reply that nobody could watch.
pub(super) fn show(reply: &ChatReply, call: &Call) {
    let Some(sink) = call.sink() else { return };
    if let Some(reasoning) = &reply.reasoning {
        sink.token(Token::Reasoning(reasoning.clone()));
    }
    let text = reply.message.text();
    if !text.is_empty() {
        sink.token(Token::Text(text.into_owned()));
    }
}
