//! Asking the model, once and for all of a task's runs.

use futures::future::BoxFuture;
use hanok_agent::{Language, Structured, StructuredError};
use hanok_core::{BoxError, Call};
use hanok_graph::{Context, StepError};
use hanok_learning::{TextJudge, TextRelation};
use hanok_model::{ChatRequest, DataMark, ModelError, SharedModel};
use hanok_state::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{state::OrchestratorState, wording};

/// What stands in every request: who the user is, and what is known of the domain. It is data.
#[derive(Debug, Clone, Default)]
pub struct Background {
    /// Of the user.
    pub personal: Option<String>,
    /// Of the domain.
    pub domain: Option<String>,
}

/// `text` under `heading`, between marks.
pub fn data(heading: &str, text: &str, mark: &DataMark) -> Message {
    Message::user(format!("{heading}\n{}", mark.around(text)))
}

impl Background {
    fn message(&self, mark: &DataMark) -> Option<Message> {
        let parts = [(wording::PERSONAL, &self.personal), (wording::DOMAIN, &self.domain)];
        let parts: Vec<_> = parts
            .iter()
            .filter_map(|(heading, text)| {
                let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
                Some(format!("{heading}\n{text}"))
            })
            .collect();
        (!parts.is_empty()).then(|| data(wording::DATA, &parts.join("\n\n"), mark))
    }

    /// A request: the instructions, what is known, the last messages, `more`, and the request of the turn at the end, once.
    pub fn request(
        &self,
        instructions: &str,
        state: &OrchestratorState,
        more: impl IntoIterator<Item = Message>,
        call: &Call,
    ) -> ChatRequest {
        let system = Message::system(format!("{instructions}\n\n{}", wording::DATA));
        let mut messages = vec![system];
        messages.extend(self.message(&DataMark::of_call(call)));
        messages.extend(state.recent().cloned());
        messages.extend(more);
        messages.push(Message::user(state.query.as_str()));
        ChatRequest::new(messages).max_tokens(wording::LONGEST)
    }
}

/// The form `name` as `model` fills it, or nothing where it does not fit twice.
///
/// # Errors
///
/// What ends the run: the model's server cannot be asked, or the answer not be stored.
pub async fn form<T>(
    model: &SharedModel,
    name: &str,
    request: impl FnOnce(&Call) -> ChatRequest,
    context: &Context,
) -> Result<Option<T>, BoxError>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    form_of(model, Structured::<T>::new(name), name, request, context).await
}

/// As [`form`], of a form that was made for what there is now.
///
/// # Errors
///
/// As those of [`form`].
pub async fn form_of<T>(
    model: &SharedModel,
    form: Structured<T>,
    name: &str,
    request: impl FnOnce(&Call) -> ChatRequest,
    context: &Context,
) -> Result<Option<T>, BoxError>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let call = context.call("model", name, "");
    let request = request(&call);
    let ask = || -> BoxFuture<'_, Result<Option<T>, StructuredError>> {
        Box::pin(filled(model, form, request, &call))
    };
    context.step(name, ask).await.map_err(cause)
}

/// The form as the model fills it, `None` when it does not.
async fn filled<T>(
    model: &SharedModel,
    form: Structured<T>,
    request: ChatRequest,
    call: &Call,
) -> Result<Option<T>, StructuredError>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    match form.language(Language::Korean).ask(model, request, call).await {
        Ok(reply) => Ok(Some(reply.value)),
        Err(error @ StructuredError::Model(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The model, judging whether two requests ask for the same work. One that does not say it says that they do not.
#[derive(Debug, Clone, Copy)]
pub struct ModelJudge<'a>(pub &'a SharedModel);

/// What two requests ask for, as the model says it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RelationForm {
    relation: Relation,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Relation {
    Same,
    Different,
    Contradicting,
}

impl TextJudge for ModelJudge<'_> {
    async fn judge(&self, one: &str, other: &str, call: &Call) -> Result<TextRelation, BoxError> {
        let texts = format!("1. {one}\n2. {other}");
        let texts = data(wording::TWO_REQUESTS, &texts, &DataMark::of_call(call));
        let request = ChatRequest::new([Message::system(wording::SAME_WORK), texts]);
        let quiet = call.clone().quiet();
        let form =
            filled(self.0, Structured::<RelationForm>::new("relation"), request, &quiet).await?;
        Ok(match form.map(|form| form.relation) {
            Some(Relation::Same) => TextRelation::Same,
            Some(Relation::Contradicting) => TextRelation::Contradicting,
            Some(Relation::Different) | None => TextRelation::Different,
        })
    }
}

/// The error behind a step, as whoever shows it wants it: the model's own where it is one.
pub fn cause(error: StepError) -> BoxError {
    let StepError::Failed(cause) = error else { return error.into() };
    match cause.downcast::<StructuredError>() {
        Ok(error) => match *error {
            StructuredError::Model(error) => Box::<ModelError>::new(error),
            error => error.into(),
        },
        Err(cause) => cause,
    }
}
