//! What a person decides at the gates of an agent.

use std::{collections::BTreeSet, time::Duration};

use hanok_core::Gate;
use serde::{Deserialize, Serialize};

use crate::{
    error::Refusal,
    evidence::{Actor, Evidence},
    kind::MemoryKind,
};

use super::{
    admission,
    normal::normalized,
    stamped::Stamped,
    tally::Tally,
    tool_ref::{self, ToolRef},
};

/// The number of newest decisions that are kept one by one.
pub(super) const RECENT: usize = 20;

/// What is decided at a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GateAction {
    /// It goes on as it is: accepted, or proceeded with anyway.
    Approved,
    /// It goes on with what was edited, or with an answer.
    Edited,
    /// Another one was asked for.
    Revised,
    /// It is left out.
    Skipped,
    /// It does not go on.
    Rejected,
}

/// A decision at a gate, as a node reports it. That of a person is evidence of [`Actor::User`]; the program's own, of
/// [`Actor::Automatic`], is stored apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// The gate.
    pub gate: Gate,
    /// The kind of what waited there, in words: what decisions are alike for.
    pub kind: String,
    /// The tool that would be called. Default: none.
    pub tool: Option<ToolRef>,
    /// What was decided.
    pub action: GateAction,
    /// The time that the person took. Default: not known.
    pub took: Option<Duration>,
}

impl GateReport {
    /// The report that `action` was decided at `gate` for what is of the kind `kind`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_core::Gate;
    /// use hanok_learning::{GateAction, GateReport, ToolRef};
    ///
    /// let report = GateReport::new(Gate::Step, "read a document", GateAction::Approved);
    /// let report = report.tool(ToolRef::own("read_file")).took(Duration::from_secs(4));
    /// assert_eq!(report.action, GateAction::Approved);
    /// ```
    pub fn new(gate: Gate, kind: impl Into<String>, action: GateAction) -> Self {
        Self { gate, kind: kind.into(), tool: None, action, took: None }
    }

    /// Sets the tool that would be called. Default: none.
    #[must_use]
    pub fn tool(self, tool: ToolRef) -> Self {
        Self { tool: Some(tool), ..self }
    }

    /// Sets the time that the person took. Default: not known.
    #[must_use]
    pub fn took(self, took: Duration) -> Self {
        Self { took: Some(took), ..self }
    }
}

/// How often each action was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateActions {
    /// Approved as it was.
    pub approved: u64,
    /// Edited.
    pub edited: u64,
    /// Another one asked for.
    pub revised: u64,
    /// Left out.
    pub skipped: u64,
    /// Rejected.
    pub rejected: u64,
}

impl GateActions {
    /// The approvals as successes, all else as failures.
    pub fn approvals(&self) -> Tally {
        let others = [self.edited, self.revised, self.skipped, self.rejected];
        let failures = others.into_iter().fold(0, u64::saturating_add);
        Tally { successes: self.approved, failures }
    }

    /// The share of edits; `None` before the first decision.
    pub fn edit_frequency(&self) -> Option<f64> {
        self.share(self.edited)
    }

    /// The share of what was skipped; `None` before the first decision.
    pub fn skip_frequency(&self) -> Option<f64> {
        self.share(self.skipped)
    }

    fn share(&self, part: u64) -> Option<f64> {
        let count = self.approvals().count();
        (count > 0).then(|| part as f64 / count as f64)
    }

    fn add(&mut self, action: GateAction) {
        let count = match action {
            GateAction::Approved => &mut self.approved,
            GateAction::Edited => &mut self.edited,
            GateAction::Revised => &mut self.revised,
            GateAction::Skipped => &mut self.skipped,
            GateAction::Rejected => &mut self.rejected,
        };
        *count = count.saturating_add(1);
    }
}

/// What a person decides at one gate for one kind and tool. It is a [`MemoryKind`], and its own record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehaviourMemory {
    /// The gate, the kind and the tool, in words.
    pub subject: Option<Stamped<String>>,
    /// The person's decisions.
    pub people: GateActions,
    /// The program's own decisions: no evidence of what the person wants.
    pub automatic: GateActions,
    /// The person's newest 20 decisions, the newest first.
    pub recent: Vec<Stamped<GateAction>>,
    /// The decisions of which the time is known.
    pub timed: u64,
    /// The time that they took together, in milliseconds.
    pub total_millis: u64,
}

impl BehaviourMemory {
    /// The name of the record for a gate, a kind and a tool. The kind is normalized; the tool's name counts letter by letter.
    pub fn key_of(gate: &Gate, kind: &str, tool: Option<&ToolRef>) -> String {
        // With its length no part runs into the next.
        let part = |text: &str| format!("{}:{text}", text.len());
        let gate = match gate {
            Gate::Custom(name) => format!("custom/{}", part(name)),
            named => named.to_string(),
        };
        let mut key = format!("{gate}/{}", part(&normalized(kind)));
        if let Some(ToolRef { server, name }) = tool {
            let server = server.as_deref().map(part).unwrap_or_default();
            key = format!("{key}/{server}/{}", part(name));
        }
        // As long as its parts are: a name of the store ends.
        match key.len() <= 1_024 {
            true => key,
            false => blake3::hash(key.as_bytes()).to_hex().to_string(),
        }
    }

    /// The mean time that the person takes; `None` before it was measured.
    pub fn mean_time(&self) -> Option<Duration> {
        self.total_millis.checked_div(self.timed).map(Duration::from_millis)
    }
}

impl MemoryKind for BehaviourMemory {
    const NAME: &'static str = "behaviour";
    type Body = GateReport;
    type Record = Self;

    fn key(evidence: &Evidence<GateReport>) -> String {
        let GateReport { gate, kind, tool, .. } = &evidence.body;
        Self::key_of(gate, kind, tool.as_ref())
    }

    fn fold(mut record: Self, evidence: &Evidence<GateReport>) -> Self {
        let GateReport { gate, kind, tool, action, took } = &evidence.body;
        let tool = tool.as_ref().map(|tool| format!(" ({tool})")).unwrap_or_default();
        let subject = format!("{gate}: {kind}{tool}");
        Stamped::new(evidence, subject).replace_older(&mut record.subject);
        if evidence.actor != Actor::User {
            record.automatic.add(*action);
            return record;
        }
        record.people.add(*action);
        Stamped::new(evidence, *action).push_recent(&mut record.recent, RECENT);
        if let Some(took) = took {
            let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            record.timed = record.timed.saturating_add(1);
            record.total_millis = record.total_millis.saturating_add(millis);
        }
        record
    }

    fn text(record: &Self) -> String {
        let Some(subject) = &record.subject else { return String::new() };
        let approvals = record.people.approvals();
        format!("{}: {} of {} approved", subject.value, approvals.successes, approvals.count())
    }

    fn servers(report: &GateReport) -> BTreeSet<String> {
        tool_ref::servers(&report.tool)
    }

    fn admit(evidence: &Evidence<GateReport>) -> Result<(), Refusal> {
        admission::text("kind", &evidence.body.kind)?;
        let tools: Vec<_> = evidence.body.tool.iter().collect();
        admission::tools(tools.into_iter())?;
        admission::actor(evidence, &[Actor::User, Actor::Automatic])
    }
}
