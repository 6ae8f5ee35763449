//! Answers of a model as values of a Rust type.

mod extract;
mod strict;
mod words;

use std::{fmt, marker::PhantomData, sync::Arc};

use hanok_core::{BoxError, Call, CallKey};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Finish, ModelError, ResponseFormat, ToolChoice, Usage,
};
use hanok_parse::Language;
use hanok_state::{Json, Message, Role};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

use crate::{observation::cut, schema};

/// How much of a reply an error holds, in bytes.
const KEPT: usize = 2_000;

/// How a model is told the form of its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StructuredMode {
    /// By the server; in the prompt, if the server refuses that ([`ModelError::BadRequest`]).
    #[default]
    Auto,
    /// By the server alone ([`ResponseFormat::JsonSchema`]).
    Schema,
    /// In the prompt alone: works with every model and server.
    Prompt,
}

/// Asks a model for a `T`: an answer that fits its JSON schema, or a typed error.
///
/// The schema is sent in the form that servers hold a model to (all objects closed, all fields there, optional ones
/// nullable), and the answer is checked here against the schema itself, whatever the server promises. JSON is taken out of
/// prose, fences and reasoning, and small faults of it are mended. An answer that does not fit is asked for once more, with
/// what is wrong with it. The schema of a type that is no struct is wrapped in an object, and the answer unwrapped.
///
/// In a node it is a memoised step:
///
/// ```
/// use hanok_agent::Structured;
/// use hanok_core::Call;
/// use hanok_graph::{Context, StepError};
/// use hanok_model::{ChatRequest, SharedModel};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// struct Route {
///     /// Where the question goes.
///     target: Target,
///     reason: Option<String>,
/// }
///
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(rename_all = "snake_case")]
/// enum Target {
///     Documents,
///     Web,
/// }
///
/// async fn route(model: &SharedModel, question: &str, context: &Context) -> Result<Route, StepError> {
///     let call = context.call("model", "route", question);
///     let route = Structured::<Route>::new("route");
///     let ask = || route.ask(model, ChatRequest::new([question]), &call);
///     Ok(context.step("route", ask).await?.value)
/// }
/// ```
pub struct Structured<T> {
    name: String,
    schema: Arc<Schema>,
    mode: StructuredMode,
    repairs: u32,
    language: Language,
    value: PhantomData<fn() -> T>,
}

/// What an answer has to be.
struct Schema {
    /// As it is checked, and shown in a prompt.
    own: Value,
    /// As a server is given it.
    sent: Value,
    /// Whether it stands in an object that the caller does not know of.
    wrapped: bool,
    validator: Result<Validator, String>,
}

/// By which way an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StructuredWay {
    /// The server was given the schema.
    Schema,
    /// The schema stood in the prompt.
    Prompt,
}

/// A model's answer as a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StructuredReply<T> {
    /// The answer.
    pub value: T,
    /// How it came.
    pub way: StructuredWay,
    /// How often the model was asked: 1, or more where an answer did not fit.
    pub asked: u32,
    /// The tokens of all that was asked.
    pub usage: Usage,
    /// The model, as its server names it.
    pub model: String,
}

/// Why there is no answer of the form that was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StructuredError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The schema of the answer is none, or refers to what is not in it. Another attempt cannot help.
    #[error("the schema `{name}` cannot be used")]
    Schema {
        /// Its name.
        name: String,
        /// Why not.
        source: BoxError,
    },
    /// The model refused to answer, in its words, or its server kept the answer back.
    #[error("the model refused to answer as `{name}`")]
    Refused {
        /// The schema's name.
        name: String,
        /// What it said, at most 2,000 bytes of it.
        text: String,
    },
    /// The answer was longer than it may be. Ask with more `max_tokens`, or for less.
    #[error("the answer as `{name}` was cut off")]
    CutOff {
        /// The schema's name.
        name: String,
        /// What there was of it, at most 2,000 bytes.
        text: String,
    },
    /// The model said nothing, and nothing again.
    #[error("the model said nothing as `{name}`")]
    Empty {
        /// The schema's name.
        name: String,
    },
    /// The answer does not fit, and did not when the model was told what is wrong.
    #[error("the answer does not fit `{name}`: {}", mistakes.join(" "))]
    Invalid {
        /// The schema's name.
        name: String,
        /// What is wrong with the last answer, a sentence each.
        mistakes: Vec<String>,
        /// The last answer, at most 2,000 bytes of it.
        text: String,
    },
}

/// What is wrong with a reply that may be better the next time.
struct Miss {
    text: String,
    mistakes: Vec<String>,
}

impl<T: JsonSchema + DeserializeOwned> Structured<T> {
    /// An answer that is a `T`. `name` names the schema: 1 to 64 letters, digits, `_` and `-`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let schema = match ResponseFormat::of::<T>(name.as_str()) {
            ResponseFormat::JsonSchema { schema, .. } => schema.0,
            _ => Value::Bool(true),
        };
        Self::of_schema(name, schema)
    }
}

impl<T: DeserializeOwned> Structured<T> {
    /// An answer of a JSON schema that is known at run time only; `T` is [`serde_json::Value`], or what can be read from
    /// all that fits.
    #[must_use]
    pub fn of_schema(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema: Arc::new(Schema::new(schema)),
            mode: StructuredMode::default(),
            repairs: 1,
            language: Language::default(),
            value: PhantomData,
        }
    }

    /// How the model is told the form. Default: by the server, and in the prompt if that refuses it.
    #[must_use]
    pub fn mode(self, mode: StructuredMode) -> Self {
        Self { mode, ..self }
    }

    /// How often a model whose answer does not fit is told so and asked again. Default: 1.
    #[must_use]
    pub fn repairs(self, repairs: u32) -> Self {
        Self { repairs, ..self }
    }

    /// The language of what is said to the model. Default: English.
    #[must_use]
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Asks `model`. Tools, the tool choice and the form of `request` are not sent, and nobody watches the tokens.
    ///
    /// Each time that the model is asked is a call of the budget.
    ///
    /// # Errors
    ///
    /// [`StructuredError`]: its variants say what to do.
    pub async fn ask(
        &self,
        model: &impl ChatModel,
        request: ChatRequest,
        call: &Call,
    ) -> Result<StructuredReply<T>, StructuredError> {
        let validator = self.schema.validator.as_ref().map_err(|error| {
            StructuredError::Schema { name: self.name.clone(), source: error.as_str().into() }
        })?;
        let request = request.tools([]).tool_choice(ToolChoice::Auto);
        let mut asking = Asking { model, call, way: StructuredWay::Schema, asked: 0 };
        if self.mode == StructuredMode::Prompt {
            asking.way = StructuredWay::Prompt;
        }
        let (mut usage, mut said) = (Usage::default(), Vec::new());
        loop {
            let reply = self.once(&mut asking, &request, &said).await?;
            usage = usage.plus(reply.usage);
            let miss = match self.read(&reply, validator)? {
                Ok(value) => {
                    let Asking { way, asked, .. } = asking;
                    return Ok(StructuredReply { value, way, asked, usage, model: reply.model });
                }
                Err(miss) => miss,
            };
            if u32::try_from(said.len() / 2).unwrap_or(u32::MAX) >= self.repairs {
                return Err(self.failed(miss));
            }
            said.push(Message::assistant(miss.text));
            let again = words::again(&miss.mistakes, &self.schema.own, self.language);
            said.push(Message::user(again));
        }
    }

    /// Asks once; by the prompt from then on if the server refuses the schema.
    async fn once(
        &self,
        asking: &mut Asking<'_, impl ChatModel>,
        request: &ChatRequest,
        said: &[Message],
    ) -> Result<ChatReply, StructuredError> {
        let sent = self.request(request, said, asking.way);
        match asking.ask(sent).await {
            Err(ModelError::BadRequest { .. })
                if self.mode == StructuredMode::Auto && asking.way == StructuredWay::Schema =>
            {
                asking.way = StructuredWay::Prompt;
                Ok(asking.ask(self.request(request, said, asking.way)).await?)
            }
            reply => Ok(reply?),
        }
    }

    fn request(&self, request: &ChatRequest, said: &[Message], way: StructuredWay) -> ChatRequest {
        let request = said.iter().cloned().fold(request.clone(), ChatRequest::message);
        match way {
            StructuredWay::Schema => request.response_format(ResponseFormat::JsonSchema {
                name: self.name.clone(),
                schema: Json(self.schema.sent.clone()),
            }),
            StructuredWay::Prompt => {
                let form = words::form(&self.schema.own, self.language);
                instructed(request.response_format(ResponseFormat::Text), &form)
            }
        }
    }

    /// The answer in `reply`, or what is wrong with it.
    fn read(
        &self,
        reply: &ChatReply,
        validator: &Validator,
    ) -> Result<Result<T, Miss>, StructuredError> {
        let text = reply.message.text();
        if matches!(reply.finish, Finish::Refused | Finish::ContentFilter) {
            return Err(StructuredError::Refused { name: self.name.clone(), text: kept(&text) });
        }
        let mistakes = match extract::objects(&text, |found| self.fits(found, validator)) {
            Ok(value) => return Ok(Ok(value)),
            Err(mistakes) => mistakes,
        };
        if reply.finish == Finish::Length {
            return Err(StructuredError::CutOff { name: self.name.clone(), text: kept(&text) });
        }
        let mistakes = match (mistakes, text.trim().is_empty()) {
            (_, true) => vec![words::nothing(self.language)],
            (Some(mistakes), false) => mistakes,
            (None, false) => vec![words::no_json(self.language)],
        };
        Ok(Err(Miss { text: text.into_owned(), mistakes }))
    }

    /// `found` as a value, or what is wrong with it.
    fn fits(&self, mut found: Value, validator: &Validator) -> Result<T, Vec<String>> {
        strict::drop_nulls(&mut found, &self.schema.own);
        let mistakes = schema::faults(validator, &found, schema::Noun::Answer, self.language);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let answer = match self.schema.wrapped {
            true => found.get_mut(strict::WRAP).map(Value::take).unwrap_or_default(),
            false => found,
        };
        serde_json::from_value(answer)
            .map_err(|error| vec![words::unreadable(&error.to_string(), self.language)])
    }

    fn failed(&self, Miss { text, mistakes }: Miss) -> StructuredError {
        let name = self.name.clone();
        match text.trim().is_empty() {
            true => StructuredError::Empty { name },
            false => StructuredError::Invalid { name, mistakes, text: kept(&text) },
        }
    }
}

impl Schema {
    fn new(schema: Value) -> Self {
        let wrapped = !strict::is_object(&schema);
        let own = if wrapped { strict::wrap(schema) } else { schema };
        let sent = strict::strict(&own).unwrap_or_else(|| own.clone());
        let validator = schema::compile(&own).map_err(|error| error.to_string());
        Self { own, sent, wrapped, validator }
    }
}

/// A model that is asked several times for one answer.
struct Asking<'a, M> {
    model: &'a M,
    call: &'a Call,
    way: StructuredWay,
    asked: u32,
}

impl<M: ChatModel> Asking<'_, M> {
    async fn ask(&mut self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let key = self.call.key();
        let key = match self.asked {
            0 => key.clone(),
            asked => CallKey::new(format!("{key}-{asked}")),
        };
        self.asked += 1;
        self.model.chat(request, &self.call.keyed(key).quiet()).await
    }
}

/// `request` with `form` at the end of its system prompt. Servers take one system message, at the beginning.
fn instructed(mut request: ChatRequest, form: &str) -> ChatRequest {
    match request.messages.first_mut() {
        Some(first) if first.role() == Role::System => {
            let text = format!("{}\n\n{form}", first.text());
            *first = first.clone().with_content(text);
        }
        _ => request.messages.insert(0, Message::system(form)),
    }
    request
}

fn kept(text: &str) -> String {
    cut(text, KEPT).0.to_owned()
}

impl<T> Clone for Structured<T> {
    fn clone(&self) -> Self {
        let Self { name, schema, mode, repairs, language, value } = self;
        let (name, schema) = (name.clone(), schema.clone());
        Self { name, schema, mode: *mode, repairs: *repairs, language: *language, value: *value }
    }
}

impl<T> fmt::Debug for Structured<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Structured")
            .field("name", &self.name)
            .field("schema", &self.schema.own)
            .field("mode", &self.mode)
            .field("repairs", &self.repairs)
            .finish_non_exhaustive()
    }
}
