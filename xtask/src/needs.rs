//! What commands need that is not of the workspace: folders for caches, Python packages, programs in packages apart.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::result::Result;

/// The folder `name` among this user's caches.
pub(crate) fn cache(name: &str) -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let named = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let folder = named.or_else(|| Some(variable("HOME")?.join(".cache")));
    Ok(folder.ok_or("there is no folder for caches")?.join("hanok").join(name))
}

/// The Python of the virtual environment in `folder`, made if it is not there, in which `wanted` is installed: the arguments of
/// `pip install`.
pub(crate) fn python<A: AsRef<OsStr>>(folder: &Path, wanted: &[A]) -> Result<PathBuf> {
    let python = folder.join("bin").join("python");
    if !python.exists() {
        Tool::named("python3").arguments(["-m", "venv"]).arguments([folder]).text()?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Tool::named(&python).arguments(install).arguments(wanted).text()?;
    Ok(python)
}

/// Fetches what a package outside the workspace needs. Returns why it could not, if the registry is not reachable.
pub(crate) fn unfetched(manifest: &str) -> Result<Option<String>> {
    let fetched =
        Tool::cargo().arguments(["fetch", "--quiet", "--manifest-path", manifest]).run()?;
    // Any other error says what is wrong when the package is built.
    let is_unreachable =
        ["network", "download", "offline"].iter().any(|word| fetched.output.contains(word));
    let reason = fetched.output.lines().last().unwrap_or_default().trim();
    Ok((!fetched.succeeded() && is_unreachable)
        .then(|| format!("the registry is not reachable: {reason}")))
}

/// The program of a package outside the workspace, which nobody is to build who did not ask for it: the package's manifest, the
/// program, and the folder in which it is built for speed.
pub(crate) fn apart([manifest, program, folder]: [&str; 3]) -> Result<PathBuf> {
    eprintln!("{program} is built, which takes minutes at first");
    let build = ["build", "--release", "--quiet", "--manifest-path", manifest];
    if !Tool::cargo().arguments(build).arguments(["--target-dir", folder]).shown()? {
        return Err(format!("{manifest} could not be built").into());
    }
    let program = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    Ok(Path::new(folder).join("release").join(program))
}
