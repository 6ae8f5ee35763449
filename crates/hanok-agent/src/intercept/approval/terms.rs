//! The terms of a question about a call.

use std::time::Duration;

use hanok_core::{Audience, Risk};

use super::{
    decision::DecisionKind,
    overdue::{Escalation, Overdue},
};

/// The terms on which a person is asked about a call: what they read besides it, what they may decide, and until when.
///
/// ```
/// use hanok_agent::{ApprovalTerms, DecisionKind, Interceptor, ToolRequest, Verdict};
/// use hanok_core::Call;
/// use hanok_model::ToolError;
///
/// /// Asks about the first call of a reply.
/// #[derive(Debug)]
/// struct First;
///
/// impl Interceptor for First {
///     async fn admit(&self, request: &ToolRequest<'_>, _: &Call) -> Result<Verdict, ToolError> {
///         if !request.before.is_empty() {
///             return Ok(Verdict::Make);
///         }
///         let terms = ApprovalTerms::new().allow([DecisionKind::Approve, DecisionKind::Reject]);
///         Ok(Verdict::Ask(terms.describe("It is the first call of the reply.")))
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ApprovalTerms {
    pub(crate) description: Option<String>,
    pub(crate) allowed: Vec<DecisionKind>,
    pub(crate) within: Option<Duration>,
    pub(crate) audience: Audience,
    pub(crate) escalations: Vec<Escalation>,
    pub(crate) overdue: Overdue,
    pub(crate) risk: Option<Risk>,
    pub(crate) revision: Option<String>,
    pub(crate) may_stand: bool,
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self {
            description: None,
            allowed: DecisionKind::ALL.to_vec(),
            within: None,
            audience: Audience::everybody(),
            escalations: Vec::new(),
            overdue: Overdue::default(),
            risk: None,
            revision: None,
            may_stand: true,
        }
    }
}

impl ApprovalTerms {
    /// All decisions, without words and without a limit of time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the decisions that the person may take. Default: all decisions.
    pub fn allow(self, allowed: impl IntoIterator<Item = DecisionKind>) -> Self {
        Self { allowed: allowed.into_iter().collect(), ..self }
    }

    /// Sets the text that the person reads besides the call. Default: none.
    pub fn describe(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
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

    /// Sets what becomes of the call when the last of them have not answered in time. Default: [`Overdue::Reject`].
    pub fn overdue(self, overdue: Overdue) -> Self {
        Self { overdue, ..self }
    }

    /// Sets the risk of the call. Default: by the tool's [`Effect`](hanok_core::Effect).
    pub fn risk(self, risk: Risk) -> Self {
        Self { risk: Some(risk), ..self }
    }

    /// Names the revision of the rule, for the record. Default: none.
    pub fn revision(self, revision: impl Into<String>) -> Self {
        Self { revision: Some(revision.into()), ..self }
    }

    /// Sets whether a person who says "always" is heeded for the next call, so that they are offered to say so. Default: true.
    pub fn may_stand(self, may_stand: bool) -> Self {
        Self { may_stand, ..self }
    }
}
