//! The lock file.

/// The 1-based line of the package in a lock file.
pub(super) fn lock_line(lock: &str, name: &str) -> usize {
    let entry = format!("name = \"{name}\"");
    lock.lines().position(|line| line == entry).map_or(1, |index| index + 1)
}
