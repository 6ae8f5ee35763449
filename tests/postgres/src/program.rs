//! Programs, run as who may run them.

use std::{
    env,
    ffi::OsStr,
    fmt,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

/// The user that runs servers for root.
const USER: &str = "hanok-test";

/// Why there is no server.
#[derive(Debug, Clone)]
pub struct Missing(String);

impl Missing {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Missing {}

impl From<io::Error> for Missing {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What `program` prints.
pub(crate) fn said(program: impl AsRef<OsStr>, arguments: &[&str]) -> Result<String, Missing> {
    said_by(Command::new(program).args(arguments))
}

/// What `command` prints; what it complains of when it fails.
pub(crate) fn said_by(command: &mut Command) -> Result<String, Missing> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Missing::new(format!("{name}: {error}")))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let line = complaint.lines().map(str::trim).rfind(|line| !line.is_empty());
        return Err(Missing::new(format!("{name}: {}", line.unwrap_or("it failed"))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs `command`, whose children may outlive it: they would keep a pipe open.
pub(crate) fn run(command: &mut Command) -> Result<(), Missing> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.map_err(|error| Missing::new(format!("{name}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Missing::new(format!("{name}: {status}"))) }
}

/// The words that run `program` as someone whom a server accepts.
pub(crate) fn words(program: &Path) -> Vec<String> {
    let mut words = Vec::new();
    if is_root() {
        let (uid, gid) = (format!("--reuid={USER}"), format!("--regid={USER}"));
        words.extend(["setpriv".to_owned(), uid, gid, "--clear-groups".to_owned()]);
    }
    words.push(program.to_string_lossy().into_owned());
    words
}

/// `program`, to be run as someone whom a server accepts.
pub(crate) fn unprivileged(program: &Path) -> Command {
    let words = words(program);
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.iter().skip(1)).current_dir("/");
    command
}

pub(crate) fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| said("id", &["-u"]).is_ok_and(|id| id == "0"))
}

/// An empty folder that a server may write to.
pub(crate) fn folder(path: PathBuf) -> Result<PathBuf, Missing> {
    fs::create_dir_all(&path)?;
    if is_root() {
        let (uid, gid) = ids()?;
        rights::give(&path, uid, gid)?;
    }
    Ok(path)
}

/// The unprivileged user's numbers; makes the user where it is missing.
fn ids() -> Result<(u32, u32), Missing> {
    // Two that make the user at once end with half a user.
    let lock = File::create(cache()?.join("user.lock"))?;
    lock.lock()?;
    if said("id", &["-u", USER]).is_err() {
        said("useradd", &["--system", "--user-group", "--no-create-home", USER])?;
    }
    drop(lock);
    let number = |which| {
        let number = said("id", &[which, USER])?;
        number.parse().map_err(|error| Missing::new(format!("`id` says {number}: {error}")))
    };
    Ok((number("-u")?, number("-g")?))
}

/// Where things are kept from run to run. Root's own folder is closed to the user that runs its servers.
pub(crate) fn cache() -> Result<PathBuf, Missing> {
    let base = if is_root() {
        PathBuf::from("/var/cache")
    } else if let Some(folder) = env::var_os("XDG_CACHE_HOME").filter(|it| !it.is_empty()) {
        folder.into()
    } else {
        let home = env::var_os("HOME").ok_or_else(|| Missing::new("HOME is not set"))?;
        PathBuf::from(home).join(".cache")
    };
    let cache = base.join("hanok-tests");
    fs::create_dir_all(&cache)?;
    Ok(cache)
}

/// What files and processes may do. Where it is said otherwise than on Unix, no server is started.
pub(crate) mod rights {
    use std::{io, path::Path, process::Command};

    /// Makes `path` belong to a user and a group.
    pub(crate) fn give(path: &Path, uid: u32, gid: u32) -> io::Result<()> {
        #[cfg(unix)]
        std::os::unix::fs::chown(path, Some(uid), Some(gid))?;
        let _ = (path, uid, gid);
        Ok(())
    }

    /// Sets what may be done with `path`.
    pub(crate) fn set(path: &Path, mode: u32) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::{fs, os::unix::fs::PermissionsExt};
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
        let _ = (path, mode);
        Ok(())
    }

    /// Makes `path`, which its folder's owner alone may read, that owner's.
    pub(crate) fn as_its_folder(path: &Path) -> io::Result<()> {
        set(path, 0o600)?;
        #[cfg(unix)]
        {
            use std::{fs, os::unix::fs::MetadataExt};
            let folder = fs::metadata(path.parent().unwrap_or(path))?;
            give(path, folder.uid(), folder.gid())?;
        }
        Ok(())
    }

    /// What is sent to this process's group does not reach `command`.
    pub(crate) fn apart(command: &mut Command) -> &mut Command {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command
    }
}
