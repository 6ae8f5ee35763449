//! Which tools did well for a task, which failed, how long they took, and with which arguments.

use std::{collections::BTreeSet, time::Duration};

use hanok_core::Stored;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{days::Days, error::Refusal, evidence::Evidence, kind::MemoryKind};

use super::{
    admission::{self, LONGEST_TEXT},
    normal::text_key,
    stamped::Stamped,
    tally::Tally,
    tool_ref::{self, ToolRef},
};

/// The number of newest uses of a tool that are kept one by one.
pub(super) const RECENT: usize = 20;

/// The number of arguments that worked which are kept.
const ARGUMENTS: usize = 3;

/// A use of a tool, as a node reports it. A call that was skipped, or that a person refused, is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolReport {
    /// The shape of the task: what it asks for, without what changes from one task to the next.
    pub task: String,
    /// The tool.
    pub tool: ToolRef,
    /// True if its result says that it succeeded: not what words stand in it.
    pub success: bool,
    /// The time that the call took.
    pub took: Duration,
    /// Its arguments, as canonical JSON; remembered when it succeeded. Default: none.
    pub arguments: Option<String>,
}

impl ToolReport {
    /// The report that a call of `tool` for a task of the shape `task` took so long and succeeded, or did not.
    pub fn new(task: impl Into<String>, tool: ToolRef, success: bool, took: Duration) -> Self {
        Self { task: task.into(), tool, success, took, arguments: None }
    }

    /// Adds the arguments of the call, unless they are too long or too deep for a memory: the use counts all the same. Leave out what
    /// must not be remembered. Default: none.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_learning::{ToolRef, ToolReport};
    /// use serde_json::json;
    ///
    /// let report = ToolReport::new("find a lease", ToolRef::own("search"), true, Duration::from_millis(40));
    /// let report = report.arguments(&json!({"top": 5, "area": "Mapo"}));
    /// // The keys in the order of stored values, whatever order they come in.
    /// assert_eq!(report.arguments.as_deref(), Some(r#"{"top":5,"area":"Mapo"}"#));
    /// let long = report.arguments(&json!({"text": "a".repeat(5_000)}));
    /// assert_eq!(long.arguments, None);
    /// ```
    #[must_use]
    pub fn arguments(self, arguments: &Value) -> Self {
        let text = Stored::encode(arguments).ok().map(|stored| stored.to_json());
        Self { arguments: text.filter(|text| text.len() <= LONGEST_TEXT), ..self }
    }
}

/// How often a tool was used for a task, and how that went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTally {
    /// The tool.
    pub tool: ToolRef,
    /// Its successes and failures.
    pub uses: Tally,
    /// The time that all uses took together, in milliseconds.
    pub total_millis: u64,
    /// The time that the longest took, in milliseconds.
    pub longest_millis: u64,
    /// The newest 20 uses, the newest first: true for a success.
    pub recent: Vec<Stamped<bool>>,
    /// The arguments of the newest successes, as JSON: at most three that differ.
    pub arguments: Vec<Stamped<String>>,
}

impl ToolTally {
    /// The mean time of a use; `None` before the first.
    pub fn mean_time(&self) -> Option<Duration> {
        self.total_millis.checked_div(self.uses.count()).map(Duration::from_millis)
    }
}

/// The tools for tasks of one shape. It is a [`MemoryKind`], and its own record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMemory {
    /// The shape of the task, as the newest report writes it.
    pub task: Option<Stamped<String>>,
    /// The tools, in the order of their names.
    pub tools: Vec<ToolTally>,
}

impl ToolMemory {
    /// The name of the record for tasks of the shape `task`.
    pub fn key_of(task: &str) -> String {
        text_key(task)
    }

    /// What is known of a tool.
    pub fn tool(&self, tool: &ToolRef) -> Option<&ToolTally> {
        self.tools.iter().find(|tally| tally.tool == *tool)
    }
}

impl MemoryKind for ToolMemory {
    const NAME: &'static str = "tool";
    type Body = ToolReport;
    type Record = Self;

    fn key(evidence: &Evidence<ToolReport>) -> String {
        Self::key_of(&evidence.body.task)
    }

    fn fold(mut record: Self, evidence: &Evidence<ToolReport>) -> Self {
        let ToolReport { task, tool, success, took, arguments } = &evidence.body;
        Stamped::new(evidence, task.clone()).replace_older(&mut record.task);
        let at = record.tools.partition_point(|tally| tally.tool < *tool);
        if record.tools.get(at).is_none_or(|tally| tally.tool != *tool) {
            record.tools.insert(at, ToolTally { tool: tool.clone(), ..ToolTally::default() });
        }
        let Some(tally) = record.tools.get_mut(at) else { return record };
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tally.uses.add(*success);
        tally.total_millis = tally.total_millis.saturating_add(millis);
        tally.longest_millis = tally.longest_millis.max(millis);
        Stamped::new(evidence, *success).push_recent(&mut tally.recent, RECENT);
        if let Some(arguments) = arguments.clone().filter(|_| *success) {
            Stamped::new(evidence, arguments).push_distinct(&mut tally.arguments, ARGUMENTS);
        }
        record
    }

    fn text(record: &Self) -> String {
        record.task.as_ref().map(|task| task.value.clone()).unwrap_or_default()
    }

    /// The task with its tools.
    fn recalled(record: &Self, _: Days) -> String {
        let tools = record.tools.iter().map(|tally| format!("{} ({})", tally.tool, tally.uses));
        format!("{}: {}", Self::text(record), tools.collect::<Vec<_>>().join("; "))
    }

    fn servers(report: &ToolReport) -> BTreeSet<String> {
        tool_ref::servers([&report.tool])
    }

    fn admit(evidence: &Evidence<ToolReport>) -> Result<(), Refusal> {
        let ToolReport { task, tool, arguments, .. } = &evidence.body;
        admission::text("task", task)?;
        admission::tools([tool].into_iter())?;
        arguments.iter().try_for_each(|text| admission::text("arguments", text))?;
        admission::actor(evidence, admission::OBSERVERS)
    }
}
