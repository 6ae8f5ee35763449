//! Whether a question is about the contract.

use hanok_core::BoxError;
use hanok_documents::ArticleMention;
use hanok_graph::{Context, Snapshot, StepError};
use hanok_model::DataMark;
use hanok_state::{Message, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, PreviousTurn, prompt, question,
    respond::answered,
};

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
    /// 계약서, 조항, 당사자의 권리와 의무, 기간, 금액, 절차, 책임
    Contract,
    /// 계약서와 관계없는 일반 대화, 인사, 이름, 날씨, 뉴스, 경기 결과, 비트코인이나 주식의 시세, 파이썬 같은 코딩, 계산, 메뉴나 여행 코스의 추천
    Other,
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
) -> Result<ContractStateUpdate, BoxError> {
    let rng = &context.runtime().rng;
    let mark = match state.mark.clone() {
        Some(mark) => mark,
        None => context.step("mark", async || Ok::<_, StepError>(DataMark::new(&**rng))).await?,
    };
    let (in_scope, reason) = match by_rule(&expert, &state) {
        Some(reason) => (true, reason.to_owned()),
        None => {
            let titles: Vec<String> = expert.book.user.labels().collect();
            let data = prompt::listed("이 계약서의 조", &titles, &mark);
            // A question may be about the contract because the one before was.
            let (needs_previous, mark) = (true, Some(mark.clone()));
            let seen = ContractState { needs_previous, mark, ..ContractState::clone(&state) };
            let request = prompt::request(PROMPT, &seen, data).max_tokens(LONGEST);
            match expert.fills::<Choice>(&context, "scope", request).await? {
                Ok(Choice { subject, reason }) => (subject == Subject::Contract, reason),
                // The contract may have an answer.
                Err(unreadable) => (true, unreadable),
            }
        }
    };
    context.custom(&ContractEvent::Scope { in_scope, reason });
    let update = expert.begin(&state).mark(Some(mark)).in_scope(Some(in_scope));
    Ok(match in_scope {
        true => update,
        false => answered(update, &context, REFUSAL, REFUSAL, Vec::new()),
    })
}

/// Why a question is about the contract, as far as rules know.
fn by_rule(expert: &Expert, state: &ContractState) -> Option<&'static str> {
    let question = &state.question;
    let contract = &expert.book.user.contract;
    let goes_on = state.contract.as_deref() == Some(expert.book.user.id())
        && state.messages.len() > 1
        && question::follows(question);
    if !ArticleMention::all(question).is_empty() || !contract.titled_in(question).is_empty() {
        Some("조의 번호나 제목이 있습니다")
    } else if goes_on {
        Some("앞의 대화에 이어집니다")
    } else {
        (question.contains("계약") || question::asks_standard(question))
            .then_some("계약을 묻습니다")
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
            .explored(Default::default())
            .unexplored(self.book.user.labels().collect::<Vec<_>>())
            .sources(Vec::new())
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
}

/// The input of a turn in which the user asks `question`, and what comes `before`.
pub(crate) fn asking(before: ContractStateUpdate, question: &str) -> ContractStateUpdate {
    before
        .message(Message::user(question))
        .question(question)
        .needs_previous(false)
        .answer(None)
        .stopped(None)
}
