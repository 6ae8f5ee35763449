//! What is learned of a user: plans, tools, answers, decisions and workflows.

use std::{collections::BTreeMap, time::Duration};

use hanok_agent::{Decision, Gate, Risk, ToolExperience};
use hanok_checkpoint::SharedCheckpointer;
use hanok_core::{BoxError, Tenant, ThreadKey, Timestamp};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_learning::{
    Actor, ApprovalPolicy, BehaviourMemory, ClarificationEvent, ClarificationMemory,
    ClarificationReport, Clarity, EqualTexts, Evidence, GateAction, GateReport, LONGEST_TEXT,
    MOST_ITEMS, Memories, OrchestratorMemory, OrchestratorPolicy, PlanEvent, PlanMemory,
    PlanReport, TextJudge, TextRelation, ToolAdvice, ToolMemory, ToolRef, ToolReport,
    WorkflowMemory, WorkflowReport, teach,
};
use hanok_state::State as _;
use serde::{Deserialize, Serialize};

use crate::{
    servers::{Offer, now},
    state::{
        ClarityAnalysis, GateDecision, OrchestratorState, PastAnswer, PlanStep, StepResult,
        ToolUse, TurnEnd,
    },
};

/// The topic under which threads hand out what they teach.
pub const TOPIC: &str = "memory";

/// The category of all work: a program with more of them has a model choose one from its list.
const CATEGORY: &str = "work";

/// The memories of one user, or of nobody.
#[derive(Debug, Clone)]
pub struct Memory {
    user: Option<String>,
    read: OrchestratorMemory,
}

/// What a step's task recalls of tools.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ToolsRecalled {
    advice: ToolAdvice,
}

/// A plan of before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PastPlan {
    /// The record.
    pub key: String,
    /// Its steps.
    pub steps: Vec<String>,
    /// True when it was made for this very request.
    pub is_same: bool,
    /// The confidence in it, adjusted to how often it was carried out.
    pub confidence: f64,
}

/// The confidence above which a plan of before makes a better one.
const SURE: f64 = 0.7;

impl Memory {
    /// The memories of `user` in `memories`. Whether gates may be passed by what was learned, says `learned`.
    #[must_use]
    pub fn new(memories: Memories, user: Option<&str>, learned: bool) -> Self {
        let policy = OrchestratorPolicy {
            approval: ApprovalPolicy { enabled: learned, ..ApprovalPolicy::default() },
            ..OrchestratorPolicy::default()
        };
        let read = OrchestratorMemory::new(memories, Tenant::default(), user).policy(policy);
        Self { user: user.map(str::to_owned), read }
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The answers that made requests like `query` clear, and the one that may be used without asking.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn clarity(
        &self,
        query: &str,
        context: &Context,
    ) -> Result<(Vec<PastAnswer>, Option<PastAnswer>), BoxError> {
        if self.user.is_none() {
            return Ok((Vec::new(), None));
        }
        let call = context.call("judge", "clarification", query);
        let recall = || async {
            let advice = self.read.clarification(query, context.now()).await?;
            let advice = advice.judged(&EqualTexts, &call).await?;
            let past = |(at, candidate): (
                usize,
                &hanok_learning::Candidate<hanok_learning::ReusableAnswer>,
            )| {
                PastAnswer {
                    id: (at + 1).to_string(),
                    query: candidate.text.clone(),
                    answer: candidate.value.answer.clone(),
                    confirmed: candidate.value.reused.successes,
                    refused: candidate.value.reused.failures,
                }
            };
            let automatic = advice.automatic().map(|candidate| past((0, candidate)));
            let alike = advice
                .answers
                .iter()
                .filter(|candidate| candidate.score.similarity.value() >= 0.75);
            let all: Vec<_> = alike.enumerate().map(past).collect();
            Ok::<_, BoxError>((all, automatic))
        };
        Ok(context.step("recall", recall).await?)
    }

    /// The plans of requests that ask for the same as `query`, as `judge` says it, that people accepted and that did well: the best
    /// first.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn plans(
        &self,
        query: &str,
        judge: &impl TextJudge,
        context: &Context,
    ) -> Result<Vec<PastPlan>, BoxError> {
        if self.user.is_none() {
            return Ok(Vec::new());
        }
        let call = context.call("judge", "plans", query);
        let recall = || async {
            let plans = self.read.plans(query, context.now()).await?.judged(judge, &call).await?;
            let mut past = Vec::new();
            for candidate in plans.qualified() {
                let Some(steps) = &candidate.value.steps else { continue };
                let confidence = candidate.score.confidence.unwrap_or(0.0);
                if confidence > SURE {
                    let relation = EqualTexts.judge(query, &candidate.text, &call).await?;
                    let (key, steps) = (candidate.key.clone(), steps.value.clone());
                    let is_same = relation == TextRelation::Same;
                    past.push(PastPlan { key, steps, is_same, confidence });
                }
            }
            Ok::<_, BoxError>(past)
        };
        Ok(context.step("recall", recall).await?)
    }

    /// What is known of tools for tasks like `task`.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn tools(&self, task: &str, context: &Context) -> Result<ToolsRecalled, BoxError> {
        if self.user.is_none() {
            return Ok(ToolsRecalled::default());
        }
        let recall = || async {
            let advice = self.read.tools(task, context.now()).await?;
            Ok::<_, BoxError>(ToolsRecalled { advice })
        };
        Ok(context.step("recall", recall).await?)
    }

    /// Whether the gate is passed as this user has always decided there, and why. Only where that was switched on.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn passes(
        &self,
        kind: &str,
        risk: Risk,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<String>, BoxError> {
        let verdict = self.read.gate(&Gate::Step, kind, None, risk, key, now).await?;
        let reasons = verdict.reasons().iter().map(ToString::to_string).collect::<Vec<_>>();
        let reasons = reasons.join("; ");
        Ok(verdict.passes().then(|| format!("learned: {} ({reasons})", verdict.key())))
    }

    /// Hands out what a decision at a gate teaches.
    ///
    /// # Errors
    ///
    /// What the outbox says.
    pub fn decided(
        &self,
        state: &OrchestratorState,
        decision: &GateDecision,
        context: &Context,
    ) -> Result<(), BoxError> {
        let action = match decision.decision {
            Decision::Approve | Decision::Reuse { .. } => GateAction::Approved,
            Decision::Edit { .. } | Decision::Respond { .. } => GateAction::Edited,
            Decision::Revise { .. } => GateAction::Revised,
            Decision::Skip { .. } => GateAction::Skipped,
            _ => GateAction::Rejected,
        };
        let prepared = state.preparation.as_ref().and_then(|preparation| preparation.call.as_ref());
        let call = prepared.filter(|_| decision.gate == Gate::Step);
        let kind = call.map_or_else(|| decision.gate.to_string(), |call| call.tool.clone());
        let report = GateReport::new(decision.gate.clone(), kind, action);
        let actor = if decision.automatic.is_some() { Actor::Automatic } else { Actor::User };
        let server = call.and_then(|call| call.of.clone()).and_then(|tool| tool.server);
        self.teach_of::<BehaviourMemory>(state, ("decision", actor), report, server, context)
    }

    /// Hands out what became of an answer that made the request clear.
    ///
    /// # Errors
    ///
    /// What the outbox says.
    pub fn clarified(
        &self,
        state: &OrchestratorState,
        answer: &str,
        event: ClarificationEvent,
        context: &Context,
    ) -> Result<(), BoxError> {
        let actor = match event {
            ClarificationEvent::Applied => Actor::Automatic,
            _ => Actor::User,
        };
        let before = state.clarity.as_ref().and_then(|clarity| clarity.before.as_deref());
        let report = ClarificationReport::new(before.unwrap_or(&state.query), answer, event);
        self.teach::<ClarificationMemory>(state, "clarification", actor, report, context)
    }

    /// Hands out what a decision about the plan teaches. The servers of its tools are those of `offer`.
    ///
    /// # Errors
    ///
    /// What the outbox says.
    pub fn planned(
        &self,
        state: &OrchestratorState,
        steps: &[PlanStep],
        event: PlanEvent,
        actor: Actor,
        offer: &Offer,
        context: &Context,
    ) -> Result<(), BoxError> {
        let event = match event {
            PlanEvent::Revised { feedback } => {
                PlanEvent::Revised { feedback: cut(&feedback).to_owned() }
            }
            PlanEvent::Rejected { reason } => {
                PlanEvent::Rejected { reason: cut(&reason).to_owned() }
            }
            event => event,
        };
        let tasks = steps.iter().map(|step| &*step.task);
        let report = PlanReport::new(cut(&state.query), tasks, event);
        let tools = steps.iter().filter_map(|step| step.tool.as_deref());
        // One that is gone by now is the one that was called.
        let calls = || state.results.iter().flat_map(|step| &step.calls);
        let of = |tool: &str| match calls().find(|call| call.tool == tool) {
            Some(call) => call.of.clone(),
            None => offer.of(tool),
        };
        let report = tools.fold(report, |report, tool| report.tool(of(tool)));
        self.teach::<PlanMemory>(state, "plan", actor, report, context)
    }

    /// Hands out what a step teaches of its tools, and of the calls that a person rejected: it counts as at the gate of a step, since
    /// what is learned there lets an agent's own calls pass. Other calls that were not made teach nothing.
    ///
    /// # Errors
    ///
    /// What the outbox says.
    pub fn step_over(
        &self,
        state: &OrchestratorState,
        step: &StepResult,
        context: &Context,
    ) -> Result<(), BoxError> {
        let made = step.calls.iter().filter(|call| !call.unmade).enumerate();
        for (at, call) in made {
            let took = Duration::from_millis(call.millis);
            let report = ToolReport::new(&*step.task, call.of.clone(), call.succeeded, took);
            // Without them the use counts all the same.
            let is_short = |report: &ToolReport| {
                report.arguments.as_ref().is_some_and(|arguments| arguments.len() <= LONGEST_TEXT)
            };
            let whole = report.clone().arguments(&call.arguments.0).ok();
            let whole = whole.filter(is_short).filter(|_| !call.has_secrets);
            let report = whole.unwrap_or(report);
            self.teach::<ToolMemory>(
                state,
                &format!("tool-{at}"),
                Actor::Automatic,
                report,
                context,
            )?;
        }
        let mut rejected: Vec<&ToolUse> = Vec::new();
        for call in step.calls.iter().filter(|call| call.is_rejected) {
            // The same call is refused again without a person.
            let is_same = |it: &&ToolUse| it.tool == call.tool && it.arguments == call.arguments;
            if !rejected.iter().any(is_same) {
                rejected.push(call);
            }
        }
        for (at, call) in rejected.into_iter().enumerate() {
            let name = format!("rejected-{at}");
            let report = GateReport::new(Gate::Step, &*call.tool, GateAction::Rejected);
            let server = call.of.server.clone();
            self.teach_of::<BehaviourMemory>(state, (&name, Actor::User), report, server, context)?;
        }
        Ok(())
    }

    /// Hands out what the whole turn teaches: how its plan went, and its workflow.
    ///
    /// # Errors
    ///
    /// What the outbox says.
    pub fn turn_over(
        &self,
        state: &OrchestratorState,
        end: TurnEnd,
        offer: &Offer,
        context: &Context,
    ) -> Result<(), BoxError> {
        let (Some(plan), Some(outcome)) = (&state.plan, end.outcome()) else { return Ok(()) };
        let (event, actor) = (PlanEvent::Ended(outcome), Actor::Automatic);
        self.planned(state, &plan.steps, event, actor, offer, context)?;
        let report = WorkflowReport::new(CATEGORY, cut(&state.query), outcome);
        let report = state.results.iter().fold(report, |report, step| report.step(&*step.task));
        let calls = state.results.iter().flat_map(|step| &step.calls).filter(|call| !call.unmade);
        let report =
            calls.take(MOST_ITEMS).fold(report, |report, call| report.tool(call.of.clone()));
        self.teach::<WorkflowMemory>(state, "workflow", Actor::Automatic, report, context)
    }

    /// Takes back an answer that was used without asking: it is handed out on a thread of its own, for the learner.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn refute(
        &self,
        threads: &SharedCheckpointer,
        query: &str,
        answer: &str,
    ) -> Result<(), BoxError> {
        let Some(user) = self.user.clone() else { return Ok(()) };
        let report = ClarificationReport::new(query, answer, ClarificationEvent::Refuted);
        let node = move |_: Snapshot<OrchestratorState>, context: Context| {
            let (user, report) = (user.clone(), report.clone());
            async move {
                let evidence = Evidence::new(&context, "refuted", &user, Actor::User, "", report);
                teach::<ClarificationMemory, ()>(&context, TOPIC, &evidence)?;
                Ok::<_, BoxError>(OrchestratorState::update())
            }
        };
        let graph = Graph::<OrchestratorState>::builder("refute").node("refute", node);
        let graph = graph.edge(START, "refute").edge("refute", END).build()?;
        let key = ThreadKey::named(&format!("refuted {}", now().0))?;
        graph
            .checkpointer(threads.clone())
            .thread(key)
            .invoke(OrchestratorState::update(), ())
            .await?;
        Ok(())
    }

    fn teach<K: hanok_learning::MemoryKind>(
        &self,
        state: &OrchestratorState,
        name: &str,
        actor: Actor,
        body: K::Body,
        context: &Context,
    ) -> Result<(), BoxError> {
        self.teach_of::<K>(state, (name, actor), body, None, context)
    }

    /// Hands out evidence that rests on what `server` is, where it is of one and its kind does not say so itself.
    fn teach_of<K: hanok_learning::MemoryKind>(
        &self,
        state: &OrchestratorState,
        (name, actor): (&str, Actor),
        body: K::Body,
        server: Option<String>,
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

impl ToolsRecalled {
    /// The names of those of `offer` that fail too often for this, but for what the operator pins.
    #[must_use]
    pub fn avoided(&self, offer: &Offer) -> Vec<String> {
        let avoided = |offered: &crate::servers::Offered| {
            let standing = self.advice.tool(&offered.of()).filter(|_| !offered.pinned);
            standing.is_some_and(|standing| standing.avoidance.is_some())
        };
        offer.iter().filter(|(_, it)| avoided(it)).map(|(name, _)| name.clone()).collect()
    }

    /// The experience with those of `offer`, by name.
    #[must_use]
    pub fn experience(&self, offer: &Offer) -> BTreeMap<String, ToolExperience> {
        let of = |(name, offered): (&String, &crate::servers::Offered)| {
            let standing = self.advice.tool(&offered.of())?;
            let uses = standing.score.uses;
            let successes = (standing.score.success? * uses as f64).round() as u64;
            let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
            let experience = ToolExperience {
                successes: count(successes),
                failures: count(uses.saturating_sub(successes)),
            };
            Some((name.clone(), experience))
        };
        offer.iter().filter_map(of).collect()
    }

    /// Arguments of the newest successes with a tool, as JSON.
    #[must_use]
    pub fn arguments(&self, tool: &ToolRef) -> &[String] {
        self.advice.tool(tool).map(|standing| standing.arguments.as_slice()).unwrap_or_default()
    }
}

/// The beginning of a text, of a size that memories take.
fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or_default()
}

/// The clarity of before and after, as an event of the memory.
#[must_use]
pub fn answered(before: &ClarityAnalysis, after: f64) -> ClarificationEvent {
    ClarificationEvent::Answered {
        before: Clarity::new(before.confidence),
        after: Clarity::new(after),
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_TEXT, cut};

    #[test]
    fn a_text_is_cut_between_two_characters() {
        assert_eq!(cut("우유 사기"), "우유 사기");
        let (short, long) = ("a".repeat(LONGEST_TEXT), "가".repeat(LONGEST_TEXT));
        assert_eq!(cut(&short), short);
        assert_eq!(cut(&long).len(), LONGEST_TEXT - LONGEST_TEXT % 3);
    }
}
