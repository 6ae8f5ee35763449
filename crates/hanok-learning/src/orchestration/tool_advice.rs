//! Which tools a planner prefers for a task and which it avoids, and why.

use std::time::Duration;

use hanok_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::user::Remembered;

use super::{
    candidate::{CandidateScore, Shortfall},
    policy::{AvoidancePolicy, OrchestratorPolicy},
    similarity::TextSimilarity,
    stamped::Stamped,
    tally::Tally,
    tool_memory::{RECENT, ToolMemory, ToolTally},
    tool_ref::ToolRef,
};

/// The part of its rate of success that a preferred tool's score grows by.
const BOOST: f64 = 0.3;

/// The number of arguments that are shown.
const ARGUMENTS: usize = 3;

/// Why a tool is avoided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Avoidance {
    /// The uses that count for it: the newest ones that are young enough.
    pub uses: Tally,
    /// The upper bound of the rate of success, by Wilson's interval.
    pub upper_bound: f64,
    /// The time until which it is avoided.
    pub until: Timestamp,
}

/// What is known of a tool for tasks of one shape and those like it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolStanding {
    /// The tool.
    pub tool: ToolRef,
    /// The parts of its score; the likeness is that of the most alike task.
    pub score: CandidateScore,
    /// Its successes and failures.
    pub uses: Tally,
    /// The names of the records that it is known from: [`UserMemories::evidence`](crate::UserMemories::evidence) lists what they are
    /// made of.
    pub keys: Vec<String>,
    /// The mean time of a use.
    pub mean_time: Option<Duration>,
    /// The arguments of the newest successes, as JSON. They are data.
    pub arguments: Vec<String>,
    /// The reason why it is avoided now, if it is.
    pub avoidance: Option<Avoidance>,
    /// The reasons why it is not preferred; none when it is, unless it is avoided.
    pub shortfalls: Vec<Shortfall>,
}

impl ToolStanding {
    /// True if it is preferred: it does well enough, and is not avoided.
    pub fn is_preferred(&self) -> bool {
        self.avoidance.is_none() && self.shortfalls.is_empty()
    }

    /// What its score grows by where it is preferred: 0.3 × its rate of success.
    pub fn boost(&self) -> f64 {
        if self.is_preferred() { self.score.success.unwrap_or(0.0) * BOOST } else { 0.0 }
    }
}

/// The tools that were used for tasks of a shape, the best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolAdvice {
    tools: Vec<ToolStanding>,
}

impl ToolAdvice {
    /// Joins the records of tasks that are alike enough: a tool is judged by its uses for all of them.
    pub(super) fn new(
        records: &[(Remembered<ToolMemory>, TextSimilarity)],
        policy: &OrchestratorPolicy,
        now: Timestamp,
    ) -> Self {
        let mut pools: Vec<(ToolTally, TextSimilarity, Vec<String>)> = Vec::new();
        for (remembered, similarity) in records {
            let alike = similarity.value() >= policy.candidate.similarity;
            if !alike {
                continue;
            }
            for tally in &remembered.record.tools {
                let pool = pools.iter_mut().find(|(pool, ..)| pool.tool == tally.tool);
                let Some((pool, best, keys)) = pool else {
                    pools.push((tally.clone(), *similarity, vec![remembered.key.clone()]));
                    continue;
                };
                join(pool, tally);
                keys.push(remembered.key.clone());
                if similarity.value() > best.value() {
                    *best = *similarity;
                }
            }
        }
        let standing = |(pool, similarity, mut keys): (ToolTally, TextSimilarity, Vec<String>)| {
            keys.sort();
            let score = CandidateScore::new(similarity, pool.uses);
            ToolStanding {
                score,
                uses: pool.uses,
                keys,
                mean_time: pool.mean_time(),
                avoidance: avoidance(&pool, &policy.avoidance, now),
                shortfalls: score.shortfalls(&policy.candidate),
                arguments: pool.arguments.into_iter().map(|text| text.value).collect(),
                tool: pool.tool,
            }
        };
        let mut tools: Vec<_> = pools.into_iter().map(standing).collect();
        tools.sort_by(|a, b| {
            let by_rank = b.score.rank().total_cmp(&a.score.rank());
            b.is_preferred().cmp(&a.is_preferred()).then(by_rank).then_with(|| a.tool.cmp(&b.tool))
        });
        Self { tools }
    }

    /// All of them: those that are preferred first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ToolStanding> {
        self.tools.iter()
    }

    /// Those that are preferred, the best first.
    pub fn preferred(&self) -> impl Iterator<Item = &ToolStanding> {
        self.iter().filter(|standing| standing.is_preferred())
    }

    /// Those that are avoided now.
    pub fn avoided(&self) -> impl Iterator<Item = &ToolStanding> {
        self.iter().filter(|standing| standing.avoidance.is_some())
    }

    /// What is known of a tool.
    pub fn tool(&self, tool: &ToolRef) -> Option<&ToolStanding> {
        self.iter().find(|standing| standing.tool == *tool)
    }

    /// The tools that another one recommends with their scores, the best first: a preferred one's score grows by its
    /// [boost](ToolStanding::boost), and those that are avoided stand last.
    ///
    /// ```
    /// use hanok_learning::{ToolAdvice, ToolRef};
    ///
    /// let recommended = vec![(ToolRef::own("search"), 0.4), (ToolRef::own("read"), 0.6)];
    /// let ranked = ToolAdvice::default().rerank(recommended);
    /// assert_eq!(ranked[0].0, ToolRef::own("read"));
    /// ```
    #[must_use]
    pub fn rerank(&self, mut recommended: Vec<(ToolRef, f64)>) -> Vec<(ToolRef, f64)> {
        for (tool, score) in &mut recommended {
            *score += self.tool(tool).map_or(0.0, ToolStanding::boost);
        }
        let avoided =
            |tool: &ToolRef| self.tool(tool).is_some_and(|standing| standing.avoidance.is_some());
        recommended.sort_by(|(one, a), (other, b)| {
            avoided(one).cmp(&avoided(other)).then(b.total_cmp(a)).then_with(|| one.cmp(other))
        });
        recommended
    }
}

/// Adds what another record knows of the same tool.
fn join(pool: &mut ToolTally, other: &ToolTally) {
    pool.uses.successes = pool.uses.successes.saturating_add(other.uses.successes);
    pool.uses.failures = pool.uses.failures.saturating_add(other.uses.failures);
    pool.total_millis = pool.total_millis.saturating_add(other.total_millis);
    pool.longest_millis = pool.longest_millis.max(other.longest_millis);
    for used in &other.recent {
        used.clone().push_recent(&mut pool.recent, RECENT);
    }
    for arguments in &other.arguments {
        arguments.clone().push_distinct(&mut pool.arguments, ARGUMENTS);
    }
}

fn avoidance(pool: &ToolTally, policy: &AvoidancePolicy, now: Timestamp) -> Option<Avoidance> {
    let counts = |used: &&Stamped<bool>| now.since(used.at) <= policy.within;
    let mut uses = Tally::default();
    let mut newest_failure = None;
    for used in pool.recent.iter().take(policy.uses).filter(counts) {
        uses.add(used.value);
        // The newest stand first.
        if !used.value && newest_failure.is_none() {
            newest_failure = Some(used.at);
        }
    }
    let upper_bound = uses.upper_bound()?;
    let until = newest_failure?.plus(policy.lasts);
    let avoided = uses.failures >= policy.failures && upper_bound < policy.upper_bound;
    (avoided && now < until).then_some(Avoidance { uses, upper_bound, until })
}
