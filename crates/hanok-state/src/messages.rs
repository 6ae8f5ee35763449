//! Messages and conversations, and the JSON shapes of others.
//!
//! A [`Message`](message::Message) has a [role] and a [content]. A [conversation] holds messages by id, and an [update] holds the
//! operations on it. [`openai`] and [`langchain`] read and write messages in the shapes of those, and [`read`] tells which shape a JSON has.
//!
//! Invariants
//!
//! - Clones of messages and of conversations share their parts.
//! - A message in a conversation has an id of its own.
//! - A part of a message that has no form here stays as its JSON.
//!
//! Besides the ground, the room imports `collections`, for the trait that its conversation implements.

pub(crate) mod content;
pub(crate) mod conversation;
#[cfg(feature = "schema")]
mod json_schema;
mod langchain;
pub(crate) mod message;
mod openai;
pub(crate) mod read;
pub(crate) mod role;
pub(crate) mod update;
