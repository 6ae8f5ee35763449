//! The terms of a question about a call.

use std::time::Duration;

use super::decision::DecisionKind;

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
}

impl Default for ApprovalTerms {
    fn default() -> Self {
        Self { description: None, allowed: DecisionKind::ALL.to_vec(), within: None }
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

    /// Limits the time for an answer. A later answer refuses the call. Default: no limit.
    pub fn within(self, within: Duration) -> Self {
        Self { within: Some(within), ..self }
    }
}
