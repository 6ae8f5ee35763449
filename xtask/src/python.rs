//! Python packages that a command needs, in a virtual environment of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::result::Result;

/// The Python of the virtual environment in `folder`, made if it is not there, in which `wanted` is installed: what follows
/// `pip install`.
///
/// # Errors
///
/// There is no Python, or what is wanted cannot be had.
pub(crate) fn with<A: AsRef<OsStr>>(folder: &Path, wanted: &[A]) -> Result<PathBuf> {
    let python = folder.join("bin").join("python");
    if !python.exists() {
        Tool::named("python3").arguments(["-m", "venv"]).arguments([folder]).text()?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Tool::named(&python).arguments(install).arguments(wanted).text()?;
    Ok(python)
}
