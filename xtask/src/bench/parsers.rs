//! `cargo xtask bench --parsers`: other parsers of tool calls, on the same texts as ours.

use std::path::Path;

use super::{cache, prepared};
use crate::Result;
use crate::command::Tool;

/// What asks for them.
pub(super) const ASKED: &str = "--parsers";

/// Outside the workspace: nobody builds hundreds of crates who did not ask for them.
const MANIFEST: &str = "benches/peers-parse/Cargo.toml";
const WANTED: &str = "benches/peers-parse/requirements.txt";
const BUILT: &str = "target/peers-parse";

/// Builds the others and prints the table; says whether it could be printed.
///
/// # Errors
///
/// Cargo could not be started, or `arguments` say more. That a parser for Python cannot be had is said, and no error.
pub(super) fn run(arguments: &[String]) -> Result<bool> {
    if arguments.len() > 1 {
        return Err(format!("`{ASKED}` is asked for alone").into());
    }
    eprintln!("bench: other parsers are built, which takes minutes at first");
    let build = ["build", "--release", "--quiet", "--manifest-path", MANIFEST];
    if !Tool::cargo().arguments(build).arguments(["--target-dir", BUILT]).shown()? {
        return Ok(false);
    }
    let python = cache(|name| std::env::var_os(name).map(Into::into))
        .ok_or_else(|| "there is no folder for caches".into())
        .and_then(|cache| prepared(&cache.join("hanok").join("parsers"), WANTED));
    if let Err(error) = &python {
        eprintln!("bench: without agent-tool-parser: {error}");
    }
    let python = python.iter().flat_map(|python| [Path::new("--python"), python.as_path()]);
    let program = format!("hanok-bench-parsers{}", std::env::consts::EXE_SUFFIX);
    Tool::named(Path::new(BUILT).join("release").join(program)).arguments(python).shown()
}
