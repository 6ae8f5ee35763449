//! Which steps and tools, in which order, did what kind of work, and how it ended.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{days::Days, error::Refusal, evidence::Evidence, kind::MemoryKind};

use super::{
    admission,
    normal::{normalized, texts_key},
    stamped::Stamped,
    tally::{Outcomes, RunOutcome},
    tool_ref::{self, ToolRef},
};

/// The number of newest queries that a workflow keeps.
const QUERIES: usize = 5;

/// A run of a workflow, as a node reports it at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowReport {
    /// The category of the work: a label from a closed list of the program's.
    pub category: String,
    /// The query.
    pub query: String,
    /// The shapes of its steps, in their order: what a step asks for, without what changes from one run to the next.
    pub steps: Vec<String>,
    /// The tools that were called, in the order of the calls.
    pub tools: Vec<ToolRef>,
    /// How it ended.
    pub outcome: RunOutcome,
}

impl WorkflowReport {
    /// The report that work of the category `category` on `query` ended as `outcome` says. Default: no steps and no tools.
    /// A query counts by its first 4,096 bytes.
    ///
    /// ```
    /// use hanok_learning::{RunOutcome, ToolRef, WorkflowReport};
    ///
    /// let report = WorkflowReport::new("lease", "Is the rent legal?", RunOutcome::Succeeded).step("find the article");
    /// assert_eq!(report.tool(ToolRef::own("articles")).tools.len(), 1);
    /// ```
    pub fn new(category: impl Into<String>, query: impl Into<String>, outcome: RunOutcome) -> Self {
        let (category, query) = (category.into(), admission::beginning(query.into()));
        Self { category, query, steps: Vec::new(), tools: Vec::new(), outcome }
    }

    /// Adds the shape of the next step.
    #[must_use]
    pub fn step(mut self, shape: impl Into<String>) -> Self {
        self.steps.push(shape.into());
        self
    }

    /// Adds the tool of the next call.
    #[must_use]
    pub fn tool(mut self, tool: ToolRef) -> Self {
        self.tools.push(tool);
        self
    }
}

/// A sequence of tools, and how runs with it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSequence {
    /// The tools, in the order of the calls.
    pub tools: Vec<ToolRef>,
    /// How the runs ended.
    pub outcomes: Outcomes,
}

/// Runs of one category with steps of the same shapes. It is a [`MemoryKind`], and its own record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowMemory {
    /// The category, as the newest report writes it.
    pub category: Option<Stamped<String>>,
    /// The shapes of the steps, as the newest report writes them.
    pub steps: Option<Stamped<Vec<String>>>,
    /// The newest five queries that differ, the newest first.
    pub queries: Vec<Stamped<String>>,
    /// How all runs ended.
    pub outcomes: Outcomes,
    /// The sequences of tools, in the order of their names.
    pub sequences: Vec<ToolSequence>,
}

impl WorkflowMemory {
    /// The name of the record for steps of these shapes in a category.
    pub fn key_of(category: &str, steps: &[String]) -> String {
        let category = normalized(category);
        texts_key([category.as_str()].into_iter().chain(steps.iter().map(String::as_str)))
    }
}

impl MemoryKind for WorkflowMemory {
    const NAME: &'static str = "workflow";
    type Body = WorkflowReport;
    type Record = Self;

    fn key(evidence: &Evidence<WorkflowReport>) -> String {
        Self::key_of(&evidence.body.category, &evidence.body.steps)
    }

    fn fold(mut record: Self, evidence: &Evidence<WorkflowReport>) -> Self {
        let WorkflowReport { category, query, steps, tools, outcome } = &evidence.body;
        Stamped::new(evidence, category.clone()).replace_older(&mut record.category);
        Stamped::new(evidence, steps.clone()).replace_older(&mut record.steps);
        Stamped::new(evidence, query.clone()).push_distinct(&mut record.queries, QUERIES);
        record.outcomes.add(*outcome);
        let at = record.sequences.partition_point(|sequence| sequence.tools < *tools);
        if record.sequences.get(at).is_none_or(|sequence| sequence.tools != *tools) {
            let sequence = ToolSequence { tools: tools.clone(), ..ToolSequence::default() };
            record.sequences.insert(at, sequence);
        }
        if let Some(sequence) = record.sequences.get_mut(at) {
            sequence.outcomes.add(*outcome);
        }
        record
    }

    fn text(record: &Self) -> String {
        let queries = record.queries.iter().map(|query| query.value.as_str());
        let category = record.category.iter().map(|category| category.value.as_str());
        category.chain(queries).collect::<Vec<_>>().join("\n")
    }

    /// The category and the steps with how the runs ended.
    fn recalled(record: &Self, _: Days) -> String {
        let category = record.category.iter().map(|category| category.value.as_str());
        let steps = record.steps.iter().flat_map(|steps| &steps.value).map(String::as_str);
        let parts: Vec<_> = category.chain(steps).collect();
        format!("{} ({})", parts.join(" > "), record.outcomes.ended)
    }

    fn servers(report: &WorkflowReport) -> BTreeSet<String> {
        tool_ref::servers(&report.tools)
    }

    fn admit(evidence: &Evidence<WorkflowReport>) -> Result<(), Refusal> {
        let WorkflowReport { category, query, steps, tools, .. } = &evidence.body;
        admission::text("category", category)?;
        admission::text("query", query)?;
        admission::texts("list of steps", steps)?;
        admission::tools(tools.iter())?;
        admission::actor(evidence, admission::OBSERVERS)
    }
}
