//! Calls among those that are made with them.

use std::sync::Arc;

use hanok_core::Call;
use hanok_graph::Context;
use hanok_state::{Messages, ToolCall};

use crate::{tools::registry::Registered, usage::TurnUsage};

/// The turn that calls belong to: what interceptors see of it.
#[derive(Debug, Clone, Copy)]
pub struct ToolTurn<'a> {
    /// The conversation, to the reply that asks for the calls.
    pub messages: &'a Messages,
    /// The usage of the turn before them.
    pub usage: &'a TurnUsage,
}

/// Calls that are made together.
#[derive(Clone, Copy)]
pub(crate) struct ToolRound<'a> {
    pub(crate) turn: ToolTurn<'a>,
    pub(crate) calls: &'a [ToolCall],
    /// Puts parts of the run into a call, beside the services.
    pub(crate) provide: &'a (dyn Fn(Call) -> Call + Sync),
}

impl ToolRound<'_> {
    pub(super) fn call<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        call: &ToolCall,
    ) -> Call {
        (self.provide)(tool_call(context, call))
    }
}

/// The context of `call`.
pub(super) fn tool_call<C: Send + Sync + 'static>(context: &Context<C>, call: &ToolCall) -> Call {
    context.call("tool", &call.name, call.arguments.as_str()).identified(&call.id)
}

/// A call among those that are made with it.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) turn: ToolTurn<'a>,
    pub(super) before: &'a [ToolCall],
    /// The model wrote it as text, without a mark.
    pub(super) is_unmarked: bool,
}

/// A call that is made, and its tool.
#[derive(Clone, Copy)]
pub(super) struct CallPlace<'a> {
    pub(super) place: Place<'a>,
    pub(super) call: &'a ToolCall,
    pub(super) tool: &'a Arc<Registered>,
}
