//! The interceptors of a call, one after the other, and the call at their end.

use hanok_core::Call;
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, ModelError, SharedModel, ToolError, ToolOutput,
};

use super::{SharedInterceptor, ToolRequest, TurnContext};
use crate::{
    reply::foreign,
    tools::{execution, registry::Registered},
};

/// The rest of a model's call, behind an interceptor: the interceptors that were added later, and the model. It may be
/// run several times.
#[derive(Debug, Clone, Copy)]
pub struct NextModel<'a> {
    rest: &'a [SharedInterceptor],
    model: &'a SharedModel,
    turn: TurnContext<'a>,
}

impl<'a> NextModel<'a> {
    pub(crate) fn new(
        rest: &'a [SharedInterceptor],
        model: &'a SharedModel,
        turn: TurnContext<'a>,
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
            // At the last moment: interceptors, spans and digests of prompts see the words of others as they are.
            None => self.model.chat(foreign::neutralised(request), call).await,
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
    pub fn turn(&self) -> TurnContext<'a> {
        self.turn
    }
}

/// The rest of a tool's call, behind an interceptor: the interceptors that were added later, and the tool. It may be run
/// several times.
#[derive(Debug, Clone, Copy)]
pub struct NextTool<'a> {
    rest: &'a [SharedInterceptor],
    tool: &'a Registered,
    request: &'a ToolRequest<'a>,
}

impl<'a> NextTool<'a> {
    pub(crate) fn new(
        rest: &'a [SharedInterceptor],
        tool: &'a Registered,
        request: &'a ToolRequest<'a>,
    ) -> Self {
        Self { rest, tool, request }
    }

    /// Makes the call, within the time that the tool has.
    ///
    /// # Errors
    ///
    /// What the tool, or an interceptor in between, says.
    pub async fn run(&self, call: &Call) -> Result<ToolOutput, ToolError> {
        match self.rest.split_first() {
            Some((first, rest)) => {
                first.0.around_tool_boxed(self.request, call, Self { rest, ..*self }).await
            }
            None => execution::run_tool(&self.tool.tool, &self.request.call.arguments, call).await,
        }
    }
}
