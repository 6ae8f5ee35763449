//! What a user says of themselves, as a model reads it.

use crate::learning::UserMemory;
use hanok_agent::{Language, Structured, StructuredError};
use hanok_core::{BoxError, Call};
use hanok_learning::{PreferenceProposal, PreferenceProposer};
use hanok_model::{ChatRequest, SharedModel};
use hanok_state::Message;
use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::{data::Deal, money::Won, teams::select::listed};

/// The memory of one user.
pub type EstateMemory = UserMemory<Proposer>;

/// What a user says of themselves, as a model reads it. The comments are for models.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Stated {
    /// 지역(구).
    region: Option<String>,
    /// 거래.
    deal: Option<Deal>,
    /// 예산(원).
    budget: Option<Won>,
    /// 연소득(원).
    income: Option<Won>,
    /// 자녀(명).
    children: Option<u32>,
}

/// Has a model propose the preferences that the statements of a message state; a question states nothing.
#[derive(Debug, Clone)]
pub struct Proposer {
    model: SharedModel,
    schema: Value,
}

impl Proposer {
    /// The proposer that asks `model`. Districts are `districts`.
    #[must_use]
    pub fn new(model: SharedModel, districts: &[&str]) -> Self {
        let mut schema = schema_for!(Stated).to_value();
        listed(&mut schema, districts);
        Self { model, schema }
    }
}

impl PreferenceProposer for Proposer {
    async fn propose(
        &self,
        message: &Message,
        call: &Call,
    ) -> Result<Vec<PreferenceProposal>, BoxError> {
        const ASKS: [&str; 8] = ["?", "줘", "주세요", "까", "나요", "래", "알려", "보여"];
        let text = message.text();
        let sentences = text.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
        let states = |it: &&str| {
            let end = it.trim_end_matches(['.', '!', ' ']);
            !it.is_empty() && !ASKS.iter().any(|ask| end.ends_with(ask))
        };
        let mut proposals = Vec::new();
        for quote in sentences.filter(states) {
            let system = include_str!("../prompts/preferences.txt").trim();
            let request = ChatRequest::new([Message::system(system), Message::user(quote)]);
            let form = Structured::<Value>::of_schema("preferences", self.schema.clone());
            let form = form.language(Language::Korean);
            let stated = match form.ask(&self.model, request.max_tokens(500), call).await {
                Ok(reply) => reply.value,
                Err(StructuredError::Model(error)) if error.ends_the_run() => {
                    return Err(error.into());
                }
                Err(_no_answer) => continue,
            };
            let named = [
                ("region", "지역"),
                ("deal", "거래"),
                ("budget", "예산"),
                ("income", "연소득"),
                ("children", "자녀"),
            ];
            for (field, key) in named {
                let Some(value) = stated.get(field).filter(|value| !value.is_null()) else {
                    continue;
                };
                let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let value = match (field, serde_json::from_value::<Won>(value.clone())) {
                    ("budget" | "income", Ok(won)) => won.in_units(),
                    ("children", _) => format!("{words}명"),
                    _ => words,
                };
                let (key, quote) = (key.to_owned(), quote.to_owned());
                proposals.push(PreferenceProposal { key, value, quote });
            }
        }
        Ok(proposals)
    }
}
