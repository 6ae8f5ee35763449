//! Calls that a person approves.

pub(crate) mod agent_chat;
mod decision;
pub(crate) mod overdue;
mod placed;
mod precedent;
pub(crate) mod question;
pub(crate) mod request;
mod standing;
mod terms;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use hanok_core::{Audience, Call, Effect, Risk};
use hanok_model::ToolError;

use self::{overdue::Overdue, precedent::SharedPrecedent};

pub use self::{
    decision::{Decision, DecisionKind},
    precedent::Precedent,
    request::ApprovalRequest,
    standing::{StandingApproval, StandingApprovals, StandingError, StandingScope},
    terms::ApprovalTerms,
};
use super::{Interceptor, ToolRequest, Verdict};

type CallFilter = Arc<dyn Fn(&ToolRequest<'_>) -> bool + Send + Sync>;
type Describe = Arc<dyn Fn(&ToolRequest<'_>) -> String + Send + Sync>;

/// Has a person approve the calls of some tools before they are made; the others do not wait.
///
/// The run ends with one question for each such call ([`Outcome::Interrupted`](hanok_graph::Outcome::Interrupted)), whose
/// payload is an [`ApprovalRequest`] and whose answer a [`Decision`]; the calls beside them are made. An answer that is not
/// allowed, or whose arguments do not fit the tool, is refused when it is given, and the question stays open. A question
/// belongs to the arguments that it shows: other arguments are another question. What was approved is what runs.
///
/// That a person is asked, about what, and what they may decide is stored before they are: a process that goes on with other
/// rules asks the same and heeds the answer. A call that was rejected is not made because its rule was loosened or removed
/// meanwhile; one that was approved is still judged by the rules of the process that would make it, and one that those change is
/// asked about once more.
///
/// Without a checkpointer nobody can be asked, and such a call is refused.
///
/// ```
/// use hanok_agent::{Approval, ApprovalRule, DecisionKind, ReactAgent};
/// use hanok_model::ScriptedModel;
///
/// let large = ApprovalRule::new()
///     .when(|request| request.call.arguments.as_str().len() > 1_000)
///     .allow([DecisionKind::Approve, DecisionKind::Reject]);
/// let agent = ReactAgent::builder("mail", "Writes mail", ScriptedModel::new([]))
///     .intercept(Approval::new().tool("send_mail").tool_with("save_file", large))
///     .build()?;
/// # Ok::<(), hanok_agent::AgentBuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Approval {
    tools: BTreeMap<String, ApprovalRule>,
    writes: Option<ApprovalRule>,
}

impl Approval {
    /// Has no call approved yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has each call of the tool `name` approved.
    pub fn tool(self, name: impl Into<String>) -> Self {
        self.tool_with(name, ApprovalRule::new())
    }

    /// Has calls of the tool `name` approved as `rule` says.
    ///
    /// ```
    /// use hanok_agent::{Approval, ApprovalRule};
    ///
    /// let approval = Approval::new()
    ///     .tool("delete_file")
    ///     .tool_with("send_mail", ApprovalRule::new().describe(|_| "Mail leaves the company.".into()));
    /// # drop(approval);
    /// ```
    pub fn tool_with(mut self, name: impl Into<String>, rule: ApprovalRule) -> Self {
        self.tools.insert(name.into(), rule);
        self
    }

    /// Has each call approved of a tool that is not known to read only, as `rule` says: one whose [`Effect`] is not
    /// [`Pure`](Effect::Pure). For tools of others, such as an MCP server's. A tool with a rule of its own follows that.
    ///
    /// ```
    /// use hanok_agent::{Approval, ApprovalRule, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("desk", "Works with the desk's tools", ScriptedModel::new([]))
    ///     .intercept(Approval::new().writes(ApprovalRule::new()))
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn writes(mut self, rule: ApprovalRule) -> Self {
        self.writes = Some(rule);
        self
    }

    /// The rule for a call, if one applies.
    fn rule(&self, request: &ToolRequest<'_>) -> Option<&ApprovalRule> {
        let own = self.tools.get(&request.call.name);
        let writes = || self.writes.as_ref().filter(|_| request.effect != Effect::Pure);
        own.or_else(writes).filter(|rule| rule.applies(request))
    }
}

impl Interceptor for Approval {
    fn name(&self) -> &str {
        "approval"
    }

    async fn admit(&self, request: &ToolRequest<'_>, call: &Call) -> Result<Verdict, ToolError> {
        let Some(rule) = self.rule(request) else { return Ok(Verdict::Make) };
        Ok(match rule.precedent(request, call).await? {
            Some(reason) => Verdict::Pass(reason),
            None => Verdict::Ask(rule.terms(request)),
        })
    }
}

/// The rule by which a person approves the calls of a tool.
#[derive(Clone, Default)]
#[must_use]
pub struct ApprovalRule {
    when: Option<CallFilter>,
    describe: Option<Describe>,
    precedents: Vec<SharedPrecedent>,
    /// What does not depend on the call.
    terms: ApprovalTerms,
}

impl ApprovalRule {
    /// All calls, and all decisions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the calls that wait for a person. Default: all calls.
    ///
    /// ```
    /// use hanok_agent::ApprovalRule;
    ///
    /// // Small sums go without a person.
    /// let large = ApprovalRule::new().when(|request| {
    ///     let arguments = request.call.arguments.decode::<serde_json::Value>();
    ///     arguments.is_ok_and(|arguments| arguments["amount"].as_u64() > Some(100))
    /// });
    /// # drop(large);
    /// ```
    pub fn when(self, when: impl Fn(&ToolRequest<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self { when: Some(Arc::new(when)), ..self }
    }

    /// Does not ask about calls that `precedent` lets pass. Of several the first that has a reason counts. Default: none.
    ///
    /// ```
    /// use hanok_agent::{ApprovalRule, StandingApprovals, StandingScope};
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    ///
    /// let always = StandingApprovals::new(SharedStore::new(InMemoryStore::new()));
    /// let rule = ApprovalRule::new().unless(always.scope(StandingScope::User("kim".into())));
    /// # drop(rule);
    /// ```
    pub fn unless(mut self, precedent: impl Precedent) -> Self {
        self.precedents.push(SharedPrecedent::new(precedent));
        self
    }

    /// Limits the decisions that a person may take. Default: all decisions.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_agent::{Approval, ApprovalRule, DecisionKind};
    ///
    /// let rule = ApprovalRule::new()
    ///     .allow([DecisionKind::Approve, DecisionKind::Reject])
    ///     .within(Duration::from_secs(24 * 60 * 60));
    /// let approval = Approval::new().tool_with("send_mail", rule);
    /// # drop(approval);
    /// ```
    pub fn allow(self, allowed: impl IntoIterator<Item = DecisionKind>) -> Self {
        Self { terms: self.terms.allow(allowed), ..self }
    }

    /// Describes a call to the person, besides its arguments. Default: no description.
    ///
    /// ```
    /// use hanok_agent::ApprovalRule;
    ///
    /// let rule = ApprovalRule::new()
    ///     .describe(|request| format!("{} wants to call {}", request.turn.agent, request.call.name));
    /// # drop(rule);
    /// ```
    pub fn describe(
        self,
        describe: impl Fn(&ToolRequest<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { describe: Some(Arc::new(describe)), ..self }
    }

    /// Limits the time for an answer. Without one in time others are asked ([`escalate`](Self::escalate)), or the call is
    /// [overdue](Self::overdue). [`App::wake`](hanok_graph::App::wake) goes on with threads whose time is over. Default: no limit.
    pub fn within(self, within: Duration) -> Self {
        Self { terms: self.terms.within(within), ..self }
    }

    /// Limits the people who may answer. Default: everybody.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use hanok_agent::{ApprovalRule, Overdue};
    /// use hanok_core::Audience;
    ///
    /// // A clerk has an hour, then the boss has a day; without either the mail is left out.
    /// let (clerk, boss) = (Audience::everybody().role("clerk"), Audience::everybody().name("ann"));
    /// let rule = ApprovalRule::new()
    ///     .audience(clerk)
    ///     .within(Duration::from_secs(3_600))
    ///     .escalate(boss, Duration::from_secs(24 * 3_600))
    ///     .overdue(Overdue::Skip);
    /// # drop(rule);
    /// ```
    pub fn audience(self, audience: Audience) -> Self {
        Self { terms: self.terms.audience(audience), ..self }
    }

    /// Asks others, for the time `within`, when nobody of those before has answered in [time](Self::within). Default: nobody.
    pub fn escalate(self, audience: Audience, within: Duration) -> Self {
        Self { terms: self.terms.escalate(audience, within), ..self }
    }

    /// Sets what becomes of the call when the last of them have not answered in time. It is never made. Default:
    /// [`Overdue::Reject`].
    pub fn overdue(self, overdue: Overdue) -> Self {
        Self { terms: self.terms.overdue(overdue), ..self }
    }

    /// Sets the risk of the calls, which people are shown. Default: by the tool's [`Effect`](hanok_core::Effect).
    pub fn risk(self, risk: Risk) -> Self {
        Self { terms: self.terms.risk(risk), ..self }
    }

    /// Names the revision of the rule, for the record. Default: none.
    pub fn revision(self, revision: impl Into<String>) -> Self {
        Self { terms: self.terms.revision(revision), ..self }
    }

    /// Sets whether people are offered to say "always": false for a rule that asks about the next call whatever they said. It changes
    /// nothing of what [passes](Self::unless). Default: true.
    pub fn may_stand(self, may_stand: bool) -> Self {
        Self { terms: self.terms.may_stand(may_stand), ..self }
    }

    fn applies(&self, request: &ToolRequest<'_>) -> bool {
        self.when.as_ref().is_none_or(|when| when(request))
    }

    /// The reason why nobody is asked, if there is one.
    pub(super) async fn precedent(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Option<String>, ToolError> {
        for precedent in &self.precedents {
            if let Some(reason) = precedent.passes(request, call).await? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// The terms on which it asks about a call.
    pub(super) fn terms(&self, request: &ToolRequest<'_>) -> ApprovalTerms {
        let description = self.describe.as_ref().map(|describe| describe(request));
        ApprovalTerms { description, ..self.terms.clone() }
    }
}

impl fmt::Debug for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRule")
            .field("when", &self.when.is_some())
            .field("precedents", &self.precedents)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}
