//! A person's word on the call of a step.

use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion, Risk};
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_mcp::ToolApproval;
use hanok_state::State as _;
use serde::Serialize;

use super::{preparation, recorded};
use crate::{
    asking::cause,
    orchestrator::Orchestrator,
    state::{GateDecision, OrchestratorState, OrchestratorStateUpdate, Preparation, PreparedCall},
    wording,
};

/// What a person sees at the gate.
#[derive(Debug, Serialize)]
struct StepShown<'a> {
    step: usize,
    of: usize,
    task: &'a str,
    tool: &'a str,
    /// The hash of the tool's definition: a rule that says "always" is for this one.
    definition: &'a str,
    arguments: &'a serde_json::Value,
    readiness: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    again: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'a str>,
}

impl Orchestrator {
    /// The gate: asks the person whether the call is made, unless a rule of theirs lets it pass.
    pub(crate) async fn step_approval(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update().fault(None);
        let preparation = state.preparation.clone().unwrap_or_default();
        let (Some((number, step)), Some(call)) = (state.step(), &preparation.call) else {
            self.pass(Gate::Step, "off", &context);
            return Ok(update.decided(None));
        };
        let passes = || self.passes(call, &context);
        // What stands in for the planned tool is no more than read without a person.
        let stands_in = preparation.replaced.is_some() && call.risk != Risk::Read;
        let automatic: Option<String> = match call.missing.is_empty() && !stands_in {
            true => context.step("passes", passes).await.map_err(cause)?,
            false => None,
        };
        let offer = self.servers.offer();
        let offered = offer.get(&call.tool);
        let schema = offered.map(|tool| tool.spec().schema().clone());
        let is_operator_s = offered.and_then(|tool| tool.approval) == Some(ToolApproval::Ask);
        let shown = StepShown {
            step: number,
            of: state.plan.as_ref().map_or(0, |plan| plan.steps.len()),
            task: &step.task,
            tool: &call.tool,
            definition: &call.definition,
            arguments: &call.arguments.0,
            readiness: call.readiness,
            again: preparation.again.as_deref(),
            fault: state.fault.as_deref(),
        };
        let question = GateQuestion::new(Gate::Step, wording::ASK_STEP, &shown)?
            .schema(schema.unwrap_or(true.into()))
            .missing(call.missing.iter().cloned())
            .may_stand(!is_operator_s && !stands_in)
            .risk(call.risk);
        if let Some(reason) = automatic {
            question.pass(&*reason, &context).await?;
            self.pass(Gate::Step, &reason, &context);
            let decision = Decision::Approve;
            let decided = GateDecision { gate: Gate::Step, decision, automatic: Some(reason) };
            return Ok(update.decided(Some(decided)));
        }
        let approve = call.missing.is_empty().then_some(DecisionKind::Approve);
        let allowed = approve.into_iter().chain([DecisionKind::Edit, DecisionKind::Skip]);
        let decision = question.allow(allowed).ask(&context).await?;
        let decided = GateDecision { gate: Gate::Step, decision, automatic: None };
        Ok(update.decided(Some(decided)))
    }

    /// The rule by which the call needs no person, if there is one: the operator's, the person's own, or what was learned.
    async fn passes(
        &self,
        call: &PreparedCall,
        context: &Context,
    ) -> Result<Option<String>, BoxError> {
        let offer = self.servers.offer();
        match offer.get(&call.tool).and_then(|tool| tool.approval) {
            Some(ToolApproval::Allow) => return Ok(Some("operator".to_owned())),
            Some(_) => return Ok(None),
            None => {}
        }
        let now = context.now();
        if let Some(standing) = self.standing(&call.tool, &call.definition, now).await? {
            return Ok(Some(standing));
        }
        let key = format!("{}/{}", context.task(), call.tool);
        self.memory.passes(&call.tool, call.risk, &key, now).await
    }

    /// Does as the person decided about the call, or asks again.
    pub(crate) async fn process_step_feedback(
        &self,
        state: Snapshot<OrchestratorState>,
        context: Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let update = OrchestratorState::update().decided(None);
        let (Some(decided), Some(before)) = (&state.decided, &state.preparation) else {
            return Ok(update);
        };
        let mut preparation = before.clone();
        match (&decided.decision, &mut preparation) {
            (Decision::Edit { arguments }, Preparation { call: Some(call), .. }) => {
                let offer = self.servers.offer();
                // The tool may be gone by now, or be another with other fields: the execution says so.
                if let Some(tool) =
                    offer.get(&call.tool).filter(|it| it.definition == call.definition)
                {
                    *call = preparation::of(tool, arguments.0.clone());
                } else {
                    call.arguments = arguments.clone();
                    call.missing.clear();
                }
                if !call.missing.is_empty() {
                    let fault = format!("빠진 칸이 있습니다: {}", call.missing.join(", "));
                    return Ok(update.fault(Some(fault)).preparation(Some(preparation)));
                }
                call.is_approved = true;
            }
            (Decision::Skip { .. }, preparation) => preparation.skipped = true,
            (_, Preparation { call: Some(call), .. }) => call.is_approved = true,
            _ => {}
        }
        self.memory.decided(&state, decided, &context)?;
        let decisions = recorded(&state, decided, &context);
        Ok(update.preparation(Some(preparation)).decisions(decisions))
    }
}
