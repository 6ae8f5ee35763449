//! What the tools do, and what they refuse.

mod clock;
mod files;
mod python_repl;
mod read_file;
#[path = "../../../hanok-egress/tests/it/server/mod.rs"]
mod server;
#[path = "../../../hanok-egress/tests/it/support/mod.rs"]
mod support;
mod todos;
mod tools;
mod web_tools;
