//! Whether what was read is enough.

use hanok_agent::Evaluation;
use hanok_documents::ArticleMention;
use hanok_graph::{Context, StepError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ContractState, Expert, Origin, prompt};

/// The most tokens of a judgement.
const LONGEST: u32 = 300;

const PROMPT: &str = "찾은 자료로 사용자의 질문에 답할 수 있는지 판단하세요. 모자라면 무엇을 더 찾아야 하는지 적으세요.";

/// The model's judgement.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
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
    let mut named = ArticleMention::all(&state.question);
    named.retain(|it| !it.of_law);
    let known = |named: &ArticleMention| {
        let (origin, key) = (Origin::of(named), named.number.key());
        let read = state.collected.iter().any(|it| it.is_article(origin, &key));
        read || expert.book.lacks(named)
    };
    if !named.is_empty() && named.iter().all(known) {
        return Some(Evaluation::enough("물은 조를 모두 확인했습니다"));
    }
    let nothing = || Evaluation::lacks(["질문과 맞는 조항"], "찾은 것이 없습니다");
    state.collected.is_empty().then(nothing)
}

/// What the model judges. A reply that is no judgement, twice, is taken for enough: the answer is written from what there is.
pub(crate) async fn by_model(
    expert: &Expert,
    state: &ContractState,
    context: &Context,
) -> Result<Evaluation, StepError> {
    let request = prompt::request(PROMPT, state, prompt::found(state)).max_tokens(LONGEST);
    Ok(match expert.fills::<Judgement>(context, "evaluation", request).await? {
        Ok(Judgement { sufficient, mut missing, reason }) => {
            if !sufficient && missing.is_empty() {
                missing.push("질문에 답하는 조항".to_owned());
            }
            Evaluation { sufficient, missing, reason }
        }
        Err(unreadable) => Evaluation::enough(unreadable),
    })
}
