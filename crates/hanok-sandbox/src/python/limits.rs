//! What a program in the jail may use.

use std::{path::PathBuf, time::Duration};

/// What a program in the jail may use, and with what it is run.
#[derive(Debug, Clone)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "there is no jail to read them"))]
pub(super) struct Limits {
    pub(super) time: Duration,
    pub(super) cpu: Duration,
    pub(super) memory: u64,
    pub(super) processes: u32,
    pub(super) scratch: u64,
    pub(super) output: usize,
    pub(super) bubblewrap: PathBuf,
    pub(super) python: PathBuf,
    pub(super) folders: Vec<PathBuf>,
    pub(super) cgroups: Vec<PathBuf>,
}

const MIB: u64 = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(20),
            cpu: Duration::from_secs(10),
            memory: 512 * MIB,
            processes: 16,
            scratch: 32 * MIB,
            output: 16 * 1024,
            bubblewrap: "/usr/bin/bwrap".into(),
            python: "/usr/bin/python3".into(),
            folders: Vec::new(),
            cgroups: Vec::new(),
        }
    }
}
