//! `cargo xtask evaluate`: builds what asks the sample documents questions, and runs it.

use crate::command::Tool;
use crate::result::Result;

/// Hands `arguments` on and says whether all of it could be measured.
///
/// # Errors
///
/// Cargo could not be started.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    Tool::cargo()
        .arguments(["run", "--release", "--quiet", "--package", "hanok-bench-retrieval", "--"])
        .arguments(arguments)
        .shown()
}
