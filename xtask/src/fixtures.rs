//! `cargo xtask fixtures`: what models wrote, recorded by others, replayed through the example `parse`.
//!
//! The fixtures are those of PyPI's `canitoolcall`, which is installed below the target folder. A program of `tests/fuzz` reads and
//! judges them.

use std::env::consts::EXE_EXTENSION;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::metadata::Metadata;
use crate::needs;
use crate::result::Result;

/// The newest that the reasons in the program's `theirs.tsv` were written for.
const WANTED: &str = "canitoolcall==0.1.1";

/// Replays the fixtures of `families`, of all when it is empty. Returns false if one failed that is ours.
pub(crate) fn run(families: &[String]) -> Result<bool> {
    let target = Metadata::read()?.target_directory;
    let build = ["build", "--release", "--quiet", "--package", "parse", "--example", "parse"];
    if !Tool::cargo().arguments(build).shown()? {
        return Ok(false);
    }
    let parse = target.join("release/examples/parse").with_extension(EXE_EXTENSION);
    let replay = [OsStr::new("--replay"), parse.as_os_str()];
    program(&target)?.arguments(replay).arguments(families).shown()
}

/// The fixtures as cases for other parsers, a line each, in a file.
pub(crate) fn cases_for_others() -> Result<PathBuf> {
    let target = Metadata::read()?.target_directory;
    let file = target.join("canitoolcall").join("others.jsonl");
    program(&target)?.arguments([OsStr::new("--others"), file.as_os_str()]).text()?;
    Ok(file)
}

/// The program that judges, on the fixtures in a virtual environment that is made when it is not there.
fn program(target: &Path) -> Result<Tool> {
    let python = needs::python(&target.join("canitoolcall").join("venv"), &[WANTED])?;
    let place = "import canitoolcall, pathlib; print(pathlib.Path(canitoolcall.__file__).parent / '_data' / 'fixtures')";
    let folder = Tool::named(&python).arguments(["-c", place]).text()?;
    let run =
        ["run", "--quiet", "--package", "hanok-fuzz", "--bin", "fixtures", "--", folder.trim()];
    Ok(Tool::cargo().arguments(run))
}
