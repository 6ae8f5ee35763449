//! What is learned of a user: plans, tools, answers, decisions and workflows.

use std::{collections::BTreeMap, time::Duration};

use hanok_agent::{DecisionKind, Gate, Risk};
use hanok_core::{BoxError, Tenant, ThreadKey, Timestamp};
use hanok_graph::Context;
use hanok_learning::{
    Actor, ApprovalPolicy, BehaviourMemory, Candidate, ClarificationEvent, ClarificationMemory,
    ClarificationReport, Evidence, EvidenceSource, GateAction, GateReport, MOST_ITEMS, Memories,
    MemoryKind, OrchestratorMemory, OrchestratorPolicy, PlanEvent, PlanMemory, PlanReport,
    ReusableAnswer, TextJudge, ToolAdvice, ToolMemory, ToolRef, ToolReport, WorkflowMemory,
    WorkflowReport, normalized, teach,
};
use hanok_mcp::OfferedTool;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::state::{GateDecision, OrchestratorState, PastAnswer, PlanStep, StepResult, TurnEnd};

/// The topic under which threads hand out what they teach.
pub const TOPIC: &str = "memory";

/// The category of all work: a program with more of them has a model choose one from its list.
const CATEGORY: &str = "업무";

/// The likeness from which on an answer of before is shown.
const ALIKE: f64 = 0.75;

/// The confidence above which a plan of before makes a better one.
const SURE: f64 = 0.7;

/// The tools at one moment, by their names for models.
pub type Offer = BTreeMap<String, OfferedTool>;

/// The memories of one user, or of nobody.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The user.
    pub user: Option<String>,
    /// The memories of all users.
    pub all: Memories,
    read: OrchestratorMemory,
}

/// A plan of before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PastPlan {
    /// Its steps.
    pub steps: Vec<String>,
    /// True when it was made for this very request.
    pub is_same: bool,
}

/// A tool, as the memories name it.
pub(crate) fn of_tool(offered: &OfferedTool) -> ToolRef {
    ToolRef::of_server(offered.id().server(), offered.id().tool())
}

/// The tool of this name, as the memories name it. The name alone does not say its server: one that is not offered is of none.
pub(crate) fn of_name(offer: &Offer, name: &str) -> ToolRef {
    offer.get(name).map_or_else(|| ToolRef::own(name), of_tool)
}

/// The names of those of `offer` that fail too often for what `advice` is about, but for what the operator pins.
#[must_use]
pub fn avoided(advice: &ToolAdvice, offer: &Offer) -> Vec<String> {
    let is_avoided = |offered: &OfferedTool| {
        let standing = advice.tool(&of_tool(offered)).filter(|_| !offered.settings.pinned);
        standing.is_some_and(|standing| standing.avoidance.is_some())
    };
    offer.iter().filter(|(_, it)| is_avoided(it)).map(|(name, _)| name.clone()).collect()
}

impl Memory {
    /// The memories of `user` in `all`. Whether gates may be passed by what was learned, says `learned`.
    #[must_use]
    pub fn new(all: Memories, user: Option<&str>, learned: bool) -> Self {
        let policy = OrchestratorPolicy {
            approval: ApprovalPolicy { enabled: learned, ..ApprovalPolicy::default() },
            ..OrchestratorPolicy::default()
        };
        let read = OrchestratorMemory::new(all.clone(), Tenant::default(), user).policy(policy);
        Self { user: user.map(str::to_owned), all, read }
    }

    /// Reads once for all of the task's runs; nothing where there is no user.
    async fn recall<T, F>(&self, context: &Context, read: impl FnOnce() -> F) -> Result<T, BoxError>
    where
        T: Default + Serialize + DeserializeOwned + Send,
        F: Future<Output = Result<T, BoxError>> + Send,
    {
        if self.user.is_none() {
            return Ok(T::default());
        }
        Ok(context.step("recall", read).await?)
    }

    /// The answers that made requests like `query` clear, and the one that may be used without asking.
    pub(crate) async fn clarity(
        &self,
        query: &str,
        context: &Context,
    ) -> Result<(Vec<PastAnswer>, Option<PastAnswer>), BoxError> {
        let past = |(id, it): (usize, &Candidate<ReusableAnswer>)| PastAnswer {
            id: id.to_string(),
            query: it.text.clone(),
            answer: it.value.answer.clone(),
            confirmed: it.value.reused.successes,
            refused: it.value.reused.failures,
        };
        let recall = || async {
            let advice = self.read.clarification(query, context.now()).await?;
            let automatic = advice.automatic().map(|it| past((1, it)));
            let alike = advice.answers.iter().filter(|it| it.score.similarity.value() >= ALIKE);
            Ok(((1..).zip(alike).map(past).collect(), automatic))
        };
        self.recall(context, recall).await
    }

    /// The plans of requests that ask for the same as `query`, as `judge` says it, that people accepted and that did well: the best
    /// first.
    pub(crate) async fn plans(
        &self,
        query: &str,
        judge: &impl TextJudge,
        context: &Context,
    ) -> Result<Vec<PastPlan>, BoxError> {
        let call = context.call("judge", "plans", query);
        let recall = || async {
            let plans = self.read.plans(query, context.now()).await?.judged(judge, &call).await?;
            let sure = plans.qualified().filter(|it| it.score.confidence.unwrap_or(0.0) > SURE);
            let past = sure.filter_map(|it| {
                let is_same = normalized(&it.text) == normalized(query);
                Some(PastPlan { steps: it.value.steps.clone()?.value, is_same })
            });
            Ok(past.collect())
        };
        self.recall(context, recall).await
    }

    /// What is known of tools for tasks like `task`.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn tools(&self, task: &str, context: &Context) -> Result<ToolAdvice, BoxError> {
        let recall = || async { Ok(self.read.tools(task, context.now()).await?) };
        self.recall(context, recall).await
    }

    /// Whether the gate is passed as this user has always decided there, and why. Only where that was switched on.
    pub(crate) async fn passes(
        &self,
        kind: &str,
        risk: Risk,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<String>, BoxError> {
        let verdict = self.read.gate(&Gate::Step, kind, None, risk, key, now).await?;
        let reasons: Vec<_> = verdict.reasons().iter().map(ToString::to_string).collect();
        let reason = || format!("learned: {} ({})", verdict.key(), reasons.join("; "));
        Ok(verdict.passes().then(reason))
    }

    /// Hands out what a decision at a gate teaches.
    pub(crate) fn decided(
        &self,
        state: &OrchestratorState,
        decision: &GateDecision,
        context: &Context,
    ) -> Result<(), BoxError> {
        let action = match decision.decision.kind() {
            DecisionKind::Approve | DecisionKind::Reuse => GateAction::Approved,
            DecisionKind::Edit | DecisionKind::Respond => GateAction::Edited,
            DecisionKind::Revise => GateAction::Revised,
            DecisionKind::Skip => GateAction::Skipped,
            _ => GateAction::Rejected,
        };
        let prepared = state.preparation.as_ref().and_then(|preparation| preparation.call.as_ref());
        let call = prepared.filter(|_| decision.gate == Gate::Step);
        let kind = call.map_or_else(|| decision.gate.to_string(), |call| call.tool.clone());
        let report = GateReport::new(decision.gate.clone(), kind, action);
        let actor = if decision.automatic.is_some() { Actor::Automatic } else { Actor::User };
        let server = call.and_then(|call| call.of.server.as_deref());
        self.teach::<BehaviourMemory>(state, "decision", actor, report, server, context)
    }

    /// Hands out what became of an answer that made the request clear.
    pub(crate) fn clarified(
        &self,
        state: &OrchestratorState,
        answer: &str,
        event: ClarificationEvent,
        context: &Context,
    ) -> Result<(), BoxError> {
        let is_applied = event == ClarificationEvent::Applied;
        let actor = if is_applied { Actor::Automatic } else { Actor::User };
        let report = ClarificationReport::new(&state.query, answer, event);
        self.teach::<ClarificationMemory>(state, "clarification", actor, report, None, context)
    }

    /// Hands out what a decision about the plan teaches. The servers of its tools are those of `offer`.
    pub(crate) fn planned(
        &self,
        state: &OrchestratorState,
        steps: &[PlanStep],
        event: PlanEvent,
        actor: Actor,
        offer: &Offer,
        context: &Context,
    ) -> Result<(), BoxError> {
        let report = PlanReport::new(&state.query, steps.iter().map(|step| &*step.task), event);
        // One that is gone by now is the one that was called.
        let of = |tool: &str| {
            let mut calls = state.results.iter().flat_map(|step| &step.calls);
            let called = calls.find(|call| call.tool == tool);
            called.map_or_else(|| of_name(offer, tool), |call| call.of.clone())
        };
        let tools = steps.iter().filter_map(|step| step.tool.as_deref());
        let report = tools.fold(report, |report, tool| report.tool(of(tool)));
        self.teach::<PlanMemory>(state, "plan", actor, report, None, context)
    }

    /// Hands out what a step teaches of its tools, and of the calls that a person rejected: it counts as at the gate of a step, since
    /// what is learned there lets an agent's own calls pass. Other calls that were not made teach nothing.
    pub(crate) fn step_over(
        &self,
        state: &OrchestratorState,
        step: &StepResult,
        context: &Context,
    ) -> Result<(), BoxError> {
        for (at, call) in step.calls.iter().filter(|call| !call.unmade).enumerate() {
            let took = Duration::from_millis(call.millis);
            let report = ToolReport::new(&*step.task, call.of.clone(), call.succeeded, took);
            let report = match call.has_secrets {
                true => report,
                false => report.arguments(&call.arguments.0),
            };
            let (name, actor) = (format!("tool-{at}"), Actor::Automatic);
            self.teach::<ToolMemory>(state, &name, actor, report, None, context)?;
        }
        for (at, call) in step.calls.iter().enumerate().filter(|(_, call)| call.is_rejected) {
            // The same call is refused again without a person.
            let mut before = step.calls.iter().take(at).filter(|before| before.is_rejected);
            if before.any(|it| it.tool == call.tool && it.arguments == call.arguments) {
                continue;
            }
            let report = GateReport::new(Gate::Step, &*call.tool, GateAction::Rejected);
            let (name, server) = (format!("rejected-{at}"), call.of.server.as_deref());
            self.teach::<BehaviourMemory>(state, &name, Actor::User, report, server, context)?;
        }
        Ok(())
    }

    /// Hands out what the whole turn teaches: how its plan went, and its workflow.
    pub(crate) fn turn_over(
        &self,
        state: &OrchestratorState,
        end: TurnEnd,
        offer: &Offer,
        context: &Context,
    ) -> Result<(), BoxError> {
        let Some(outcome) = end.outcome() else { return Ok(()) };
        let (event, actor) = (PlanEvent::Ended(outcome), Actor::Automatic);
        self.planned(state, state.steps(), event, actor, offer, context)?;
        let report = WorkflowReport::new(CATEGORY, &state.query, outcome);
        let report = state.results.iter().fold(report, |report, step| report.step(&*step.task));
        let calls = state.results.iter().flat_map(|step| &step.calls).filter(|call| !call.unmade);
        let report =
            calls.take(MOST_ITEMS).fold(report, |report, call| report.tool(call.of.clone()));
        self.teach::<WorkflowMemory>(state, "workflow", actor, report, None, context)
    }

    /// Takes back an answer that was used without asking in `thread`.
    pub(crate) async fn refute(
        &self,
        thread: &ThreadKey,
        query: &str,
        answer: &str,
        now: Timestamp,
    ) -> Result<(), BoxError> {
        let Some(user) = self.user.clone() else { return Ok(()) };
        let body = ClarificationReport::new(query, answer, ClarificationEvent::Refuted);
        let (id, source) = (format!("refuted {}", now.0), EvidenceSource::default());
        let evidence = Evidence { id, user, at: now, actor: Actor::User, source, body };
        self.all.count_at_once::<ClarificationMemory>(thread, &evidence, now).await?;
        Ok(())
    }

    /// Hands out evidence, which rests on what `server` is, where it is of one and its kind does not say so itself.
    fn teach<K: MemoryKind>(
        &self,
        state: &OrchestratorState,
        name: &str,
        actor: Actor,
        body: K::Body,
        server: Option<&str>,
        context: &Context,
    ) -> Result<(), BoxError> {
        let Some(user) = &self.user else { return Ok(()) };
        let message = state.question().and_then(|message| message.id()).unwrap_or_default();
        let evidence = Evidence::new(context, name, user, actor, message, body);
        let evidence = server.into_iter().fold(evidence, Evidence::of_server);
        match teach::<K, ()>(context, TOPIC, &evidence) {
            // What cannot be learned, as a text of a size that no memory takes, ends no turn: its work is done.
            Err(error) if error.is_of_the_evidence() => Ok(()),
            learned => Ok(learned?),
        }
    }
}
