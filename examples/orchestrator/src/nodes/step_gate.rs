//! A person's word on the call of a step.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_mcp::{OfferedTool, ToolApproval};
use hanok_state::State as _;
use serde_json::json;

use super::{add, pass, preparation};
use crate::{
    asking::cause,
    orchestrator::{Next, Orchestrator, Turn, next},
    state::{GateDecision, OrchestratorState, PreparedCall},
    wording,
};

impl Orchestrator {
    /// The gate: asks the person whether the call is made, unless a rule of theirs lets it pass.
    pub(crate) async fn step_approval(&self, state: Turn, context: Context) -> Next {
        let update = OrchestratorState::update().fault(None);
        let preparation = state.preparation.clone().unwrap_or_default();
        let (Some((number, step)), Some(call)) = (state.step(), &preparation.call) else {
            pass(Gate::Step, "off", &context);
            return next(update.decided(None), "tool_execution");
        };
        let offered = self.offer().remove(&call.tool);
        let passes = || self.passes(call, offered.as_ref(), &context);
        // What stands in for the planned tool is no more than read without a person.
        let stands_in = preparation.stands_in && call.risk != Risk::Read;
        let automatic: Option<String> = match call.missing.is_empty() && !stands_in {
            true => context.step("passes", passes).await.map_err(cause)?,
            false => None,
        };
        let is_operator_s =
            offered.as_ref().is_some_and(|it| it.settings.approval == Some(ToolApproval::Ask));
        // A rule that says "always" is for the tool of this definition.
        let mut shown = json!({
            "step": number, "of": state.steps().len(), "task": step.task,
            "tool": call.tool, "definition": call.definition, "arguments": call.arguments.0,
            "readiness": call.readiness,
        });
        add(&mut shown, "again", preparation.again.as_deref());
        add(&mut shown, "fault", state.fault.as_deref());
        let schema = offered.map_or(true.into(), |tool| tool.spec().schema().clone());
        let question = GateQuestion::new(Gate::Step, wording::ASK_STEP, &shown)?
            .schema(schema)
            .missing(call.missing.iter().cloned())
            .may_stand(!is_operator_s && !stands_in)
            .risk(call.risk);
        let decision = match &automatic {
            Some(reason) => {
                question.pass(reason, &context).await?;
                pass(Gate::Step, reason, &context);
                Decision::Approve
            }
            None => {
                let approve = call.missing.is_empty().then_some(DecisionKind::Approve);
                let allowed = approve.into_iter().chain([DecisionKind::Edit, DecisionKind::Skip]);
                question.allow(allowed).ask(&context).await?
            }
        };
        let decided = GateDecision { gate: Gate::Step, decision, automatic };
        next(update.decided(Some(decided)), "process_step_feedback")
    }

    /// The rule by which the call needs no person, if there is one: the operator's, the person's own, or what was learned.
    async fn passes(
        &self,
        call: &PreparedCall,
        offered: Option<&OfferedTool>,
        context: &Context,
    ) -> Result<Option<String>, BoxError> {
        let Some(offered) = offered.filter(|it| it.hash.as_str() == call.definition) else {
            return Ok(None);
        };
        let key = format!("{}/{}", context.task(), call.tool);
        match offered.settings.approval {
            Some(ToolApproval::Allow) => Ok(Some("operator".to_owned())),
            Some(_) => Ok(None),
            None => self.precedent(&call.tool, offered, &key, context.now()).await,
        }
    }

    /// Does as the person decided about the call, or asks again.
    pub(crate) async fn process_step_feedback(&self, state: Turn, context: Context) -> Next {
        let (Some(decided), Some(mut preparation)) = (&state.decided, state.preparation.clone())
        else {
            return next(OrchestratorState::update().decided(None), "tool_execution");
        };
        let mut to = "tool_execution";
        match (&decided.decision, &mut preparation.call) {
            (Decision::Edit { arguments }, Some(call)) => {
                // The tool may be gone by now, or be another with other fields: the execution says so.
                let offered = self.offer().remove(&call.tool);
                match offered.filter(|it| it.hash.as_str() == call.definition) {
                    Some(tool) => *call = preparation::of(&tool, arguments.0.clone()),
                    None => {
                        call.arguments = arguments.clone();
                        call.missing.clear();
                    }
                }
                if !call.missing.is_empty() {
                    let fault = format!("빠진 칸이 있습니다: {}", call.missing.join(", "));
                    let update = OrchestratorState::update().decided(None).fault(Some(fault));
                    return next(update.preparation(Some(preparation)), "step_approval");
                }
                call.is_approved = true;
            }
            (Decision::Skip { .. }, _) => {
                preparation.skipped = true;
                to = "step_completion";
            }
            (_, call) => call.iter_mut().for_each(|call| call.is_approved = true),
        }
        let update = self.recorded(&state, decided, &context)?;
        next(update.preparation(Some(preparation)), to)
    }
}
