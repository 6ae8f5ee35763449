//! Questions of a graph's own nodes to people: a plan to approve, a query to clarify, a step to let pass.

use std::time::Duration;

use hanok_core::{AskError, Audience, BoxError, Call, Gate, Risk};
use hanok_graph::{Context, StepError};
use hanok_state::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{
    audit::pass::{GATE, PassReason, Passed},
    digest::{digest, json_text},
    intercept::approval::{
        Decision, DecisionKind,
        overdue::{Escalation, Overdue},
        question::DecisionQuestion,
        request::may_stand,
    },
};

/// The question of a gate, as people see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "gate")]
#[non_exhaustive]
pub struct GateRequest {
    /// The gate.
    pub gate: Gate,
    /// What is asked, in words.
    pub question: String,
    /// What is decided about, whole. Neutralise control characters before printing it.
    pub shown: Json,
    /// The length of that as JSON, in bytes.
    pub bytes: usize,
    /// The BLAKE3 hash of that, as hex. An answer may name it, and then counts for this alone.
    pub digest: String,
    /// The fields that it lacks, and that an edit has to give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What it may do to the world.
    pub risk: Risk,
    /// The rule by which people are asked.
    pub rule: String,
    /// The revision of the rule, if it names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The decisions that are allowed.
    pub allowed: Vec<DecisionKind>,
    /// False where the gate asks the next time whatever a person says now: "always" would be of no use.
    #[serde(default = "may_stand", skip_serializing_if = "Clone::clone")]
    pub may_stand: bool,
}

/// Asks people at a gate, once and for all of the task's runs: what they are shown, who may answer and until when is stored before
/// they are asked, so a run that begins again asks the same question, also where a model wrote it.
///
/// ```
/// use hanok_agent::{Decision, DecisionKind, Gate, GateQuestion};
/// use hanok_checkpoint::InMemoryCheckpointer;
/// use hanok_core::{BoxError, ThreadKey};
/// use hanok_graph::{Context, END, Graph, Outcome, START, Snapshot};
/// use hanok_state::State;
/// use serde_json::{Value, json};
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Work {
///     plan: String,
/// }
///
/// async fn approve(_: Snapshot<Work>, context: Context) -> Result<WorkUpdate, BoxError> {
///     let plan = json!({"steps": ["search", "write"]});
///     let schema = json!({"type": "object", "required": ["steps"]});
///     let question = GateQuestion::new(Gate::Plan, "Is this plan all right?", &plan)?
///         .schema(schema)
///         .allow([DecisionKind::Approve, DecisionKind::Edit, DecisionKind::Reject]);
///     Ok(match question.ask(&context).await? {
///         Decision::Approve => Work::update().plan(plan.to_string()),
///         Decision::Edit { arguments } => Work::update().plan(arguments.0.to_string()),
///         _ => Work::update(),
///     })
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Work>::builder("work").node("approve", approve).edge(START, "approve").edge("approve", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);
/// assert!(matches!(thread.invoke(Work::update(), ()).await?, Outcome::Interrupted(_)));
/// // An edit that does not fit leaves the question open.
/// let edit = |plan: Value| json!({"decision": "edit", "arguments": plan});
/// assert!(thread.reply(&edit(json!({})), ()).await.is_err());
/// let work = thread.reply(&edit(json!({"steps": []})), ()).await?.done()?;
/// assert_eq!(work.plan, r#"{"steps":[]}"#);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[must_use]
pub struct GateQuestion {
    request: GateRequest,
    schema: Json,
    within: Option<Duration>,
    audience: Audience,
    escalations: Vec<Escalation>,
    overdue: Overdue,
}

/// The reason why a gate has no decision.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GateError {
    /// People are asked, and the run ends for it; hand it on. Or nobody can be asked.
    #[error("the gate `{gate}`")]
    Ask {
        /// The gate.
        gate: Gate,
        /// The cause.
        #[source]
        source: AskError,
    },
    /// Nobody has decided in time, and the gate halts the turn then.
    #[error("nobody has decided at the gate `{0}` in time")]
    Overdue(Gate),
    /// What is shown cannot be stored or read.
    #[error("the question of the gate `{gate}` cannot be stored or read")]
    Step {
        /// The gate.
        gate: Gate,
        /// The cause.
        #[source]
        source: StepError,
    },
}

impl GateQuestion {
    /// Asks `question` about `shown` at `gate`: everybody, for ever, and for any decision that makes sense there.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when `shown` is no JSON.
    pub fn new(
        gate: Gate,
        question: impl Into<String>,
        shown: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        let shown = serde_json::to_value(shown)?;
        let text = json_text(&shown);
        let request = GateRequest {
            allowed: allowed_at(&gate).to_vec(),
            rule: gate.to_string(),
            gate,
            question: question.into(),
            bytes: text.len(),
            digest: digest(&text),
            shown: Json(shown),
            missing: Vec::new(),
            risk: Risk::Destructive,
            revision: None,
            may_stand: true,
        };
        Ok(Self {
            request,
            schema: Json(Value::Bool(true)),
            within: None,
            audience: Audience::everybody(),
            escalations: Vec::new(),
            overdue: Overdue::default(),
        })
    }

    /// Sets the JSON schema that an edit has to fit. Default: any JSON fits.
    pub fn schema(self, schema: Value) -> Self {
        Self { schema: Json(schema), ..self }
    }

    /// Limits the decisions that may be taken.
    pub fn allow(mut self, allowed: impl IntoIterator<Item = DecisionKind>) -> Self {
        self.request.allowed = allowed.into_iter().collect();
        self
    }

    /// Names the fields that are missing, which an edit has to give. Default: none.
    pub fn missing(mut self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.request.missing = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the risk. Default: [`Risk::Destructive`], for what is not known counts as that.
    pub fn risk(mut self, risk: Risk) -> Self {
        self.request.risk = risk;
        self
    }

    /// Names the rule by which people are asked, and its revision. Default: the gate's name, and none.
    pub fn rule(mut self, rule: impl Into<String>, revision: Option<String>) -> Self {
        (self.request.rule, self.request.revision) = (rule.into(), revision);
        self
    }

    /// Sets whether a person who says "always" is heeded the next time, so that they are offered to say so. Default: true.
    pub fn may_stand(mut self, may_stand: bool) -> Self {
        self.request.may_stand = may_stand;
        self
    }

    /// Limits the time for an answer. Default: no limit.
    pub fn within(self, within: Duration) -> Self {
        Self { within: Some(within), ..self }
    }

    /// Limits the people who may answer. Default: everybody.
    pub fn audience(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    /// Asks others, for the time `within`, when nobody of those before has answered in [time](Self::within). Default: nobody.
    pub fn escalate(mut self, audience: Audience, within: Duration) -> Self {
        self.escalations.push(Escalation { audience, within });
        self
    }

    /// Sets the decision when nobody has answered in time: [`Decision::Reject`], [`Decision::Skip`], or
    /// [`GateError::Overdue`]. Default: [`Overdue::Reject`].
    pub fn overdue(self, overdue: Overdue) -> Self {
        Self { overdue, ..self }
    }

    /// Asks. A task asks at one gate about one thing at a time: it may ask about another when it has the decision.
    ///
    /// # Errors
    ///
    /// [`GateError::Ask`] when the run has to end for the answer: return it with `?`. [`GateError::Overdue`], and
    /// [`GateError::Step`] when the question cannot be stored.
    pub async fn ask<C: Send + Sync + 'static>(
        self,
        context: &Context<C>,
    ) -> Result<Decision, GateError> {
        let gate = self.request.gate.clone();
        let call = context.call("gate", &gate.to_string(), "");
        let step = format!("gate-{}", call.key());
        let stored: Result<Self, _> =
            context.step(&step, || async { Ok::<_, BoxError>(self) }).await;
        match stored {
            Ok(question) => question.put(&call).await.map_err(|source| match source {
                AskError::Expired(_) => GateError::Overdue(gate),
                source => GateError::Ask { gate, source },
            }),
            Err(source) => Err(GateError::Step { gate, source }),
        }
    }

    /// Asks nobody, for this reason: a rule of a person, or what their decisions have taught. [The audit](crate::AuditEvent::Passed)
    /// says so. A run that begins again says it once.
    ///
    /// # Errors
    ///
    /// [`GateError::Step`] when it cannot be stored.
    pub async fn pass<C: Send + Sync + 'static>(
        self,
        reason: impl Into<String>,
        context: &Context<C>,
    ) -> Result<(), GateError> {
        let GateRequest { gate, question, digest, risk, rule, .. } = self.request;
        let call = context.call("pass", &gate.to_string(), &digest);
        let reasons = vec![PassReason { rule, reason: reason.into() }];
        let passed = Passed { gate: gate.clone(), about: question, digest, risk, reasons };
        let step = format!("{GATE}{}", call.key());
        let stored: Result<Passed, _> =
            context.step(&step, || async { Ok::<_, BoxError>(passed) }).await;
        stored.map(|_| ()).map_err(|source| GateError::Step { gate, source })
    }

    /// Asks within a call, as a tool does. Nothing is stored but the question: a call that is made again asks the same.
    ///
    /// # Errors
    ///
    /// [`AskError`] as of [`Call::question`]: return it with `?`. [`AskError::Expired`] for a question that
    /// [halts](Overdue::Halt) when it is overdue.
    pub async fn put(self, call: &Call) -> Result<Decision, AskError> {
        let GateRequest { digest, allowed, .. } = &self.request;
        let answers = Decision::answers(allowed, digest, &self.schema.0).to_string();
        let question = DecisionQuestion::new(
            &self.request,
            "a decision at this gate",
            digest,
            allowed,
            &answers,
        )?;
        let deadline = self.within.map(|within| call.clock().now().plus(within));
        let decided = question.decide(call, &self.audience, deadline, &self.escalations).await;
        match (decided, self.overdue) {
            (Err(AskError::Expired(_)), Overdue::Reject) => Ok(Decision::Reject { message: None }),
            (Err(AskError::Expired(_)), Overdue::Skip) => Ok(Decision::Skip { message: None }),
            (decided, _) => decided,
        }
    }
}

/// The decisions that make sense at a gate.
fn allowed_at(gate: &Gate) -> &'static [DecisionKind] {
    use DecisionKind::{Approve, Edit, Reject, Respond, Reuse, Revise, Skip};
    match gate {
        Gate::Clarify => &[Approve, Respond, Reuse],
        Gate::Plan => &[Approve, Edit, Revise, Reject],
        Gate::Step => &[Approve, Edit, Skip],
        Gate::Tool => &[Approve, Edit, Reject, Respond],
        Gate::Definitions => &[Approve, Reject],
        Gate::Elicitation => &[Approve, Edit, Reject, Skip],
        // A place by its own name, and any that comes later.
        _ => &[Approve, Edit, Reject, Respond, Skip, Revise],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_says_nothing_of_always_may_stand() {
        let question = GateQuestion::new(Gate::Step, "?", &Value::Null).unwrap();
        let written = serde_json::to_value(&question.request).unwrap();
        assert_eq!(written.get("may_stand"), None);
        let read: GateRequest = serde_json::from_value(written).unwrap();
        assert!(read.may_stand);
        let written = serde_json::to_value(&question.may_stand(false).request).unwrap();
        assert_eq!(written.get("may_stand"), Some(&Value::Bool(false)));
    }
}
