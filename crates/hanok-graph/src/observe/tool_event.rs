//! What is told of a tool while it runs.

use hanok_core::Stored;

/// What is told of a call of a tool. The [event](crate::Event::call) names the call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolEvent {
    /// The call is made now. One that stops with its run, because it asks a person, has no end yet, and begins again.
    Started {
        /// The arguments, as JSON text.
        arguments: String,
    },
    /// A part of the result, which the tool sent with [`Call::output`](hanok_core::Call::output).
    Output {
        /// The part.
        item: Stored,
    },
    /// The call has a result.
    Ended {
        /// The result, as a model reads it.
        text: String,
    },
    /// The call failed.
    Failed {
        /// The error.
        error: String,
    },
}
