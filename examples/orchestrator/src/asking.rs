//! Asking the model, once and for all of a task's runs.

use clap::Args;
use hanok_agent::{Language, Structured};
use hanok_core::{BoxError, Call};
use hanok_graph::{Context, StepError};
use hanok_learning::{TextJudge, TextRelation};
use hanok_model::{ChatRequest, DataMark, SharedModel};
use hanok_state::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{state::OrchestratorState, wording};

/// What stands in every request: who the user is, and what is known of the domain. It is data.
#[derive(Debug, Clone, Default, Args)]
pub struct Background {
    /// What is known of the user, as text: models read it as data
    #[arg(long, value_name = "TEXT")]
    pub personal: Option<String>,

    /// What is known of the domain, as text: models read it as data
    #[arg(long, value_name = "TEXT")]
    pub domain: Option<String>,
}

/// `text` under `heading`, between marks.
pub(crate) fn data(heading: &str, text: &str, mark: &DataMark) -> Message {
    Message::user(format!("{heading}\n{}", mark.around(text)))
}

impl Background {
    /// A request: the instructions, what is known, the last messages, `more`, and what is asked for at the end, once.
    pub(crate) fn request(
        &self,
        instructions: &str,
        state: &OrchestratorState,
        more: impl IntoIterator<Item = Message>,
        query: &str,
        call: &Call,
    ) -> ChatRequest {
        let known = [(wording::PERSONAL, &self.personal), (wording::DOMAIN, &self.domain)];
        let known = known.into_iter().filter_map(|(heading, text)| {
            let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
            Some(format!("{heading}\n{text}"))
        });
        let known = known.collect::<Vec<_>>().join("\n\n");
        let mut messages = vec![Message::system(format!("{instructions}\n\n{}", wording::DATA))];
        if !known.is_empty() {
            messages.push(data(wording::DATA, &known, &DataMark::of_call(call)));
        }
        messages.extend(state.recent().cloned());
        messages.extend(more);
        messages.push(Message::user(query));
        ChatRequest::new(messages).max_tokens(wording::LONGEST)
    }
}

/// The form `name` as `model` fills it, in which the fields `tool` are of `tools`; nothing where it does not fit twice.
///
/// # Errors
///
/// What ends the run: the model's server cannot be asked, or the answer not be stored.
pub(crate) async fn form<T>(
    model: &SharedModel,
    name: &str,
    tools: &[String],
    request: impl FnOnce(&Call) -> ChatRequest,
    context: &Context,
) -> Result<Option<T>, BoxError>
where
    T: JsonSchema + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let call = context.call("model", name, "");
    let request = request(&call);
    let form = Structured::<T>::new(name).offering("tool", tools).language(Language::Korean);
    context.step(name, || form.fill(model, request, &call)).await.map_err(cause)
}

/// The model, judging whether two requests ask for the same work. One that does not say it says that they do not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelJudge<'a>(pub(crate) &'a SharedModel);

/// What two requests ask for, as the model says it.
#[derive(Debug, Deserialize, JsonSchema)]
struct RelationForm {
    #[schemars(with = "String", extend("enum" = ["same", "different", "contradicting"]))]
    relation: TextRelation,
}

impl TextJudge for ModelJudge<'_> {
    async fn judge(&self, one: &str, other: &str, call: &Call) -> Result<TextRelation, BoxError> {
        let texts = format!("1. {one}\n2. {other}");
        let texts = data(wording::TWO_REQUESTS, &texts, &DataMark::of_call(call));
        let request = ChatRequest::new([Message::system(wording::SAME_WORK), texts]);
        let form = Structured::<RelationForm>::new("relation").language(Language::Korean);
        let form = form.fill(self.0, request, &call.clone().quiet()).await?;
        Ok(form.map_or(TextRelation::Different, |form| form.relation))
    }
}

/// The error behind a step, as whoever shows it wants it.
pub(crate) fn cause(error: StepError) -> BoxError {
    match error {
        StepError::Failed(cause) => cause,
        error => error.into(),
    }
}
