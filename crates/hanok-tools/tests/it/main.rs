//! What the tools do, and what they refuse.

mod clock;
#[path = "../../../hanok-egress/tests/it/support/mod.rs"]
mod support;
mod todos;
mod tools;
