//! Whether what was read is enough.

use hanok_agent::{Evaluation, Language, Structured, StructuredError};
use hanok_core::Call;
use hanok_documents::ArticleMention;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{ContractState, Expert, Material, Missing, Origin, prompt, question, suggest};

/// The most tokens of a judgement.
const LONGEST: u32 = 300;

const PROMPT: &str = "찾은 자료로 사용자의 질문에 답할 수 있는지 판단하세요. 모자라면 무엇을 더 찾아야 하는지 적으세요.";

/// The model's judgement.
#[derive(Debug, Deserialize, JsonSchema)]
struct Judgement {
    /// 찾은 자료만으로 질문에 답할 수 있으면 true
    sufficient: bool,
    /// 더 찾아야 할 것
    missing: Vec<String>,
    /// 판단의 이유, 짧게
    reason: String,
}

/// What rules know without a model.
pub(crate) fn by_rule(expert: &Expert, state: &ContractState) -> Option<Evaluation> {
    let of = |origin| state.collected.iter().any(|it| it.origin == origin);
    let told = state
        .absent
        .iter()
        .any(|it| matches!(it.what, Missing::Counterpart | Missing::Article(Origin::Standard, _)));
    if question::asks_standard(&state.question) && !of(Origin::Standard) && !told {
        return Some(Evaluation::lacks(
            ["표준계약서의 대응 조항"],
            "표준계약서를 아직 보지 않았습니다",
        ));
    }
    let mut asked = ArticleMention::all(&state.question);
    asked.retain(|it| !it.of_law);
    let known = |named: &ArticleMention| {
        let (origin, key) = (Origin::of(named), named.number.key());
        let absent = Missing::Article(origin, key.clone());
        let read = |it: &Material| it.origin == origin && it.article.as_ref() == Some(&key);
        state.collected.iter().any(read) || state.absent.iter().any(|it| it.what == absent)
    };
    let read = |title: &String| state.collected.iter().any(|it| it.label.contains(title.as_str()));
    let titles = suggest::titles(&state.question, &expert.book.user.contract);
    if !asked.is_empty() && asked.iter().all(known) && titles.iter().all(read) {
        return Some(Evaluation::enough("물은 조를 모두 확인했습니다"));
    }
    if state.collected.is_empty() {
        return Some(Evaluation::lacks(["질문과 맞는 조항"], "찾은 것이 없습니다"));
    }
    None
}

/// What the model judges. A reply that is no judgement, twice, is taken for enough: the answer is written from what there is.
pub(crate) async fn ask(
    expert: &Expert,
    state: &ContractState,
    call: &Call,
) -> Result<Evaluation, StructuredError> {
    let data = state.mark.as_ref().and_then(|mark| prompt::found(state, mark));
    let request = prompt::request(PROMPT, state, data).temperature(0.0).max_tokens(LONGEST);
    let structured = Structured::<Judgement>::new("evaluation").language(Language::Korean);
    match structured.ask(&expert.model, request, call).await {
        Ok(reply) => {
            let Judgement { sufficient, mut missing, reason } = reply.value;
            if !sufficient && missing.is_empty() {
                missing.push("질문에 답하는 조항".to_owned());
            }
            Ok(Evaluation { sufficient, missing, reason })
        }
        Err(error @ StructuredError::Model(_)) => Err(error),
        Err(error) => Ok(Evaluation::enough(error.to_string())),
    }
}
