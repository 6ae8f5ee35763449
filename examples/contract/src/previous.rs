//! Whether a question needs what was said before.

use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_state::{Role, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Origin, prompt, question,
};

/// The most tokens of a choice.
const LONGEST: u32 = 100;

const PROMPT: &str = "사용자의 마지막 질문이 앞의 대화를 보아야 이해되는지 고르세요.";

/// A turn that was asked and answered elsewhere, about the same contract.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviousTurn {
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
    /// What the answer was taken from.
    pub sources: Vec<Material>,
}

/// The model's choice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Choice {
    /// 앞의 질문이나 답을 가리키거나 이어서 물으면 true, 질문만 보아도 무엇을 묻는지 알 수 있으면 false
    continues: bool,
}

/// Says whether the question needs what was said before: not in a first turn, always with words that point back, and else as the
/// model says.
pub(crate) async fn check_previous_context(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, BoxError> {
    let needed = if !prompt::earlier(&state).any(|message| message.role() == Role::Assistant) {
        false
    } else if question::follows(&state.question) {
        true
    } else if !question::articles(&state.question, Origin::Contract).is_empty() {
        false
    } else {
        let seen = ContractState { needs_previous: true, ..ContractState::clone(&state) };
        let request = prompt::request(PROMPT, &seen, None).max_tokens(LONGEST);
        let choice = expert.fills::<Choice>(&context, "previous", request).await?;
        choice.is_ok_and(|choice| choice.continues)
    };
    context.custom(&ContractEvent::PreviousContext { needed });
    Ok(ContractState::update().needs_previous(needed))
}

/// What was asked before this question.
pub(crate) fn question_before(state: &ContractState) -> Option<String> {
    let asked = prompt::earlier(state).filter(|message| message.role() == Role::User);
    asked.last().map(|message| message.text().into_owned())
}
