//! What a conversation keeps, and what is learnt from it.

mod evaluation;
mod expand;
mod learning;
mod node;
mod plan;
mod random;
mod support;
