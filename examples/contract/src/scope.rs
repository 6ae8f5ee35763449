//! Whether a question is about the contract.

use hanok_agent::{Language, Structured, StructuredError};
use hanok_core::Call;
use hanok_documents::ArticleMention;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::DataMark;
use hanok_state::{Message, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, PreviousTurn,
    answer::{answered, show},
    compare,
    failure::NodeFailure,
    prompt, question,
};

/// A question of which the contract has so much is about it, whatever a model says.
const COVERED: f32 = 0.12;

/// The most tokens of a choice and its reason.
const LONGEST: u32 = 200;

const PROMPT: &str = "사용자의 질문이 계약서에 관한 것인지 고르세요. 이 계약서에 있는 조의 제목이 자료로 주어집니다. \
    앞의 대화에 이어지는 질문은 앞의 질문이 계약서에 관한 것이면 계약서에 관한 것입니다.";

/// Said to questions about something else.
const REFUSAL: &str = "저는 이 계약서에 관한 질문에만 답할 수 있습니다. 예를 들어 “제5조 내용이 뭐야?”, “해지는 어떻게 해?”, “표준계약서와 뭐가 달라?”처럼 물어봐 주세요.";

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Subject {
    /// 계약서와 관계없는 일반 대화, 인사, 날씨, 뉴스, 코딩, 계산, 추천
    Other,
    /// 계약서, 조항, 당사자의 권리와 의무, 기간, 금액, 절차, 책임
    Contract,
}

/// The model's choice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Choice {
    /// What the question is about.
    subject: Subject,
    /// Why, in a few words.
    reason: String,
}

/// Begins a turn: what is left of the one before goes, and a question about something else is refused.
pub(crate) async fn scope_validator(
    expert: Expert,
    state: Snapshot<ContractState>,
    context: Context,
) -> Result<ContractStateUpdate, NodeFailure> {
    let question = &state.question;
    let goes_on = !state.sources.is_empty() && question::is_short(question);
    if let Some(text) = compare::answer(question, &expert.book).filter(|_| !goes_on) {
        let reason = "계약서 전체에 관한 질문입니다".to_owned();
        context.custom(&ContractEvent::Scope { in_scope: true, reason });
        show(&context, &text);
        let update = expert.begin(&state).in_scope(Some(true));
        return Ok(answered(update, &context, &text, Vec::new()));
    }
    let rng = &context.runtime().rng;
    let mark = match state.mark.clone() {
        Some(mark) => mark,
        None => context.step("mark", async || Ok::<_, StepError>(DataMark::new(&**rng))).await?,
    };
    let (in_scope, reason) = match by_rule(&expert, &state).await? {
        Some(reason) => (true, reason.to_owned()),
        None => {
            let call = context.call("model", "scope_validator", "");
            let asked = || ask(&expert, &state, &mark, &call);
            context.step("scope", asked).await?
        }
    };
    context.custom(&ContractEvent::Scope { in_scope, reason });
    let update = expert.begin(&state).mark(Some(mark)).in_scope(Some(in_scope));
    if in_scope {
        return Ok(update);
    }
    show(&context, REFUSAL);
    Ok(answered(update, &context, REFUSAL, Vec::new()))
}

/// Why a question is about the contract, as far as rules know.
async fn by_rule(
    expert: &Expert,
    state: &ContractState,
) -> Result<Option<&'static str>, NodeFailure> {
    let question = &state.question;
    let earlier = state.messages.len() > 1;
    let earlier = earlier && state.contract.as_deref() == Some(expert.book.user.id());
    Ok(if !ArticleMention::all(question).is_empty() {
        Some("조 번호가 있습니다")
    } else if earlier && question::goes_on(question) {
        Some("앞의 대화에 이어집니다")
    } else if !kit::is_outside(question) && expert.book.coverage(question).await? >= COVERED {
        Some("계약서에 있는 말입니다")
    } else if !kit::is_outside(question) && expert.book.means(question).await? {
        Some("계약서에 뜻이 가까운 말이 있습니다")
    } else {
        None
    })
}

/// What the model chooses. A reply that is no choice, twice, lets the question through: the contract may have an answer.
async fn ask(
    expert: &Expert,
    state: &ContractState,
    mark: &DataMark,
    call: &Call,
) -> Result<(bool, String), StructuredError> {
    let titles: Vec<String> = expert.book.user.labels().collect();
    let data = format!("이 계약서의 조:\n{}", mark.around(&titles.join("\n")));
    // A question may be about the contract because the one before was.
    let seen = ContractState { needs_previous: true, mark: Some(mark.clone()), ..state.clone() };
    let request = prompt::request(PROMPT, &seen, Some(data)).temperature(0.0).max_tokens(LONGEST);
    let structured = Structured::<Choice>::new("scope").language(Language::Korean);
    match structured.ask(&expert.model, request, call).await {
        Ok(reply) => Ok((reply.value.subject == Subject::Contract, reply.value.reason)),
        Err(error @ StructuredError::Model(_)) => Err(error),
        Err(error) => Ok((true, error.to_string())),
    }
}

impl Expert {
    /// The state of a turn that begins.
    fn begin(&self, state: &ContractState) -> ContractStateUpdate {
        let id = self.book.user.id();
        let other = state.contract.as_deref().is_some_and(|before| before != id);
        let (previous, others) = match other {
            true => (Vec::new(), state.messages.len().saturating_sub(1)),
            false => (state.sources.clone(), state.about_others),
        };
        ContractState::update()
            .contract(Some(id.to_owned()))
            .about_others(others)
            .previous_sources(previous)
            .planning(Default::default())
            .collected(Vec::new())
            .absent(Vec::new())
            .explored(Default::default())
            .unexplored(self.book.user.labels().collect::<Vec<_>>())
            .sources(Vec::new())
            .answer(None)
            .stopped(None)
    }

    /// The input of a turn in which the user asks `question` after `previous`, a turn that is not of this thread. It is as if that had
    /// been the last one here.
    pub fn ask_after(&self, previous: PreviousTurn, question: &str) -> ContractStateUpdate {
        let PreviousTurn { question: asked, answer, sources } = previous;
        let before = ContractState::update()
            .message(Message::user(asked))
            .message(Message::assistant(answer))
            .sources(sources)
            .contract(Some(self.book.user.id().to_owned()));
        asking(before, question)
    }

    /// The input of a turn in which the user asks `question`.
    pub fn ask(&self, question: &str) -> ContractStateUpdate {
        asking(ContractState::update(), question)
    }
}

fn asking(before: ContractStateUpdate, question: &str) -> ContractStateUpdate {
    before
        .message(Message::user(question))
        .question(question)
        .needs_previous(false)
        .answer(None)
        .stopped(None)
}
