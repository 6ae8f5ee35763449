//! An example's program, run by its tests as somebody would run it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    env,
    process::{Command, Output, Stdio},
};

/// The program of the example `name`, built beside the test, with `arguments`, the offline model and nothing to read.
///
/// # Panics
///
/// The program is not built.
pub fn command(name: &str, arguments: &[&str]) -> Command {
    let test = env::current_exe().unwrap();
    let path = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "build it first: cargo build --example {name}");
    let mut command = Command::new(path);
    for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_EMBEDDING_MODEL"] {
        command.env_remove(name);
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// How a program ended, and what it said.
#[derive(Debug)]
pub struct Said {
    /// Its exit.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

/// What `output` says.
///
/// # Panics
///
/// The program panicked, or printed what acts on a terminal, or no text.
pub fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let said =
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    for text in [&said.out, &said.err] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    said
}
