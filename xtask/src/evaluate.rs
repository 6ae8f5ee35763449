//! `cargo xtask evaluate`: builds what asks questions, and runs it.
//!
//! Without a name these are questions about the sample documents; `team`, `law`, `figures` and `memory` are tests that print their table.

use crate::command::Tool;
use crate::result::Result;

/// What has a table of its own: its name, and the package and the test that print it.
const TABLES: [(&str, &str, &str); 4] = [
    ("team", "real-estate", "team"),
    ("law", "real-estate", "law"),
    ("figures", "hanok-supervisor", "grounding"),
    ("memory", "hanok-memory", "evaluation"),
];

/// Hands `arguments` on and says whether all of it could be measured.
///
/// # Errors
///
/// Cargo could not be started.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let named = |(name, ..): &&(&str, &str, &str)| arguments.first().is_some_and(|it| it == name);
    if let Some((_, package, test)) = TABLES.iter().find(named) {
        return Tool::cargo()
            .arguments(["test", "--quiet", "--package", package, "--test", test, "--"])
            .arguments(["--nocapture", "--test-threads", "1"])
            .shown();
    }
    Tool::cargo()
        .arguments(["run", "--release", "--quiet", "--package", "hanok-bench-retrieval", "--"])
        .arguments(arguments)
        .shown()
}
