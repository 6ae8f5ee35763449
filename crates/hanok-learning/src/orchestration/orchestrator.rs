//! What a planner reads of its user's memories.

use hanok_core::{Gate, Risk, Tenant, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    error::LearningError,
    kind::MemoryKind,
    memories::Memories,
    user::{Remembered, UserMemories},
};

use super::{
    admission::LONGEST_TEXT,
    behaviour_memory::BehaviourMemory,
    candidate::{Candidate, CandidateScore, Candidates, Shortfall},
    clarification_advice::{ClarificationAdvice, ReusableAnswer},
    clarification_memory::{ClarificationMemory, ClarificationTally},
    cold_start::adjusted_confidence,
    gate_verdict::GateVerdict,
    normal::normalized,
    plan_memory::{PlanMemory, PlanTally},
    policy::OrchestratorPolicy,
    similarity::TextSimilarity,
    tally::Tally,
    tool_advice::ToolAdvice,
    tool_memory::ToolMemory,
    tool_ref::ToolRef,
    workflow_memory::{ToolSequence, WorkflowMemory},
};

/// The number of records that a search looks at.
const POOL: usize = 20;

/// The most candidates of one reading.
const MOST: usize = 5;

impl Memories {
    /// Makes the five kinds of an orchestrator known: [`PlanMemory`], [`ToolMemory`], [`ClarificationMemory`], [`BehaviourMemory`] and
    /// [`WorkflowMemory`].
    #[must_use]
    pub fn orchestration(self) -> Self {
        let kinds = self.kind::<PlanMemory>().kind::<ToolMemory>().kind::<ClarificationMemory>();
        kinds.kind::<BehaviourMemory>().kind::<WorkflowMemory>()
    }
}

/// What a planner reads of its user's memories: candidates with their scores, and the reasons why something does not count.
///
/// Without a user nothing is read. It teaches nothing: a node hands out reports as evidence ([`teach`](crate::teach)), and a
/// [`Learner`](crate::Learner) counts them. Make each reading a step of a node (`context.step("recall", …)`), so that a replay reads
/// the same.
///
/// ```
/// use hanok_checkpoint::{InMemoryStore, SharedStore};
/// use hanok_core::{Gate, Risk, Tenant, Timestamp};
/// use hanok_learning::{GateReason, Memories, OrchestratorMemory};
///
/// # futures::executor::block_on(async {
/// let memories = Memories::new(SharedStore::new(InMemoryStore::new())).orchestration();
/// let of_kim = OrchestratorMemory::new(memories, Tenant::default(), Some("kim"));
/// let plans = of_kim.plans("Compare the two leases", Timestamp(0)).await?;
/// assert!(plans.best().is_none());
/// let verdict = of_kim.gate(&Gate::Plan, "lease", None, Risk::Read, "task/1", Timestamp(0)).await?;
/// assert!(!verdict.passes() && verdict.reasons().contains(&GateReason::Off));
/// # Ok::<(), hanok_learning::LearningError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct OrchestratorMemory {
    user: Option<UserMemories>,
    policy: OrchestratorPolicy,
}

/// A workflow that did work like this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkflowTemplate {
    /// The category of the work.
    pub category: String,
    /// The shapes of its steps.
    pub steps: Vec<String>,
    /// The tools of the sequence that did best, in the order of the calls.
    pub tools: Vec<ToolRef>,
    /// How runs with these tools ended.
    pub of_tools: Tally,
}

impl OrchestratorMemory {
    /// The memories of `user`: any text names one, `None` is nobody. `memories` knows the five kinds
    /// ([`Memories::orchestration`]).
    pub fn new(memories: Memories, tenant: Tenant, user: Option<&str>) -> Self {
        let user = user.map(|user| memories.of(tenant, user));
        Self { user, policy: OrchestratorPolicy::default() }
    }

    /// Sets the rules by which what is remembered counts. Default: those of [`OrchestratorPolicy`].
    #[must_use]
    pub fn policy(self, policy: OrchestratorPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The memories that it reads, to list, undo and export what was shown; `None` when there is no user.
    pub fn memories(&self) -> Option<&UserMemories> {
        self.user.as_ref()
    }

    /// The plans that were made for queries like `query`, the best first. One that people decided against last does not count. Whether a
    /// query that is like this one asks for the same says a judge ([`Candidates::judged`]).
    ///
    /// # Errors
    ///
    /// [`LearningError::Store`] when the store fails, [`LearningError::Record`] when another build wrote a record.
    pub async fn plans(
        &self,
        query: &str,
        now: Timestamp,
    ) -> Result<Candidates<PlanTally>, LearningError> {
        let mut all = Vec::new();
        for (remembered, meaning) in
            self.alike::<PlanMemory>(query, &PlanMemory::key_of(query), now).await?
        {
            let text = remembered.text.clone();
            let similarity = TextSimilarity::of(query, &text, meaning);
            for plan in remembered.record.plans.values() {
                let tally = plan.outcomes.ended;
                let mut candidate =
                    self.candidate(&remembered, &text, similarity, tally, plan.clone());
                if plan.accepted_last.as_ref().is_some_and(|last| !last.value) {
                    candidate.shortfalls.push(Shortfall::DecidedAgainst);
                }
                all.push(candidate);
            }
        }
        Ok(Candidates::new(query, all, MOST))
    }

    /// The tools that were used for tasks like `task`: which are preferred, which are avoided at `now`, and why.
    ///
    /// # Errors
    ///
    /// As [`plans`](Self::plans).
    pub async fn tools(&self, task: &str, now: Timestamp) -> Result<ToolAdvice, LearningError> {
        let records = self.alike::<ToolMemory>(task, &ToolMemory::key_of(task), now).await?;
        let of = |(remembered, meaning): (Remembered<ToolMemory>, Option<f32>)| {
            let similarity = TextSimilarity::of(task, &remembered.text, meaning);
            (remembered, similarity)
        };
        let records: Vec<_> = records.into_iter().map(of).collect();
        Ok(ToolAdvice::new(&records, &self.policy, now))
    }

    /// The answers that people gave when queries like `query` were not clear, and the one that may be used without asking.
    ///
    /// Only an answer to the very same query, or to one that a judge takes for the same
    /// ([`ClarificationAdvice::judged`]), is used without asking.
    ///
    /// # Errors
    ///
    /// As [`plans`](Self::plans).
    pub async fn clarification(
        &self,
        query: &str,
        now: Timestamp,
    ) -> Result<ClarificationAdvice, LearningError> {
        let mut all = Vec::new();
        let key = ClarificationMemory::key_of(query);
        for (remembered, meaning) in self.alike::<ClarificationMemory>(query, &key, now).await? {
            let text = remembered.text.clone();
            let similarity = TextSimilarity::of(query, &text, meaning);
            for (key, tally) in &remembered.record.answers {
                let newest = remembered.record.newest.as_ref().is_some_and(|it| it.value == *key);
                let answer = self.reusable(tally, newest);
                all.push(self.candidate(&remembered, &text, similarity, tally.reused, answer));
            }
        }
        Ok(ClarificationAdvice { answers: Candidates::new(query, all, MOST) })
    }

    /// Whether a gate is passed as the person has always decided there for `kind` and `tool`. `call_key` names the call, and is the same
    /// when it is made again: a share of all keys is asked about all the same.
    ///
    /// # Errors
    ///
    /// As [`plans`](Self::plans).
    pub async fn gate(
        &self,
        gate: &Gate,
        kind: &str,
        tool: Option<&ToolRef>,
        risk: Risk,
        call_key: &str,
        now: Timestamp,
    ) -> Result<GateVerdict, LearningError> {
        let key = BehaviourMemory::key_of(gate, kind, tool);
        let Some(user) = &self.user else { return Ok(GateVerdict::no_user(key)) };
        // The tool of a server of others is outside of the program, whatever is said of it.
        let of_others = tool.is_some_and(|tool| tool.server.is_some());
        let record = user.get::<BehaviourMemory>(&key, now).await?.unwrap_or_default();
        Ok(GateVerdict::new(key, &record, risk, of_others, call_key, &self.policy.approval))
    }

    /// The workflows that did work like `query`, of `category` where it is known, the best first.
    ///
    /// # Errors
    ///
    /// As [`plans`](Self::plans).
    pub async fn workflows(
        &self,
        query: &str,
        category: Option<&str>,
        now: Timestamp,
    ) -> Result<Candidates<WorkflowTemplate>, LearningError> {
        let category = category.map(normalized);
        let mut all = Vec::new();
        for (remembered, meaning) in self.alike::<WorkflowMemory>(query, "", now).await? {
            let WorkflowMemory { category: of, steps, queries, outcomes, sequences } =
                &remembered.record;
            let of = of.as_ref().map(|of| of.value.clone()).unwrap_or_default();
            if category.as_ref().is_some_and(|it| normalized(&of) != *it) {
                continue;
            }
            let alike = queries
                .iter()
                .map(|it| (TextSimilarity::of(query, &it.value, meaning), it.value.as_str()));
            let Some((similarity, text)) =
                alike.max_by(|(a, _), (b, _)| a.letters.total_cmp(&b.letters))
            else {
                continue;
            };
            let best = sequences.iter().reduce(|best, other| {
                let bound = |of: &ToolSequence| of.outcomes.ended.lower_bound().unwrap_or(0.0);
                if bound(other) > bound(best) { other } else { best }
            });
            let template = WorkflowTemplate {
                category: of,
                steps: steps.as_ref().map(|steps| steps.value.clone()).unwrap_or_default(),
                tools: best.map(|best| best.tools.clone()).unwrap_or_default(),
                of_tools: best.map(|best| best.outcomes.ended).unwrap_or_default(),
            };
            all.push(self.candidate(&remembered, text, similarity, outcomes.ended, template));
        }
        Ok(Candidates::new(query, all, MOST))
    }

    fn candidate<R, T>(
        &self,
        of: &Remembered<R>,
        text: &str,
        similarity: TextSimilarity,
        tally: Tally,
        value: T,
    ) -> Candidate<T> {
        let score = CandidateScore::new(similarity, tally);
        Candidate {
            key: of.key.clone(),
            text: text.to_owned(),
            value,
            score,
            relation: None,
            shortfalls: score.shortfalls(&self.policy.candidate),
            origins: of.origins.clone(),
        }
    }

    fn reusable(&self, tally: &ClarificationTally, newest: bool) -> ReusableAnswer {
        let policy = self.policy.automatic;
        let (confirmed, count) = (tally.reused.successes, tally.reused.count());
        let mut shortfalls = Vec::new();
        // What nobody confirmed is never used without asking.
        let least = policy.confirmed.max(1);
        if confirmed < least {
            shortfalls.push(Shortfall::RarelyConfirmed { confirmed, least });
        }
        if let Some(rate) = tally.reused.rate() {
            let confidence = adjusted_confidence(rate, count);
            let sure = confidence >= policy.confidence;
            if !sure {
                shortfalls.push(Shortfall::Unsure { confidence, least: policy.confidence });
            }
        }
        if !newest {
            shortfalls.push(Shortfall::Superseded);
        }
        ReusableAnswer {
            answer: tally.answer.as_ref().map(|it| it.value.clone()).unwrap_or_default(),
            reused: tally.reused,
            applied: tally.applied,
            clarity: tally.mean_clarity(),
            automatic_shortfalls: shortfalls,
        }
    }

    /// The record `key`, and those that fit `text`, with the likeness of their meaning.
    async fn alike<K: MemoryKind>(
        &self,
        text: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Vec<(Remembered<K::Record>, Option<f32>)>, LearningError> {
        let Some(user) = &self.user else { return Ok(Vec::new()) };
        let text: String = text.chars().take(LONGEST_TEXT).collect();
        let mut all = user.alike::<K>(&text, POOL, now).await?;
        if !key.is_empty() && all.iter().all(|(remembered, _)| remembered.key != key) {
            let exact = user.remembered::<K>(key, now).await?;
            all.extend(exact.map(|remembered| (remembered, None)));
        }
        Ok(all)
    }
}
