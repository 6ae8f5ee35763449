//! The beginning of a turn, and whether it needs tools.

use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_state::State as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    asking::form,
    events::{OrchestratorEvent, Status},
    orchestrator::Orchestrator,
    state::{Complexity, OrchestratorState, OrchestratorStateUpdate},
    wording,
};

/// Whether the request needs tools, as the model says it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RoutingForm {
    /// Which of the two it is.
    complexity: ComplexityForm,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ComplexityForm {
    /// 도구로 무엇을 찾거나, 적거나, 보여 주거나, 바꾸거나, 예약하거나, 지우거나, 만들거나, 계산하는 일
    ToolRequired,
    /// 인사, 잡담, 이 대화에 대한 물음처럼 도구가 없어도 되는 대화
    SimpleChat,
}

impl Orchestrator {
    /// The turn begins.
    pub(crate) async fn start(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        context.custom(&OrchestratorEvent::Start { query: state.query.clone() });
        Ok(OrchestratorState::update().started_at(Some(context.now())))
    }

    /// Judges once whether the request needs tools. Where the model does not say it, it does.
    pub(crate) async fn routing(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let request = |call: &_| self.background.request(wording::ROUTING, &state, [], call);
        let routed = form::<RoutingForm>(&self.model, "routing", request, &context).await?;
        let complexity = match routed.map(|form| form.complexity) {
            Some(ComplexityForm::SimpleChat) => Complexity::SimpleChat,
            _ => Complexity::ToolRequired,
        };
        context.custom(&OrchestratorEvent::Status(Status::Routed { complexity }));
        Ok(OrchestratorState::update().complexity(Some(complexity)))
    }
}
