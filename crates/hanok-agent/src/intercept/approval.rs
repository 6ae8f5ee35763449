//! Calls that a person approves.

mod decision;
mod request;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use hanok_core::{AskError, Call, Check, Request, Stored};
use hanok_model::{ToolError, ToolOutput};
use hanok_state::{Arguments, ToolCall};

pub use self::{
    decision::{Decision, DecisionKind},
    request::ApprovalRequest,
};
use super::{Interceptor, ToolRequest, Verdict};
use crate::prompt;

type CallFilter = Arc<dyn Fn(&ToolRequest<'_>) -> bool + Send + Sync>;
type Describe = Arc<dyn Fn(&ToolRequest<'_>) -> String + Send + Sync>;

/// Has a person approve the calls of some tools before they are made; the others do not wait.
///
/// The run ends with one question for each such call ([`Outcome::Interrupted`](hanok_graph::Outcome::Interrupted)), whose
/// payload is an [`ApprovalRequest`] and whose answer a [`Decision`]; the calls beside them are made. An answer that is not
/// allowed, or whose arguments do not fit the tool, is refused when it is given, and the question stays open. A question
/// belongs to the arguments that it shows: other arguments are another question. What was approved is what runs.
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
}

impl Interceptor for Approval {
    async fn admit(&self, request: &ToolRequest<'_>, call: &Call) -> Result<Verdict, ToolError> {
        match self.tools.get(&request.call.name) {
            Some(rule) if rule.applies(request) => rule.ask(request, call).await,
            _ => Ok(Verdict::Make),
        }
    }
}

/// The rule by which a person approves the calls of a tool.
#[derive(Clone, Default)]
#[must_use]
pub struct ApprovalRule {
    when: Option<CallFilter>,
    allowed: Option<Vec<DecisionKind>>,
    describe: Option<Describe>,
    within: Option<Duration>,
}

impl ApprovalRule {
    /// All calls, and all decisions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects the calls that wait for a person. The filter has to answer the same for the same call. Default: all calls.
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
        Self { allowed: Some(allowed.into_iter().collect()), ..self }
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

    /// Limits the time for an answer. A later answer refuses the call. Default: no limit.
    pub fn within(self, within: Duration) -> Self {
        Self { within: Some(within), ..self }
    }

    fn applies(&self, request: &ToolRequest<'_>) -> bool {
        self.when.as_ref().is_none_or(|when| when(request))
    }

    fn allowed(&self) -> &[DecisionKind] {
        self.allowed.as_deref().unwrap_or(&DecisionKind::ALL)
    }

    /// Asks a person, and says what becomes of the call.
    pub(super) async fn ask(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Verdict, ToolError> {
        let failed = |error: hanok_core::BoxError| ToolError::Waiting(AskError::Failed(error));
        let shown = self.approval_request(request);
        let shown_to_reader = shown.clone();
        let read = move |answer: &Stored| shown_to_reader.read(answer).map(drop);
        let question = Request {
            check: Some(Check::new("a decision about this call", read)),
            schema: Some(shown.answers(request.spec.schema()).to_string().into()),
            deadline: self.within.map(|within| call.clock().now().plus(within)),
            ..Request::new(Stored::encode(&shown).map_err(|error| failed(error.into()))?)
        };
        let language = request.turn.language;
        let answer = match call.question(question).await {
            Err(AskError::Expired(_)) => {
                return Ok(Verdict::Refuse(prompt::unanswered(language).to_owned()));
            }
            answer => answer?,
        };
        let decision = shown.read(&answer).map_err(failed)?;
        Ok(match decision {
            Decision::Approve => Verdict::Make,
            Decision::Edit { arguments } => {
                Verdict::Change(Arguments::new(arguments.0.to_string()))
            }
            Decision::Reject { message } => {
                Verdict::Refuse(prompt::rejected(message.as_deref(), language))
            }
            Decision::Respond { result } => Verdict::Give(ToolOutput::new(result)),
        })
    }

    fn approval_request(&self, request: &ToolRequest<'_>) -> ApprovalRequest {
        let ToolCall { id: call_id, name: tool, arguments } = request.call.clone();
        ApprovalRequest {
            agent: request.turn.agent.to_owned(),
            call_id,
            tool,
            bytes: arguments.as_str().len(),
            digest: digest(arguments.as_str()),
            arguments,
            description: self.describe.as_ref().map(|describe| describe(request)),
            allowed: self.allowed().to_vec(),
        }
    }
}

impl fmt::Debug for ApprovalRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRule")
            .field("when", &self.when.is_some())
            .field("allowed", &self.allowed())
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}

/// The BLAKE3 hash of `text`, as hex.
pub(super) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
