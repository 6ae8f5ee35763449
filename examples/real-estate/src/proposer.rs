//! What a model reads in what a user says of themselves.

use hanok_agent::{Language, Structured, StructuredError};
use hanok_core::{BoxError, Call};
use hanok_learning::{PreferenceProposal, PreferenceProposer};
use hanok_model::{ChatRequest, SharedModel};
use hanok_state::Message;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::wording;

/// Has a model propose the preferences that a message states; without one there are the rules'.
#[derive(Debug, Clone, Default)]
pub struct ModelProposer(Option<SharedModel>);

/// The preferences of a message, as a model writes them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Stated {
    /// 사용자가 자신에 대해 말한 것. 없으면 비워 둡니다.
    preferences: Vec<StatedPreference>,
}

/// 사용자가 자신에 대해 말한 한 가지
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct StatedPreference {
    /// 무엇에 대한 말인지: 지역, 거래, 예산, 자녀, 혼인, 연소득 따위
    name: String,
    /// 그 값
    value: String,
    /// 그렇게 말한 사용자의 말, 글자 그대로
    quote: String,
}

impl ModelProposer {
    /// The proposer that asks `model`, or nobody.
    #[must_use]
    pub fn new(model: Option<SharedModel>) -> Self {
        Self(model)
    }
}

impl PreferenceProposer for ModelProposer {
    async fn propose(
        &self,
        message: &Message,
        call: &Call,
    ) -> Result<Vec<PreferenceProposal>, BoxError> {
        let Some(model) = &self.0 else { return Ok(Vec::new()) };
        let said = Message::user(&*message.text());
        let request = ChatRequest::new([Message::system(wording::PREFERENCES), said])
            .max_tokens(wording::LONGEST);
        let form = Structured::<Stated>::new("preferences").language(Language::Korean);
        let stated = match form.ask(model, request, call).await {
            Ok(reply) => reply.value.preferences,
            Err(StructuredError::Model(error)) if error.ends_the_run() => return Err(error.into()),
            Err(_) => Vec::new(),
        };
        let proposal = |it: StatedPreference| PreferenceProposal {
            key: it.name,
            value: it.value,
            quote: it.quote,
        };
        Ok(stated.into_iter().map(proposal).collect())
    }
}
