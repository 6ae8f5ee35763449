//! The stage `servers`: hanok-parse behind the traits by which servers take a parser, `tests/parse-servers`.

use crate::command::Tool;
use crate::needs;
use crate::report::{Outcome, Work, passed};
use crate::result::Result;
use crate::stages::cargo_test_counts;

const MANIFEST: &str = "tests/parse-servers/Cargo.toml";

/// Runs the tests of the adapters, with hundreds of packages of others.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    if let Some(why) = needs::unfetched(MANIFEST)? {
        return Ok(Outcome::Skipped(why));
    }
    let tests = Tool::cargo()
        .arguments(["test", "--no-fail-fast", "--manifest-path", MANIFEST])
        .variable("CARGO_TARGET_DIR", work.metadata.target_directory.join("servers"));
    passed(tests.run()?, cargo_test_counts)
}
