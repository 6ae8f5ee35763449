//! What the tests of the examples share: an example's program, questions with what is expected of their answers, a model whose replies
//! are kept, a model's server, an embedder of topics.

pub mod cached;
pub mod program;
pub mod questions;
pub mod served;
pub mod thursday;
pub mod topics;
