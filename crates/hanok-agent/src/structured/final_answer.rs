//! The form of an agent's final answer: a value of a Rust type.

use std::{fmt, sync::Arc};

use hanok_model::{ChatReply, Finish, InvalidSpec, ResponseFormat, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Json, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    Structured,
    answer_schema::AnswerSchema,
    error::{Miss, MissReason},
    words,
};
use crate::protocol::Protocol;

/// The name of the tool, and of the schema.
const NAME: &str = "final_answer";

/// The way in which a model gives an agent's typed answer. In the text protocol it is always [`Prompt`](Self::Prompt).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnswerBy {
    /// As a call of the tool `final_answer`, which every server takes that takes tools.
    #[default]
    Tool,
    /// In the server's own form of JSON, which is told the schema with each request.
    Schema,
    /// As JSON in its text. The system prompt has the schema.
    Prompt,
}

type Read = dyn Fn(&ChatReply) -> Result<Value, Miss> + Send + Sync;

/// The form of an agent's final answer.
#[derive(Clone)]
pub(crate) struct FinalAnswer {
    by: AnswerBy,
    schema: Arc<AnswerSchema>,
    read: Arc<Read>,
    language: Language,
}

impl FinalAnswer {
    /// An answer that is a `T`.
    pub(crate) fn of<T: JsonSchema + DeserializeOwned + 'static>() -> Self {
        let form = Structured::<T>::new(NAME);
        let schema = form.schema.clone();
        Self { by: AnswerBy::default(), schema, read: reading(form), language: Language::default() }
    }

    pub(crate) fn by(self, by: AnswerBy) -> Self {
        Self { by, ..self }
    }

    /// The same in the terms of an agent.
    ///
    /// # Errors
    ///
    /// The reason for which the schema cannot be used.
    pub(crate) fn for_agent(
        self,
        protocol: Protocol,
        language: Language,
    ) -> Result<Self, hanok_core::BoxError> {
        if let Err(error) = &self.schema.validator {
            return Err(error.as_str().into());
        }
        let by = if protocol == Protocol::Text { AnswerBy::Prompt } else { self.by };
        let this = Self { by, language, ..self };
        this.spec()?;
        Ok(this)
    }

    /// The tool by which the model answers, if it does so.
    pub(crate) fn tool(&self) -> Option<ToolSpec> {
        self.spec().ok().filter(|_| self.by == AnswerBy::Tool)
    }

    fn spec(&self) -> Result<ToolSpec, InvalidSpec> {
        ToolSpec::new(NAME, words::answer_tool(self.language), self.schema.own.clone())
    }

    /// The form that a server is asked for.
    pub(crate) fn format(&self) -> ResponseFormat {
        match self.by {
            AnswerBy::Schema => ResponseFormat::JsonSchema {
                name: NAME.to_owned(),
                schema: Json(self.schema.sent.as_ref().unwrap_or(&self.schema.own).clone()),
            },
            AnswerBy::Tool | AnswerBy::Prompt => ResponseFormat::Text,
        }
    }

    /// The system prompt, which tells the model how it answers.
    pub(crate) fn instructed(&self, system: String, protocol: Protocol) -> String {
        let words = match (self.by, protocol) {
            (AnswerBy::Schema, _) => return system,
            (AnswerBy::Tool, _) => words::answer_by_tool(NAME, self.language),
            (AnswerBy::Prompt, Protocol::Text) => {
                words::answer_behind_label(&self.schema.own, self.language)
            }
            (AnswerBy::Prompt, Protocol::Native) => words::form(&self.schema.own, self.language),
        };
        format!("{system}\n\n{words}").trim().to_owned()
    }

    /// True for a call that is the answer.
    pub(crate) fn is_answer(&self, tool: &str) -> bool {
        self.by == AnswerBy::Tool && tool == NAME
    }

    /// The value that `text` is, or the mistakes in it, a sentence each.
    pub(crate) fn value(&self, text: &str) -> Result<Value, Vec<String>> {
        let reply = ChatReply::new(Message::assistant(text), NAME).finish(Finish::Stop);
        (self.read)(&reply).map_err(|miss| match miss.reason {
            MissReason::Mistakes(mistakes) => mistakes,
            MissReason::CutOff | MissReason::Refused => vec![words::no_json(self.language)],
        })
    }

    /// The messages to a model that wrote `text`, with these mistakes.
    pub(crate) fn again(&self, text: &str, mistakes: &[String]) -> [Message; 2] {
        let again = words::again(mistakes, &self.schema.own, self.language);
        [Message::assistant(text), Message::user(again)]
    }

    /// What is told of a call that answers beside other calls.
    pub(crate) fn too_early(&self) -> String {
        words::answer_too_early(self.language)
    }
}

/// Reads a value that is a `T`.
fn reading<T: DeserializeOwned + 'static>(form: Structured<T>) -> Arc<Read> {
    let schema = form.schema.clone();
    Arc::new(move |reply| match &schema.validator {
        Ok(validator) => form.read_json(reply, validator),
        Err(error) => Err(Miss {
            text: reply.message.text().into_owned(),
            reason: MissReason::Mistakes(vec![error.clone()]),
        }),
    })
}

impl fmt::Debug for FinalAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinalAnswer").field("by", &self.by).finish_non_exhaustive()
    }
}
