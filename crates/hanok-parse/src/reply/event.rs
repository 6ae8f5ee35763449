//! What a stream tells while it reads.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{
    declared::CallKind,
    reply::{error::ParseError, note::Note},
};

/// What a stream tells while it reads, in the order of the text.
///
/// Folded, with what was taken back left out, the events are the [`Reply`](crate::Reply): pieces of one kind joined are
/// its content, thought, reasoning and answer, and the pieces of a call's arguments are its JSON, byte for byte. No mark
/// of a format is ever part of them.
///
/// ```
/// use hanok_parse::{Declared, Event, Parser};
///
/// let parser = Parser::new(Declared::new().tool("find"));
/// let mut stream = parser.stream();
/// let mut events = Vec::new();
/// for piece in ["Let me see.\n<tool_", "call>{\"name\": \"find\", \"argu", "ments\": {\"q\": 'x'}}</tool_call>"] {
///     stream.feed(piece, &mut events);
/// }
/// let reply = stream.finish(&mut events);
/// let json: String = events
///     .iter()
///     .filter_map(|event| match event {
///         Event::Arguments { json, .. } => Some(json.as_str()),
///         _ => None,
///     })
///     .collect();
/// assert_eq!(json, reply.calls[0].arguments.as_str());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "event", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Event {
    /// More of the content.
    Content {
        /// The piece.
        text: String,
    },
    /// More of what stands after `Thought:` labels.
    Thought {
        /// The piece.
        text: String,
    },
    /// More of the text between reasoning marks.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// More of the final answer.
    Answer {
        /// The piece.
        text: String,
    },
    /// A call begins. Its name is whole and declared.
    CallStarted {
        /// Its place among the calls of the reply, from 0. One that is dropped, or taken back, leaves its number to the next.
        call: usize,
        /// A tool call or a delegation.
        kind: CallKind,
        /// The name as it was declared.
        name: String,
        /// The id that the text gives the call, where that stands before the arguments. A call that is told whole has the
        /// id of its [`Call`](crate::Call).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        id: Option<String>,
    },
    /// More of a call's arguments.
    Arguments {
        /// Which call.
        call: usize,
        /// The piece of the JSON text.
        json: String,
    },
    /// The arguments of a call so far are void, and come again: a key stood in them twice.
    ArgumentsReset {
        /// Which call.
        call: usize,
    },
    /// A call is complete. It counts when the text has ended and it was not taken back.
    CallFinished {
        /// Which call.
        call: usize,
    },
    /// A call that began is none: the text breaks off in it, or it cannot be read.
    CallDropped {
        /// Which call.
        call: usize,
    },
    /// All that was told so far is void, but for reasoning: a reasoning mark was closed that was never opened. What stood
    /// before it and was not told as reasoning follows as such.
    Retracted,
    /// Something was meant as a call and cannot be one.
    Failed {
        /// What is wrong with it.
        error: ParseError,
    },
    /// Something was repaired or left out.
    Noted {
        /// What, and where.
        note: Note,
    },
    /// The text has ended.
    Finished,
}

impl Event {
    /// Which call it is about, if it is about one.
    pub(crate) fn call_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::CallStarted { call, .. }
            | Self::Arguments { call, .. }
            | Self::ArgumentsReset { call }
            | Self::CallFinished { call }
            | Self::CallDropped { call } => Some(call),
            _ => None,
        }
    }
}
