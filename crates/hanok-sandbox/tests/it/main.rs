//! What the tools reach, and what they refuse.

mod files;
mod python_repl;
mod read_file;
#[cfg(feature = "web")]
#[path = "../../../hanok-egress/tests/it/server/mod.rs"]
mod server;
#[path = "../../../hanok-egress/tests/it/support/mod.rs"]
mod support;
mod web_tools;
