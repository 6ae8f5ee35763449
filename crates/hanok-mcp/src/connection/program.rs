//! Which file a program is, and what it sees of the environment.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use crate::config::StdioConfig;

/// The variables that every program is given, where they are set.
const GIVEN_VARIABLES: &[&str] = match cfg!(windows) {
    true => &["PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "TEMP", "USERPROFILE", "APPDATA"],
    false => &["PATH", "HOME", "LANG", "TMPDIR"],
};

/// The file of the program: what stands at a path, or the first of that name on the child's PATH.
pub(super) fn program(config: &StdioConfig) -> io::Result<PathBuf> {
    let command = Path::new(&config.command);
    if command.components().count() > 1 || command.is_absolute() {
        return std::path::absolute(command);
    }
    let variables = variables(config);
    let path =
        variables.iter().rev().find(|variable| variable.0 == "PATH").map(|variable| &variable.1);
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let found_file = folders.map(|folder| folder.join(command)).find(|path| is_program(path));
    found_file.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The environment of the program: what every program is given, and what the configuration lists.
pub(super) fn variables(config: &StdioConfig) -> Vec<(OsString, OsString)> {
    let given =
        GIVEN_VARIABLES.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let listed = config.env.iter().map(|(name, value)| (name.into(), value.expose().into()));
    given.chain(listed).collect()
}
