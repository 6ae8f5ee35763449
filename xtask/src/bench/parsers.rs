//! `cargo xtask bench --parsers`: other parsers of tool calls, on the same texts as ours.

use std::path::Path;

use crate::apart::Apart;
use crate::caches;
use crate::command::Tool;
use crate::fixtures;
use crate::python;
use crate::result::Result;

/// Hundreds of crates.
const OTHERS: Apart = Apart {
    manifest: "benches/peers-parse/Cargo.toml",
    program: "hanok-bench-parsers",
    folder: "target/peers-parse",
};
const WANTED: &str = "benches/peers-parse/requirements.txt";

/// Builds the others and prints the table; says whether it could be printed.
///
/// # Errors
///
/// Cargo could not be started. That a parser for Python cannot be had is said, and no error.
pub(super) fn run() -> Result<bool> {
    eprintln!("bench: other parsers are built, which takes minutes at first");
    let Some(program) = OTHERS.built()? else { return Ok(false) };
    let python =
        caches::folder().ok_or_else(|| "there is no folder for caches".into()).and_then(|cache| {
            let folder = cache.join("hanok").join("parsers");
            python::with(&folder, &["--upgrade", "--requirement", WANTED])
        });
    if let Err(error) = &python {
        eprintln!("bench: without agent-tool-parser: {error}");
    }
    let cases = fixtures::cases_for_others();
    if let Err(error) = &cases {
        eprintln!("bench: without fixtures: {error}");
    }
    eprintln!(
        "bench: without the parsers of vLLM, SGLang and llama.cpp, which are parts of servers and no packages"
    );
    let python = python.iter().flat_map(|python| [Path::new("--python"), python.as_path()]);
    let cases = cases.iter().flat_map(|cases| [Path::new("--cases"), cases.as_path()]);
    Tool::named(program).arguments(python).arguments(cases).shown()
}
