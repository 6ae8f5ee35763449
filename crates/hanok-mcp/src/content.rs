//! What servers have beside tools: resources and prompts, as data.
//!
//! Every text is bounded and has its hidden characters shown. An address is text: it goes back to the server that named it, when
//! somebody reads that resource, and nothing is fetched from it.

mod block;
mod prompt;
mod resource;

pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptRole};
pub use resource::{Resource, ResourceContent, ResourceTemplate};

pub(crate) use block::block;
