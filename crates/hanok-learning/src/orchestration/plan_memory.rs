//! What people did with plans, and how their execution ended.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    days::Days,
    error::Refusal,
    evidence::{Actor, Evidence},
    kind::MemoryKind,
};

use super::{
    admission,
    normal::{text_key, texts_key},
    stamped::Stamped,
    tally::{Outcomes, RunOutcome},
    tool_ref::{self, ToolRef},
};

/// The number of objections that a plan keeps.
const OBJECTIONS: usize = 3;

/// What became of a plan, as a node reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReport {
    /// The query that it was made for.
    pub query: String,
    /// Its steps; of an edited one, those after the edit.
    pub steps: Vec<String>,
    /// The tools that it names, whose servers the evidence rests on. Default: none.
    pub tools: BTreeSet<ToolRef>,
    /// What became of it.
    pub event: PlanEvent,
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanEvent {
    /// It was accepted as it is.
    Accepted,
    /// It was edited, and accepted so.
    Edited {
        /// Its steps before.
        from: Vec<String>,
    },
    /// Another one was asked for.
    Revised {
        /// What was said of it; may be blank.
        feedback: String,
    },
    /// It was rejected.
    Rejected {
        /// The reason; may be blank.
        reason: String,
    },
    /// Its execution ended.
    Ended(RunOutcome),
}

impl PlanReport {
    /// The report that `event` became of the plan `steps` for `query`. Evidence of decisions is the user's ([`Actor::User`]), or the
    /// program's where nobody was asked; that of an end is the program's ([`Actor::Automatic`]). A query, and what was said of the plan,
    /// count by their first 4,096 bytes.
    ///
    /// ```
    /// use hanok_learning::{PlanEvent, PlanReport, ToolRef};
    ///
    /// let report = PlanReport::new("Compare the leases", ["read both", "compare"], PlanEvent::Accepted).tool(ToolRef::own("read"));
    /// assert_eq!(report.steps.len(), 2);
    /// ```
    pub fn new<S: Into<String>>(
        query: impl Into<String>,
        steps: impl IntoIterator<Item = S>,
        event: PlanEvent,
    ) -> Self {
        let steps = steps.into_iter().map(Into::into).collect();
        let event = match event {
            PlanEvent::Revised { feedback } => {
                PlanEvent::Revised { feedback: admission::beginning(feedback) }
            }
            PlanEvent::Rejected { reason } => {
                PlanEvent::Rejected { reason: admission::beginning(reason) }
            }
            event => event,
        };
        let query = admission::beginning(query.into());
        Self { query, steps, tools: BTreeSet::new(), event }
    }

    /// Adds a tool that the plan names. Default: none.
    #[must_use]
    pub fn tool(mut self, tool: ToolRef) -> Self {
        self.tools.insert(tool);
        self
    }
}

/// What people decided of a plan, and the program where nobody was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDecisions {
    /// It was accepted as it was.
    pub accepted: u64,
    /// It is what another plan was edited into.
    pub edited_into: u64,
    /// It was edited into another plan.
    pub edited_away: u64,
    /// Another one was asked for.
    pub revised: u64,
    /// It was rejected.
    pub rejected: u64,
}

/// A plan for a query, and what became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTally {
    /// Its steps, as the newest report writes them.
    pub steps: Option<Stamped<Vec<String>>>,
    /// What people decided.
    pub people: PlanDecisions,
    /// What the program decided by itself: no evidence of what people want.
    pub automatic: PlanDecisions,
    /// How its executions ended.
    pub outcomes: Outcomes,
    /// People's newest decision: true if they accepted it.
    pub accepted_last: Option<Stamped<bool>>,
    /// What people said against it: the newest three texts.
    pub objections: Vec<Stamped<String>>,
}

impl PlanTally {
    fn decisions(&mut self, actor: Actor) -> &mut PlanDecisions {
        if actor == Actor::User { &mut self.people } else { &mut self.automatic }
    }

    fn decide(&mut self, evidence: &Evidence<PlanReport>, accepted: bool) {
        if evidence.actor == Actor::User {
            Stamped::new(evidence, accepted).replace_older(&mut self.accepted_last);
        }
    }

    fn object(&mut self, evidence: &Evidence<PlanReport>, text: &str) {
        self.decide(evidence, false);
        if evidence.actor == Actor::User && !text.trim().is_empty() {
            Stamped::new(evidence, text.to_owned()).push_distinct(&mut self.objections, OBJECTIONS);
        }
    }
}

/// The plans for one query. It is a [`MemoryKind`], and its own record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMemory {
    /// The query, as the newest report writes it.
    pub query: Option<Stamped<String>>,
    /// The plans, by the hashes of their steps.
    pub plans: BTreeMap<String, PlanTally>,
}

impl PlanMemory {
    /// The name of the record for `query`.
    pub fn key_of(query: &str) -> String {
        text_key(query)
    }

    /// The plan of these steps.
    pub fn plan(&self, steps: &[String]) -> Option<&PlanTally> {
        self.plans.get(&plan_key(steps))
    }

    fn tally(&mut self, evidence: &Evidence<PlanReport>, steps: &[String]) -> &mut PlanTally {
        let tally = self.plans.entry(plan_key(steps)).or_default();
        Stamped::new(evidence, steps.to_owned()).replace_older(&mut tally.steps);
        tally
    }
}

fn plan_key(steps: &[String]) -> String {
    texts_key(steps.iter().map(String::as_str))
}

impl MemoryKind for PlanMemory {
    const NAME: &'static str = "plan";
    type Body = PlanReport;
    type Record = Self;

    fn key(evidence: &Evidence<PlanReport>) -> String {
        Self::key_of(&evidence.body.query)
    }

    fn fold(mut record: Self, evidence: &Evidence<PlanReport>) -> Self {
        let PlanReport { query, steps, event, .. } = &evidence.body;
        Stamped::new(evidence, query.clone()).replace_older(&mut record.query);
        // An edit that changes no more than blanks or case is none.
        let edited = |from: &[String]| plan_key(from) != plan_key(steps);
        if let PlanEvent::Edited { from } = event
            && edited(from)
        {
            let before = record.tally(evidence, from);
            let count = &mut before.decisions(evidence.actor).edited_away;
            *count = count.saturating_add(1);
            before.decide(evidence, false);
        }
        let tally = record.tally(evidence, steps);
        let decisions = tally.decisions(evidence.actor);
        let count = match event {
            PlanEvent::Accepted => &mut decisions.accepted,
            PlanEvent::Edited { from } if edited(from) => &mut decisions.edited_into,
            PlanEvent::Edited { .. } => &mut decisions.accepted,
            PlanEvent::Revised { .. } => &mut decisions.revised,
            PlanEvent::Rejected { .. } => &mut decisions.rejected,
            PlanEvent::Ended(outcome) => {
                tally.outcomes.add(*outcome);
                return record;
            }
        };
        *count = count.saturating_add(1);
        match event {
            PlanEvent::Revised { feedback: text } | PlanEvent::Rejected { reason: text } => {
                tally.object(evidence, text);
            }
            _ => tally.decide(evidence, true),
        }
        record
    }

    fn text(record: &Self) -> String {
        record.query.as_ref().map(|query| query.value.clone()).unwrap_or_default()
    }

    /// The query with the plans that people did not decide against last.
    fn recalled(record: &Self, _: Days) -> String {
        let against = |plan: &&PlanTally| plan.accepted_last.as_ref().is_some_and(|it| !it.value);
        let plans = record.plans.values().filter(|plan| !against(plan)).filter_map(|plan| {
            let steps = plan.steps.as_ref()?.value.join(" > ");
            Some(format!("{steps} ({})", plan.outcomes.ended))
        });
        let plans: Vec<_> = plans.collect();
        format!("{}: {}", Self::text(record), plans.join("; "))
    }

    fn servers(report: &PlanReport) -> BTreeSet<String> {
        tool_ref::servers(&report.tools)
    }

    fn admit(evidence: &Evidence<PlanReport>) -> Result<(), Refusal> {
        let PlanReport { query, steps, tools, event } = &evidence.body;
        admission::text("query", query)?;
        admission::texts("plan", steps)?;
        admission::tools(tools.iter())?;
        match event {
            PlanEvent::Ended(_) => return admission::actor(evidence, admission::OBSERVERS),
            PlanEvent::Edited { from } => admission::texts("plan before the edit", from)?,
            PlanEvent::Revised { feedback: text } | PlanEvent::Rejected { reason: text } => {
                admission::remark("remark on the plan", text)?;
            }
            PlanEvent::Accepted => {}
        }
        admission::actor(evidence, &[Actor::User, Actor::Automatic])
    }
}
