//! What a conversation keeps.

mod expand;
mod node;
mod plan;
mod random;
mod support;
