//! The interceptors of a call, one after the other, and the call at their end.

use hanok_core::Call;
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, SharedModel, ToolError, ToolOutput,
};

use super::{SharedInterceptor, ToolRequest, Turn, Verdict};
use crate::registry::Registered;

/// What stands behind an interceptor of a model's call: the interceptors that were added later, and the model. It may be
/// run several times.
#[derive(Debug, Clone, Copy)]
pub struct NextModel<'a> {
    rest: &'a [SharedInterceptor],
    model: &'a SharedModel,
    turn: Turn<'a>,
}

impl<'a> NextModel<'a> {
    pub(crate) fn new(
        rest: &'a [SharedInterceptor],
        model: &'a SharedModel,
        turn: Turn<'a>,
    ) -> Self {
        Self { rest, model, turn }
    }

    /// Asks.
    ///
    /// # Errors
    ///
    /// What the model, or an interceptor in between, says.
    pub async fn run(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        match self.rest.split_first() {
            Some((first, rest)) => {
                first.0.around_model_boxed(request, call, Self { rest, ..*self }).await
            }
            None => self.model.chat(request, call).await,
        }
    }

    /// The same with another model at the end.
    #[must_use]
    pub fn to(self, model: &'a SharedModel) -> Self {
        Self { model, ..self }
    }

    /// The model's name.
    pub fn model(&self) -> &'a str {
        self.model.name()
    }

    /// The turn that the call belongs to.
    pub fn turn(&self) -> Turn<'a> {
        self.turn
    }
}

/// What stands behind an interceptor of a tool's call: the interceptors that were added later, and the tool. It may be run
/// several times.
#[derive(Debug, Clone, Copy)]
pub struct NextTool<'a> {
    rest: &'a [SharedInterceptor],
    tool: &'a Registered,
}

impl<'a> NextTool<'a> {
    pub(crate) fn new(rest: &'a [SharedInterceptor], tool: &'a Registered) -> Self {
        Self { rest, tool }
    }

    /// Makes the call, within the time that the tool has.
    ///
    /// # Errors
    ///
    /// What the tool, or an interceptor in between, says; [`ToolError::Arguments`] when the arguments do not fit the tool any
    /// more.
    pub async fn run(&self, asked: ToolRequest<'_>, call: &Call) -> Result<ToolOutput, ToolError> {
        match self.rest.split_first() {
            Some((first, rest)) => {
                first.0.around_tool_boxed(asked, call, Self { rest, ..*self }).await
            }
            None => self.tool.make(&asked.call.arguments, call, asked.turn.language).await,
        }
    }
}

/// What becomes of `asked`: the first verdict that is not to make the call, or the arguments as they were changed last.
pub(crate) async fn admit(
    interceptors: &[SharedInterceptor],
    mut asked: ToolRequest<'_>,
    call: &Call,
) -> Result<Verdict, ToolError> {
    let mut verdict = Verdict::Make;
    for interceptor in interceptors {
        match interceptor.0.admit_boxed(&asked, call).await? {
            Verdict::Make => {}
            Verdict::Change(arguments) => {
                asked.call.arguments = arguments.clone();
                verdict = Verdict::Change(arguments);
            }
            other => return Ok(other),
        }
    }
    Ok(verdict)
}
