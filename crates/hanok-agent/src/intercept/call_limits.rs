//! Limits on the calls of a turn.

use std::collections::BTreeMap;

use hanok_core::{Call, Limit};
use hanok_model::{ChatReply, ChatRequest, ModelError, ToolError};

use super::{Interceptor, ToolRequest, Verdict, chain::NextModel};
use crate::prompt;

/// The effect of a limit on the call of a tool that passes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exceeded {
    /// It is not made, its observation says so, and the turn goes on.
    #[default]
    Refuse,
    /// It is not made, and the run ends with that limit
    /// ([`Outcome::LimitReached`](hanok_graph::Outcome::LimitReached)).
    End,
}

/// Limits on the calls of an agent's turn, in all processes together. A limit of the model ends the run
/// ([`Outcome::LimitReached`](hanok_graph::Outcome::LimitReached)); one of tools does as [`CallLimits::exceeded`] says.
///
/// Calls of one reply count in their order. A [`Budget`](hanok_core::Budget) limits all agents and nodes of a run together.
///
/// ```
/// use hanok_agent::{CallLimits, Exceeded};
///
/// let limits = CallLimits::new().model_calls(8).tool_calls(20).tool("web_search", 3);
/// # drop(limits.exceeded(Exceeded::Refuse));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct CallLimits {
    model: Option<u64>,
    tools: Option<u64>,
    by_tool: BTreeMap<String, u64>,
    exceeded: Exceeded,
}

impl CallLimits {
    /// No limits yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the answers of the model in a turn. Attempts without an answer do not count. Default: no limit.
    pub fn model_calls(self, most: u64) -> Self {
        Self { model: Some(most), ..self }
    }

    /// Limits the calls of all tools in a turn. Default: no limit.
    pub fn tool_calls(self, most: u64) -> Self {
        Self { tools: Some(most), ..self }
    }

    /// Limits the calls of the tool `name` in a turn. Default: no limit.
    ///
    /// ```
    /// use hanok_agent::CallLimits;
    ///
    /// // Searches are dear, everything else is not.
    /// let limits = CallLimits::new().tool("web_search", 3).tool("pdf_search", 10);
    /// # drop(limits);
    /// ```
    pub fn tool(mut self, name: impl Into<String>, most: u64) -> Self {
        self.by_tool.insert(name.into(), most);
        self
    }

    /// Sets the effect of the limits of tools. Default: [`Exceeded::Refuse`].
    ///
    /// ```
    /// use hanok_agent::{CallLimits, Exceeded};
    ///
    /// // Past ten searches the run ends, and a larger budget resumes it.
    /// let limits = CallLimits::new().tool("web_search", 10).exceeded(Exceeded::End);
    /// # drop(limits);
    /// ```
    pub fn exceeded(self, exceeded: Exceeded) -> Self {
        Self { exceeded, ..self }
    }

    /// The limit that `request` passes, and whether it is the tool's own.
    fn passed(&self, request: &ToolRequest<'_>) -> Option<(u64, bool)> {
        let name = request.call.name.as_str();
        let made = &request.turn.usage.tools;
        let before = |calls: usize| u64::try_from(calls).unwrap_or(u64::MAX);
        let all = made.values().sum::<u64>().saturating_add(before(request.before.len()));
        let equal = request.before.iter().filter(|call| call.name == name).count();
        let own = made.get(name).copied().unwrap_or_default().saturating_add(before(equal));
        let of_tool = self.by_tool.get(name).filter(|most| own >= **most);
        let of_all = self.tools.filter(|most| all >= *most);
        of_tool.map(|most| (*most, true)).or(of_all.map(|most| (most, false)))
    }
}

impl Interceptor for CallLimits {
    async fn admit(&self, request: &ToolRequest<'_>, call: &Call) -> Result<Verdict, ToolError> {
        let Some((most, own)) = self.passed(request) else { return Ok(Verdict::Make) };
        match self.exceeded {
            Exceeded::End => {
                let over = call.spend().refuse(Limit::ToolCalls(most));
                Err(ToolError::OverBudget(over.0))
            }
            Exceeded::Refuse => Ok(Verdict::Refuse(prompt::call_limit(
                own.then_some(request.call.name.as_str()),
                most,
                request.turn.language,
            ))),
        }
    }

    async fn around_model(
        &self,
        request: ChatRequest,
        call: &Call,
        next: NextModel<'_>,
    ) -> Result<ChatReply, ModelError> {
        match self.model.filter(|most| next.turn().usage.spent.model_calls >= *most) {
            Some(most) => Err(call.spend().refuse(Limit::ModelCalls(most)).into()),
            None => next.run(request, call).await,
        }
    }
}
