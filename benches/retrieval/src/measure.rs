//! Time, memory and room.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

use crate::Result;

/// How long each of many things took.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Awaits `work` and notes how long it took.
    pub(crate) async fn of<T>(&mut self, work: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let made = work.await;
        self.0.push(begun.elapsed());
        made
    }

    /// The time that `share` of them did not pass, in milliseconds.
    pub(crate) fn millis(&mut self, share: f64) -> f64 {
        self.0.sort_unstable();
        let at = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(at.saturating_sub(1)).copied().unwrap_or_default().as_secs_f64() * 1e3
    }
}

/// The CPU time of all threads of this process, in seconds.
pub(crate) fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Resident memory of this process in MB.
///
/// # Errors
///
/// The system does not say, as any but Linux.
pub(crate) fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: f64 =
        kib.ok_or("the system does not say how much memory is resident")?.trim().parse()?;
    Ok(kib * 1024.0 / 1e6)
}

/// What the files below `folder` hold, in MB.
pub(crate) fn disk(folder: &Path) -> Result<f64> {
    let mut bytes = 0.0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => disk(&entry.path())? * 1e6,
            false => entry.metadata()?.len() as f64,
        };
    }
    Ok(bytes / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_times_is_not_passed() {
        let mut times = Times((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!((times.millis(0.5), times.millis(0.99)), (100.0, 198.0));
        assert_eq!(Times::default().millis(0.5), 0.0);
    }

    #[test]
    fn the_files_of_all_folders_count() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/b"), [0; 3_000]).unwrap();
        std::fs::write(folder.path().join("c"), [0; 1_000]).unwrap();
        assert!((disk(folder.path()).unwrap() - 0.004).abs() < 1e-9);
    }
}
