//! Policies for a tool's own errors.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_model::ToolError;
use hanok_parse::Language;
use hanok_state::{Arguments, ToolCall};

use crate::{
    observation::{FaultKind, Observation},
    prompt,
};

/// The handling of one error of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handling {
    /// The model reads it, in the agent's words and the tool's.
    ToModel,
    /// The model reads this instead.
    Say(String),
    /// The run fails with [`AgentError::ToolFailed`](crate::AgentError::ToolFailed), and can be resumed.
    Propagate,
}

/// A call whose tool gave an error, panicked or took too long.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FailedCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments of the call.
    pub arguments: &'a Arguments,
    /// The kind of fault that the model would read.
    pub kind: FaultKind,
    /// The error itself.
    pub error: &'a ToolError,
}

/// The policy for a tool's own errors: by kind, by function, or one handling for all. Default: the model reads them.
///
/// The policy covers the errors of tools alone. A call of a tool that is not there, or whose arguments do not fit the
/// schema, is the model's own mistake and always an observation; a tool that asks a person, or is asked to stop, always ends
/// the run.
///
/// A failed run resumes with [`Thread::resume`](hanok_graph::Thread::resume): the failed call is made again, those that were
/// finished beside it are not. A call of a tool that is [`AtMostOnce`](hanok_core::Effect::AtMostOnce) is not made again
/// either; its observation says that nobody knows whether it took effect.
///
/// ```
/// use hanok_agent::{FaultKind, Handling, ToolErrors};
///
/// // A broken tool ends the run; one that is slow does not.
/// let errors = ToolErrors::propagate().for_kind(FaultKind::TimedOut, Handling::ToModel);
/// // Or as a function of the error.
/// let errors = ToolErrors::by(|failed| match failed.error.to_string().contains("disk") {
///     true => Handling::Propagate,
///     false => Handling::Say(format!("`{}` does not work today.", failed.tool)),
/// });
/// # drop(errors);
/// ```
#[derive(Clone, Default)]
pub struct ToolErrors {
    kinds: BTreeMap<FaultKind, Handling>,
    rest: Rest,
}

type Decide = dyn Fn(&FailedCall<'_>) -> Handling + Send + Sync;

#[derive(Clone, Default)]
enum Rest {
    #[default]
    ToModel,
    Propagate,
    By(Arc<Decide>),
}

impl ToolErrors {
    /// The model reads every error.
    #[must_use]
    pub fn to_model() -> Self {
        Self::default()
    }

    /// Every error fails the run, but for arguments that the tool refuses: those are the model's mistake.
    #[must_use]
    pub fn propagate() -> Self {
        Self { rest: Rest::Propagate, ..Self::default() }
    }

    /// `decide` says what becomes of each error. It has to say the same of the same error.
    ///
    /// ```
    /// use hanok_agent::{Handling, ToolErrors};
    ///
    /// let errors = ToolErrors::by(|failed| match failed.tool {
    ///     "payments" => Handling::Propagate,
    ///     tool => Handling::Say(format!("`{tool}` is closed; answer without it.")),
    /// });
    /// # drop(errors);
    /// ```
    #[must_use]
    pub fn by(decide: impl Fn(&FailedCall<'_>) -> Handling + Send + Sync + 'static) -> Self {
        Self { rest: Rest::By(Arc::new(decide)), ..Self::default() }
    }

    /// Sets the handling of errors of this kind, before any other rule.
    ///
    /// The kinds that a tool has are [`BadArguments`](FaultKind::BadArguments), [`Failed`](FaultKind::Failed),
    /// [`Refused`](FaultKind::Refused), [`TimedOut`](FaultKind::TimedOut), [`Panicked`](FaultKind::Panicked),
    /// [`Exhausted`](FaultKind::Exhausted) and [`Unavailable`](FaultKind::Unavailable).
    ///
    /// ```
    /// use hanok_agent::{FaultKind, Handling, ToolErrors};
    ///
    /// let later = Handling::Say("The service is down until noon.".into());
    /// let errors = ToolErrors::to_model().for_kind(FaultKind::Unavailable, later);
    /// # drop(errors);
    /// ```
    #[must_use]
    pub fn for_kind(mut self, kind: FaultKind, handling: Handling) -> Self {
        self.kinds.insert(kind, handling);
        self
    }

    fn handling(&self, failed: &FailedCall<'_>) -> Handling {
        if let Some(handling) = self.kinds.get(&failed.kind) {
            return handling.clone();
        }
        match &self.rest {
            Rest::By(decide) => decide(failed),
            Rest::Propagate if failed.kind != FaultKind::BadArguments => Handling::Propagate,
            Rest::ToModel | Rest::Propagate => Handling::ToModel,
        }
    }

    /// The observation of `call`, whose tool gave `error`; the error itself where the run is to fail.
    pub(crate) fn observe(
        &self,
        call: &ToolCall,
        error: ToolError,
        language: Language,
    ) -> Result<Observation, ToolError> {
        let (tool, kind) = (call.name.as_str(), kind(&error));
        let failed = FailedCall { tool, arguments: &call.arguments, kind, error: &error };
        match self.handling(&failed) {
            Handling::Propagate => Err(error),
            Handling::Say(text) => Ok(Observation::fault(kind, prompt::bounded(text, language))),
            Handling::ToModel => {
                Ok(Observation::fault(kind, prompt::tool_error(tool, &error, language)))
            }
        }
    }
}

/// The kind of fault that a tool's error is to a model.
fn kind(error: &ToolError) -> FaultKind {
    match error {
        ToolError::Arguments(_) => FaultKind::BadArguments,
        ToolError::Refused { .. } => FaultKind::Refused,
        ToolError::TimedOut { .. } => FaultKind::TimedOut,
        ToolError::Panicked => FaultKind::Panicked,
        ToolError::PoolExhausted { .. } => FaultKind::Exhausted,
        ToolError::Unavailable { .. } => FaultKind::Unavailable,
        _ => FaultKind::Failed,
    }
}

impl fmt::Debug for ToolErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = match self.rest {
            Rest::ToModel => "to model",
            Rest::Propagate => "propagate",
            Rest::By(_) => "by function",
        };
        f.debug_struct("ToolErrors").field("kinds", &self.kinds).field("rest", &rest).finish()
    }
}
