//! The conversation, as the terminal shows it.

use hanok_agent::PlanMode;
use hanok_core::Stored;
use hanok_graph::Event;
use hanok_state::Messages;
use kit::{Ended, Talk, progress::short};
use serde_json::Value;

use crate::{ContractEvent, ContractState, ContractStateUpdate, Expert};

/// A conversation with the expert.
#[derive(Debug)]
pub struct Talking(Expert);

impl Talking {
    /// A conversation with `expert`.
    #[must_use]
    pub fn new(expert: Expert) -> Self {
        Self(expert)
    }
}

impl Talk for Talking {
    type State = ContractState;

    fn ask(&self, question: &str) -> ContractStateUpdate {
        self.0.ask(question)
    }

    fn ended(&self, state: &ContractState) -> Ended {
        Ended { answer: state.answer.clone(), stopped: state.stopped }
    }

    fn messages<'s>(&self, state: &'s ContractState) -> &'s Messages {
        &state.messages
    }

    fn drawing(&self) -> String {
        self.0.graph().map(|graph| graph.mermaid()).unwrap_or_default()
    }

    fn is_answer(&self, event: &Event) -> bool {
        let writes = |node: &str| ["respond", "scope_validator"].contains(&node);
        event.path.is_root() && event.node.as_deref().is_some_and(writes)
    }

    fn line(&self, item: &Stored) -> Option<String> {
        Some(match item.decode::<ContractEvent>().ok()? {
            ContractEvent::Scope { in_scope: true, .. } => return None,
            ContractEvent::Scope { reason, .. } => format!("[범위 밖] {}", short(&reason)),
            ContractEvent::PreviousContext { needed: false } => return None,
            ContractEvent::PreviousContext { .. } => "[앞의 대화를 봅니다]".to_owned(),
            ContractEvent::Planning { iteration, missing, .. } if missing.is_empty() => {
                format!("[계획 {iteration}]")
            }
            ContractEvent::Planning { iteration, missing, .. } => {
                format!("[계획 {iteration}] 부족한 것: {}", short(&missing.join(", ")))
            }
            ContractEvent::ToolSelected { plan, tools, skipped, .. } => {
                let how = match plan {
                    PlanMode::NoTools => "찾을 것 없음",
                    PlanMode::SkipToEvaluator => "모두 이미 한 호출",
                    PlanMode::ExecuteSequential => "차례로",
                    PlanMode::ExecuteParallel => "한꺼번에",
                };
                let again = match skipped.len() {
                    0 => String::new(),
                    count => format!(" (중복 {count}개 제외)"),
                };
                format!("[도구] {how}: {}{again}", short(&tools.join(", ")))
            }
            ContractEvent::ToolFinished { found, absent, .. } if found.is_empty() => {
                format!("[결과] {}", short(&absent.join(" ")))
            }
            ContractEvent::ToolFinished { found, .. } => {
                format!("[결과] {}", short(&found.join(", ")))
            }
            ContractEvent::EvaluationResult { sufficient, forced, reason, .. } => {
                let verdict = match (sufficient, forced) {
                    (true, _) => "충분",
                    (false, true) => "부족하지만 여기까지",
                    (false, false) => "부족",
                };
                format!("[평가] {verdict}: {}", short(&reason))
            }
            ContractEvent::Generating { materials } => format!("[답변] 자료 {materials}개로"),
            ContractEvent::Sources { .. } => return None,
        })
    }

    fn told(&self, item: &Stored) -> Option<Value> {
        serde_json::to_value(item.decode::<ContractEvent>().ok()?).ok()
    }

    fn command(&self, name: &str, state: &ContractState) -> Option<String> {
        match name {
            "articles" => Some(self.0.book.user.labels().collect::<Vec<_>>().join("\n")),
            "sources" => {
                let sources = state
                    .sources
                    .iter()
                    .map(|it| format!("[{}] {}\n{}", it.origin.name(), it.label, it.text));
                let sources: Vec<_> = sources.collect();
                Some(if sources.is_empty() {
                    "앞의 답에는 근거가 없습니다.".to_owned()
                } else {
                    sources.join("\n\n")
                })
            }
            _ => None,
        }
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[("/articles", "계약서의 조"), ("/sources", "앞의 답의 근거가 된 조항의 글")]
    }
}
