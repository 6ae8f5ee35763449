//! MCP servers of others, with which tests of hanok-mcp work, and the conformance suite of the protocol: `tests/mcp-servers`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::needs;
use crate::result::Result;

/// The variable in which the tests find their folder.
pub(crate) const PEERS: &str = "HANOK_TEST_MCP_PEERS";

/// What is installed, by npm and by pip.
const NPM: &str = "tests/mcp-servers/package.json";
const PYPI: &str = "tests/mcp-servers/requirements.txt";

/// The folder with the servers, which are installed there if `install` is true; where there is none, a note for the summary.
pub(crate) fn servers(install: bool) -> (Option<PathBuf>, String) {
    match needs::cache("mcp-servers").and_then(|folder| installed(folder, install)) {
        Ok(folder) => (Some(folder), String::new()),
        Err(why) => (None, format!("; MCP servers of others are not worked with: {why}")),
    }
}

fn installed(folder: PathBuf, install: bool) -> Result<PathBuf> {
    let wanted = fs::read_to_string(NPM)? + &fs::read_to_string(PYPI)?;
    let done = folder.join("installed");
    if fs::read_to_string(&done).is_ok_and(|done| done == wanted) {
        return Ok(folder);
    }
    if !install {
        return Err("they are not installed; `--full` does".into());
    }
    fs::create_dir_all(&folder)?;
    fs::copy(NPM, folder.join("package.json"))?;
    let npm = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
    Tool::named("npm").arguments(npm).arguments([&folder]).text()?;
    needs::python(&folder.join("python"), &[Path::new("--requirement"), Path::new(PYPI)])?;
    fs::write(done, wanted)?;
    Ok(folder)
}
