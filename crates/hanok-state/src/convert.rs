//! Messages in the JSON shapes of others.

mod langchain;
mod openai;

use thiserror::Error;

/// Why JSON is no message.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MessageFormatError {
    /// The role is none that there is.
    #[error("`{role}` is no role of a message; there are {known}")]
    UnknownRole {
        /// What was named.
        role: String,
        /// The roles of that format.
        known: &'static str,
    },
    /// Something is missing or of another type.
    #[error("{what} is not {expected}")]
    Shape {
        /// Which part of the message.
        what: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

fn shape<T>(what: &'static str, expected: &'static str) -> Result<T, MessageFormatError> {
    Err(MessageFormatError::Shape { what, expected })
}
