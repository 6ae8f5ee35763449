//! Control groups of the operator's, below which each jail gets one of its own.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use super::{JailError, limits::Limits};

/// What the jail itself needs besides the programs in it.
const OWN: u32 = 4;

/// The groups of one jail. They are removed with it.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<PathBuf>);

impl Groups {
    /// Makes a group below each of the folders that `limits` name.
    pub(super) fn make(limits: &Limits) -> Result<Self, JailError> {
        let mut groups = Self::default();
        for folder in &limits.cgroups {
            let refused =
                |source| JailError::Cgroup { folder: folder.display().to_string(), source };
            let group = make_in(folder).map_err(refused)?;
            groups.0.push(group.clone());
            bound(&group, limits).map_err(refused)?;
        }
        Ok(groups)
    }

    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.0
    }

    /// Removes the groups, and says whether all are gone: one in which something still ends stays for a moment.
    pub(super) fn remove(&mut self) -> bool {
        self.0.retain(|group| fs::remove_dir(group).is_err() && group.exists());
        self.0.is_empty()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.remove();
    }
}

fn make_in(folder: &Path) -> io::Result<PathBuf> {
    /// So that no two jails of this process share a group.
    static MADE: AtomicU64 = AtomicU64::new(0);
    let n = MADE.fetch_add(1, Ordering::Relaxed);
    let group = folder.join(format!("hanok-{}-{n}", process::id()));
    fs::create_dir(&group)?;
    Ok(group)
}

/// Sets the limits of the controllers that there are: both versions, at least one of processes and memory.
fn bound(group: &Path, limits: &Limits) -> io::Result<()> {
    let mut is_bounded = false;
    for (file, value) in [
        ("pids.max", u64::from(limits.processes.saturating_add(OWN))),
        ("memory.max", limits.memory),
        ("memory.limit_in_bytes", limits.memory),
    ] {
        let file = group.join(file);
        if file.exists() {
            fs::write(file, value.to_string())?;
            is_bounded = true;
        }
    }
    // Memory that was swapped out is not less.
    let swap = group.join("memory.swap.max");
    if swap.exists() {
        fs::write(swap, "0")?;
    }
    if is_bounded { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}
