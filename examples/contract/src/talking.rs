//! The conversation, as the terminal shows it.

use hanok_agent::PlanMode;
use hanok_core::Stored;
use hanok_graph::{Event, Thread};
use hanok_state::{Messages, State};
use kit::{Ended, Talk, failure::Failure, progress::short};
use serde_json::Value;

use crate::{ContractEvent, ContractState, ContractStateUpdate, Expert, Material, scope::asking};

impl Talk for Expert {
    type State = ContractState;

    fn ask(&self, question: &str) -> ContractStateUpdate {
        asking(ContractState::update(), question)
    }

    fn ended(&self, state: &ContractState) -> Ended {
        Ended { answer: state.answer.clone(), stopped: state.stopped }
    }

    fn messages<'s>(&self, state: &'s ContractState) -> &'s Messages {
        &state.messages
    }

    fn drawing(&self) -> String {
        self.graph().map(|graph| graph.mermaid()).unwrap_or_default()
    }

    fn is_answer(&self, event: &Event) -> bool {
        let writes = |node: &str| ["respond", "scope_validator"].contains(&node);
        event.path.is_root() && event.node.as_deref().is_some_and(writes)
    }

    fn line(&self, item: &Stored) -> Option<String> {
        use ContractEvent as Told;
        Some(match item.decode::<Told>().ok()? {
            Told::Scope { in_scope: false, reason } => format!("[범위 밖] {}", short(&reason)),
            Told::PreviousContext { needed: true } => "[앞의 대화를 봅니다]".to_owned(),
            Told::Planning { iteration, missing, .. } if missing.is_empty() => {
                format!("[계획 {iteration}]")
            }
            Told::Planning { iteration, missing, .. } => {
                format!("[계획 {iteration}] 부족한 것: {}", short(&missing.join(", ")))
            }
            Told::ToolSelected { plan, tools, skipped, .. } => {
                let how = match plan {
                    PlanMode::NoTools => "찾을 것 없음",
                    PlanMode::SkipToEvaluator => "모두 이미 한 호출",
                    PlanMode::ExecuteSequential => "차례로",
                    PlanMode::ExecuteParallel => "한꺼번에",
                };
                let (tools, skipped) = (short(&tools.join(", ")), skipped.len());
                format!("[도구] {how}: {tools} (중복 제외 {skipped})")
            }
            Told::ToolFinished { found, absent, fault, .. } => {
                let said = [found, absent, Vec::from_iter(fault)].concat();
                format!("[결과] {}", short(&said.join(", ")))
            }
            Told::EvaluationResult { sufficient, forced, reason, .. } => {
                let verdict = match (sufficient, forced) {
                    (true, _) => "충분",
                    (false, true) => "부족하지만 여기까지",
                    (false, false) => "부족",
                };
                format!("[평가] {verdict}: {}", short(&reason))
            }
            Told::Generating { materials } => format!("[답변] 자료 {materials}개로"),
            Told::Scope { .. } | Told::PreviousContext { .. } | Told::Sources { .. } => {
                return None;
            }
        })
    }

    fn told(&self, item: &Stored) -> Option<Value> {
        serde_json::to_value(item.decode::<ContractEvent>().ok()?).ok()
    }

    async fn act(
        &self,
        name: &str,
        rest: &str,
        thread: &Thread<ContractState>,
    ) -> Result<Option<String>, Failure> {
        let shown = |it: &Material| format!("[{}] {}\n{}", it.origin.name(), it.label, it.text);
        let texts: Vec<String> = match (name, rest) {
            ("articles", "") => {
                return Ok(Some(self.book.user.labels().collect::<Vec<_>>().join("\n")));
            }
            ("sources", "") => {
                let state = thread.state(None).await?.unwrap_or_default();
                state.sources.iter().map(shown).collect()
            }
            _ => return Ok(None),
        };
        let none = "앞의 답에는 근거가 없습니다.".to_owned();
        Ok(Some(if texts.is_empty() { none } else { texts.join("\n\n") }))
    }

    fn commands(&self) -> &'static [(&'static str, &'static str)] {
        &[("/articles", "계약서의 조"), ("/sources", "앞의 답의 근거가 된 조항의 글")]
    }
}
