//! The room `messages`.

pub(crate) mod content;
pub(crate) mod conversation;
mod langchain;
pub(crate) mod message;
mod openai;
pub(crate) mod role;
pub(crate) mod update;
