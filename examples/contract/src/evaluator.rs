//! Whether what was read is enough.

use hanok_agent::{Language, Structured, StructuredError};
use hanok_core::Call;
use hanok_graph::{Context, Snapshot};
use hanok_state::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Missing, Origin, Plan,
    failure::NodeFailure,
    prompt, question,
    refer::{self, Named},
    suggest,
};

/// The most tokens of a judgement.
const LONGEST: u32 = 300;

const PROMPT: &str = "찾은 자료로 사용자의 질문에 답할 수 있는지 판단하세요. 모자라면 무엇을 더 찾아야 하는지 적으세요.";

/// What is missing, in the evaluator's own words. The most of it that is kept.
const MISSING: usize = 4;

/// The model's judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Evaluation {
    /// 찾은 자료만으로 질문에 답할 수 있으면 true
    sufficient: bool,
    /// 더 찾아야 할 것
    missing: Vec<String>,
    /// 판단의 이유, 짧게
    reason: String,
}

impl Evaluation {
    fn enough(reason: &str) -> Self {
        Self { sufficient: true, missing: Vec::new(), reason: reason.to_owned() }
    }

    fn lacks(missing: &str, reason: &str) -> Self {
        Self { sufficient: false, missing: vec![missing.to_owned()], reason: reason.to_owned() }
    }
}

/// Judges what was read. After the last round the answer is written all the same.
pub(crate) async fn evaluator(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    let evaluation = match by_rule(&expert, &state) {
        Some(evaluation) => evaluation,
        None => {
            let call = context.call("model", "evaluator", "");
            context.step("evaluation", || ask(&expert, &state, &call)).await?
        }
    };
    let Evaluation { sufficient, mut missing, reason } = evaluation;
    missing.truncate(MISSING);
    let iteration = state.iteration;
    // Calls that were made before and a judgement that is the same will not find more in another round.
    let stuck = state.plan == Some(Plan::SkipToEvaluator) && missing == state.missing_info;
    let forced = !sufficient && (iteration >= expert.max_iterations || stuck);
    let told = missing.clone();
    context.custom(&ContractEvent::EvaluationResult {
        iteration,
        sufficient,
        forced,
        missing: told,
        reason: reason.clone(),
    });
    let mut decisions = state.decisions.clone();
    decisions.push(format!("{iteration}: {} ({reason})", if sufficient { "충분" } else { "부족" }));
    let missing = if sufficient { Vec::new() } else { missing };
    Ok(ContractState::update().missing_info(missing).decisions(decisions).forced(forced))
}

/// Where a judgement leads.
pub(crate) fn after(state: &ContractState) -> &'static str {
    if state.forced || state.missing_info.is_empty() { "respond" } else { "planner" }
}

/// What rules know without a model.
fn by_rule(expert: &Expert, state: &ContractState) -> Option<Evaluation> {
    let of = |origin| state.collected.iter().any(|it| it.origin == origin);
    let told = state
        .absent
        .iter()
        .any(|it| matches!(it.what, Missing::Counterpart | Missing::Article(Origin::Standard, _)));
    if question::asks_standard(&state.question) && !of(Origin::Standard) && !told {
        return Some(Evaluation::lacks(
            "표준계약서의 대응 조항",
            "표준계약서를 아직 보지 않았습니다",
        ));
    }
    let asked: Vec<Named> =
        refer::named(&state.question).into_iter().filter(|it| !it.of_law).collect();
    let known = |Named { origin, number, .. }: &Named| {
        let key = number.key();
        let absent = Missing::Article(*origin, key.clone());
        let read = |it: &Material| it.origin == *origin && it.article.as_ref() == Some(&key);
        state.collected.iter().any(read) || state.absent.iter().any(|it| it.what == absent)
    };
    let read = |title: &String| state.collected.iter().any(|it| it.label.contains(title.as_str()));
    let titles = suggest::titles(&state.question, &expert.book.user.contract);
    if !asked.is_empty() && asked.iter().all(known) && titles.iter().all(read) {
        return Some(Evaluation::enough("물은 조를 모두 확인했습니다"));
    }
    if state.collected.is_empty() {
        return Some(Evaluation::lacks("질문과 맞는 조항", "찾은 것이 없습니다"));
    }
    None
}

/// What the model judges. A reply that is no judgement, twice, is taken for enough: the answer is written from what there is.
async fn ask(
    expert: &Expert,
    state: &ContractState,
    call: &Call,
) -> Result<Evaluation, StructuredError> {
    let data = state.mark.as_ref().and_then(|mark| prompt::found(state, mark));
    let request = prompt::request(PROMPT, state, data).temperature(0.0).max_tokens(LONGEST);
    let structured = Structured::<Evaluation>::new("evaluation").language(Language::Korean);
    match structured.ask(&expert.model, request, call).await {
        Ok(reply) if reply.value.sufficient || !reply.value.missing.is_empty() => Ok(reply.value),
        Ok(reply) => {
            Ok(Evaluation { missing: vec!["질문에 답하는 조항".to_owned()], ..reply.value })
        }
        Err(error @ StructuredError::Model(_)) => Err(error),
        Err(error) => Ok(Evaluation::enough(&error.to_string())),
    }
}
