//! Answers of a model as values of a Rust type.

mod answer_schema;
pub(crate) mod error;
mod extract;
pub(crate) mod final_answer;
mod strict;
mod words;

use std::{fmt, marker::PhantomData, sync::Arc};

use hanok_core::{Call, CallKey};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Finish, ModelError, ResponseFormat, ToolChoice, Usage,
};
use hanok_parse::Language;
use hanok_state::{Json, Message, Role};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::{
    answer_schema::AnswerSchema,
    error::{Miss, MissReason, StructuredError},
};
use crate::schema;

/// The place of the form of an answer in its request.
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
    schema: Arc<AnswerSchema>,
    mode: StructuredMode,
    repairs: u32,
    language: Language,
    value: PhantomData<fn() -> T>,
}

/// The place of the schema in the request that got an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SchemaPlace {
    /// The server was given the schema.
    #[serde(rename = "schema")]
    Server,
    /// The schema stood in the prompt.
    Prompt,
}

/// A model's answer as a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StructuredReply<T> {
    /// The answer.
    pub value: T,
    /// The place of the schema in the request.
    #[serde(rename = "way")]
    pub sent_in: SchemaPlace,
    /// The requests that the answer took: 1, or more where an answer did not fit.
    #[serde(rename = "asked")]
    pub attempts: u32,
    /// The tokens of all that was asked.
    pub usage: Usage,
    /// The model, as its server names it.
    pub model: String,
}

impl<T: JsonSchema + DeserializeOwned> Structured<T> {
    /// An answer that is a `T`. `name` names the schema: 1 to 64 letters, digits, `_` and `-`.
    ///
    /// ```
    /// use hanok_agent::Structured;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Verdict {
    ///     /// True for a contract that may be signed.
    ///     sound: bool,
    ///     reasons: Vec<String>,
    /// }
    ///
    /// let verdict = Structured::<Verdict>::new("verdict");
    /// # drop(verdict);
    /// ```
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
    ///
    /// ```
    /// use hanok_agent::Structured;
    /// use hanok_core::{Call, CallKey};
    /// use hanok_model::{ChatRequest, Exchange, ScriptedModel};
    /// use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let call = Call::new(CallKey::new("1"), hanok_graph::Runtime::default().clock);
    /// let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
    /// let model = ScriptedModel::new([Exchange::says("{\"days\": 15}")]);
    /// let days = Structured::<Value>::of_schema("days", schema);
    /// let reply = days.ask(&model, ChatRequest::new(["연차는 며칠?"]), &call).await?;
    /// assert_eq!((reply.value, reply.attempts), (json!({"days": 15}), 1));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn of_schema(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema: Arc::new(AnswerSchema::new(schema)),
            mode: StructuredMode::default(),
            repairs: 1,
            language: Language::default(),
            value: PhantomData,
        }
    }

    /// Names the values of the texts that stand under `field` in the answer, wherever that is: the tools or agents that there are now.
    /// A server that holds a model to the schema lets it write no other. The answer is not checked against them: whoever asks knows
    /// what to do about a name that is none. No values leave the form as it is.
    ///
    /// ```
    /// use hanok_agent::Structured;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Choice {
    ///     tools: Vec<String>,
    /// }
    ///
    /// let choice = Structured::<Choice>::new("choice").offering("tools", ["search", "read_page"]);
    /// # drop(choice);
    /// ```
    #[must_use]
    pub fn offering<V: Into<String>>(
        self,
        field: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values: Vec<_> = values.into_iter().map(Into::into).collect();
        if values.is_empty() {
            return self;
        }
        Self { schema: Arc::new(self.schema.offering(field, &values)), ..self }
    }

    /// Sets the place of the schema. Default: the server's, and the prompt where the server refuses the schema.
    ///
    /// ```
    /// use hanok_agent::{Structured, StructuredMode};
    ///
    /// // This server ignores schemas; the prompt holds the form.
    /// let number = Structured::<u32>::new("number").mode(StructuredMode::Prompt).repairs(2);
    /// # drop(number);
    /// ```
    #[must_use]
    pub fn mode(self, mode: StructuredMode) -> Self {
        Self { mode, ..self }
    }

    /// Limits the requests to a model whose answer does not fit, after the first. Default: 1.
    #[must_use]
    pub fn repairs(self, repairs: u32) -> Self {
        Self { repairs, ..self }
    }

    /// Sets the language of the messages to the model. Default: English.
    #[must_use]
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Asks `model`. The request is sent without its tools, its tool choice and its form, and without a watcher of the
    /// tokens.
    ///
    /// Each time that the model is asked is a call of the budget.
    ///
    /// ```
    /// use hanok_agent::Structured;
    /// use hanok_core::{Call, CallKey};
    /// use hanok_model::{ChatRequest, Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let call = Call::new(CallKey::new("1"), hanok_graph::Runtime::default().clock);
    /// let model = ScriptedModel::new([
    ///     Exchange::says("{\"answer\": \"fifteen\"}"),
    ///     Exchange::says("{\"answer\": 15}").contains("has to be of type integer"),
    /// ]);
    /// let reply = Structured::<u32>::new("days").ask(&model, ChatRequest::new(["연차는?"]), &call).await?;
    /// assert_eq!((reply.value, reply.attempts), (15, 2));
    /// # Ok(())
    /// # }
    /// ```
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
        let mut asking = AnswerSession { model, call, sent_in: SchemaPlace::Server, attempts: 0 };
        if self.mode == StructuredMode::Prompt {
            asking.sent_in = SchemaPlace::Prompt;
        }
        let (mut usage, mut repairs) = (Usage::default(), Vec::new());
        loop {
            let reply = self.ask_once(&mut asking, &request, &repairs).await?;
            usage = usage.plus(reply.usage);
            let miss = match self.read(&reply, validator) {
                Ok(value) => {
                    let AnswerSession { sent_in, attempts, .. } = asking;
                    let model = reply.model;
                    return Ok(StructuredReply { value, sent_in, attempts, usage, model });
                }
                Err(miss) => miss,
            };
            let is_last = u32::try_from(repairs.len() / 2).unwrap_or(u32::MAX) >= self.repairs;
            let mistakes = match &miss.reason {
                MissReason::Mistakes(mistakes) if !is_last => mistakes,
                _ => return Err(miss.error(&self.name)),
            };
            let again = words::again(mistakes, &self.schema.own, self.language);
            repairs.push(Message::assistant(miss.text));
            repairs.push(Message::user(again));
        }
    }

    /// Asks `model` as [`ask`](Self::ask) does; `None` when it answers and its answer does not fit, for a program that goes on by rules
    /// then.
    ///
    /// ```
    /// use hanok_agent::Structured;
    /// use hanok_core::Call;
    /// use hanok_model::{ChatRequest, Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Exchange::says("fifteen"), Exchange::says("fifteen, I said")]);
    /// let days = Structured::<u32>::new("days");
    /// assert_eq!(days.fill(&model, ChatRequest::new(["How many days?"]), &Call::detached()).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError`] when the model cannot be asked.
    pub async fn fill(
        &self,
        model: &impl ChatModel,
        request: ChatRequest,
        call: &Call,
    ) -> Result<Option<T>, ModelError> {
        match self.ask(model, request, call).await {
            Ok(reply) => Ok(Some(reply.value)),
            Err(StructuredError::Model(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Asks once; by the prompt from then on if the server refuses the schema.
    async fn ask_once(
        &self,
        asking: &mut AnswerSession<'_, impl ChatModel>,
        request: &ChatRequest,
        repairs: &[Message],
    ) -> Result<ChatReply, StructuredError> {
        let sent = self.request(request, repairs, asking.sent_in);
        match asking.ask(sent).await {
            Err(ModelError::BadRequest { .. })
                if self.mode == StructuredMode::Auto && asking.sent_in == SchemaPlace::Server =>
            {
                asking.sent_in = SchemaPlace::Prompt;
                Ok(asking.ask(self.request(request, repairs, asking.sent_in)).await?)
            }
            reply => Ok(reply?),
        }
    }

    fn request(
        &self,
        request: &ChatRequest,
        repairs: &[Message],
        sent_in: SchemaPlace,
    ) -> ChatRequest {
        let request = repairs.iter().cloned().fold(request.clone(), ChatRequest::message);
        match sent_in {
            SchemaPlace::Server => request.response_format(ResponseFormat::JsonSchema {
                name: self.name.clone(),
                schema: Json(self.schema.sent.as_ref().unwrap_or(&self.schema.own).clone()),
            }),
            SchemaPlace::Prompt => {
                let form = words::form(&self.schema.own, self.language);
                instructed(request.response_format(ResponseFormat::Text), &form)
            }
        }
    }

    /// The answer in `reply`, or what is wrong with it.
    fn read(&self, reply: &ChatReply, validator: &Validator) -> Result<T, Miss> {
        self.read_as(reply, |value| self.fits(value, validator))
    }

    /// The JSON of an answer that is a `T`.
    fn read_json(&self, reply: &ChatReply, validator: &Validator) -> Result<Value, Miss> {
        self.read_as(reply, |value| {
            let answer = self.answer(value, validator)?;
            self.decode(answer.clone()).map(|_| answer)
        })
    }

    fn read_as<A>(
        &self,
        reply: &ChatReply,
        fits: impl Fn(Value) -> Result<A, Vec<String>>,
    ) -> Result<A, Miss> {
        let text = reply.message.text();
        let miss = |reason| Err(Miss { text: text.to_string(), reason });
        if matches!(reply.finish, Finish::Refused | Finish::ContentFilter) {
            return miss(MissReason::Refused);
        }
        let mistakes = match extract::objects(&text, fits, |key| schema::twice(key, self.language))
        {
            Ok(value) => return Ok(value),
            Err(_) if reply.finish == Finish::Length => return miss(MissReason::CutOff),
            Err(_) if text.trim().is_empty() => vec![words::nothing(self.language)],
            Err(Some(mistakes)) => mistakes,
            Err(None) => vec![words::no_json(self.language)],
        };
        miss(MissReason::Mistakes(mistakes))
    }

    /// `value` as an answer, or what is wrong with it.
    fn fits(&self, value: Value, validator: &Validator) -> Result<T, Vec<String>> {
        self.decode(self.answer(value, validator)?)
    }

    /// The answer in `value`, whose form is that of the schema.
    fn answer(&self, mut value: Value, validator: &Validator) -> Result<Value, Vec<String>> {
        strict::drop_nulls(&mut value, &self.schema.own);
        let mistakes = schema::faults(validator, &value, schema::Noun::Answer, self.language);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        Ok(match self.schema.wrapped {
            true => value.get_mut(strict::WRAP).map(Value::take).unwrap_or_default(),
            false => value,
        })
    }

    fn decode(&self, answer: Value) -> Result<T, Vec<String>> {
        serde_json::from_value(answer)
            .map_err(|error| vec![words::unreadable(&error.to_string(), self.language)])
    }
}

/// A model that is asked several times for one answer.
struct AnswerSession<'a, M> {
    model: &'a M,
    call: &'a Call,
    sent_in: SchemaPlace,
    attempts: u32,
}

impl<M: ChatModel> AnswerSession<'_, M> {
    async fn ask(&mut self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let key = self.call.key();
        let key = match self.attempts {
            0 => key.clone(),
            attempts => CallKey::new(format!("{key}-{attempts}")),
        };
        self.attempts += 1;
        self.model.chat(request, &self.call.keyed(key).quiet()).await
    }
}

/// `request` with `form` at the end of its system prompt. Servers take one system message, at the beginning.
fn instructed(mut request: ChatRequest, form: &str) -> ChatRequest {
    let mut messages = request.messages.into_iter().peekable();
    let system = match messages.next_if(|first| first.role() == Role::System) {
        Some(system) => {
            let text = format!("{}\n\n{form}", system.text());
            system.with_content(text)
        }
        None => Message::system(form),
    };
    request.messages = std::iter::once(system).chain(messages).collect();
    request
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
