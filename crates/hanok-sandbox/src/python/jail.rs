//! How the jail is built.

use std::{
    fs::{self, File},
    io::{self, Seek, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{self, Stdio},
};

use rustix::fs::{MemfdFlags, SealFlags};
use tokio::process::Command;

use super::{JailError, cgroup::Groups, limits::Limits, seccomp};

/// The shell that joins the control groups and opens the filter, before anything of the jail is there. All that it is given
/// are arguments.
const OUTSIDE: &str = r#"set -e
exec 9<"$1"; shift
groups=$1; shift
while [ "$groups" -gt 0 ]; do echo $$ >"$1/cgroup.procs"; shift; groups=$((groups - 1)); done
exec "$@""#;

/// The shell in the jail: from here on errors are output.
const INSIDE: &str = r#"exec "$@" 2>&1"#;

/// Who runs the jail when root calls for it: nobody. A limit of processes does not bound root.
const NOBODY: &str = "65534";

/// Folders of programs and libraries that are links into `/usr` on most systems.
const ROOTS: [&str; 4] = ["/bin", "/lib", "/lib64", "/sbin"];

/// A jail that is ready to start.
pub(super) struct Jail {
    pub(super) command: Command,
    pub(super) groups: Groups,
    /// Open until the jail has read it.
    pub(super) filter: File,
}

/// A jail in which Python runs `bootstrap`, which reads `program` from its standard input.
pub(super) fn jail(limits: &Limits, bootstrap: &str, program: &[u8]) -> Result<Jail, JailError> {
    let filter = seccomp::filter().ok_or(JailError::Platform)?;
    let filter = sealed("filter", &filter)?;
    let groups = Groups::make(limits)?;
    let mut command = Command::new("/bin/sh");
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::from(sealed("program", program)?))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .args(["-c", OUTSIDE, "sh"])
        .arg(format!("/proc/{}/fd/{}", process::id(), filter.as_raw_fd()))
        .arg(groups.folders().len().to_string())
        .args(groups.folders());
    if rustix::process::geteuid().is_root() {
        command.arg(there(
            "/usr/bin/setpriv",
            "install util-linux (Debian: `apt-get install util-linux`)",
        )?);
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"]);
    }
    let how = "install bubblewrap (Debian: `apt-get install bubblewrap`)";
    command.arg(there(&limits.bubblewrap, how)?);
    walls(&mut command, limits);
    let how = "install util-linux (Debian: `apt-get install util-linux`)";
    command.arg(there("/usr/bin/prlimit", how)?);
    bounds(&mut command, limits);
    command.args(["/bin/sh", "-c", INSIDE, "sh"]);
    let how = "install Python (Debian: `apt-get install python3`)";
    command
        .arg(there(&limits.python, how)?)
        .args(["-I", "-B", "-u", "-X", "utf8", "-c", bootstrap]);
    Ok(Jail { command, groups, filter })
}

/// What the programs see: `/usr` and the folders of `limits`, read-only, `/dev` with what is in every one, and `/tmp`.
fn walls(command: &mut Command, limits: &Limits) {
    command.args(["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"]);
    command.args(["--unshare-uts", "--unshare-cgroup-try", "--disable-userns"]);
    command.args(["--uid", "1000", "--gid", "1000", "--hostname", "jail"]);
    command.args(["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--seccomp", "9"]);
    command.args(["--clearenv", "--setenv", "PATH", "/usr/bin:/bin"]);
    command.args(["--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"]);
    command.args(["--ro-bind", "/usr", "/usr"]);
    for root in ROOTS.map(Path::new) {
        match fs::read_link(root) {
            Ok(to) => command.arg("--symlink").arg(to).arg(root),
            Err(_) => command.arg("--ro-bind-try").arg(root).arg(root),
        };
    }
    for folder in &limits.folders {
        command.arg("--ro-bind").arg(folder).arg(folder);
    }
    command.args(["--dev", "/dev", "--size", &limits.scratch.to_string(), "--tmpfs", "/tmp"]);
    // Both are in memory, and only `/tmp` has a size.
    command.args(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]);
}

fn bounds(command: &mut Command, limits: &Limits) {
    let (memory, scratch, processes) = (limits.memory, limits.scratch, limits.processes);
    let cpu = limits.cpu.as_secs().max(1);
    command.args([
        format!("--nproc={processes}:{processes}"),
        format!("--as={memory}:{memory}"),
        format!("--fsize={scratch}:{scratch}"),
        format!("--cpu={cpu}:{}", cpu + 1),
    ]);
    command.args(["--core=0:0", "--nofile=64:64", "--memlock=0:0", "--msgqueue=0:0", "--"]);
}

/// `program` if it is there.
fn there(program: impl Into<PathBuf>, how: &'static str) -> Result<PathBuf, JailError> {
    let program = program.into();
    if program.is_file() {
        return Ok(program);
    }
    Err(JailError::Missing { program: program.display().to_string(), how })
}

/// A file in memory that holds `bytes` for ever and is nowhere on a disk.
fn sealed(name: &str, bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create(name, flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}
