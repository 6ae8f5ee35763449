//! Calls before they are made.

use std::{borrow::Cow, sync::Arc};

use hanok_core::Call;
use hanok_state::ToolCall;

use crate::{error::ToolCallError, observation::Observed, tools::registry::Registered};

/// A call and its judgement.
pub(crate) struct JudgedCall<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) outcome: Result<Judged<'a>, ToolCallError>,
    pub(crate) context: Call,
}

/// The judgement of a call.
pub(crate) enum Judged<'a> {
    /// It is made: as the model wrote it, or as an interceptor changed it.
    Make(Cow<'a, ToolCall>, Arc<Registered>),
    /// It is not made, and this is its observation.
    Observed(Observed),
}

impl JudgedCall<'_> {
    /// The call that is to be made, if it is.
    pub(crate) fn to_make(&self) -> Option<&ToolCall> {
        match &self.outcome {
            Ok(Judged::Make(call, _)) => Some(call),
            _ => None,
        }
    }
}
