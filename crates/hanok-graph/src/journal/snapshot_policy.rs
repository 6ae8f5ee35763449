//! The policy that decides when a snapshot is worth writing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of bytes to read from which on a snapshot is considered.
const FROM: usize = 64 * 1024;

/// The bytes that have to be read of a thread, and the point at which a snapshot would reduce them.
///
/// A snapshot is written if it has at most half the bytes that it saves reading. So all snapshots together take no more
/// room than the entries, and the bytes to read stay within three times the state. Where much is written and little
/// removed, the entries are hardly more than the state, and no snapshot is written at all. Clones count for the same
/// thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct SnapshotPolicy(Arc<Mutex<Bytes>>);

#[derive(Debug, Default)]
struct Bytes {
    /// The newest snapshot, and the entries since.
    read: usize,
    /// The number of these bytes at which a snapshot is considered.
    due: usize,
    /// The entries since a snapshot was begun, while one is being written.
    since: Option<usize>,
}

impl SnapshotPolicy {
    /// The policy of a thread with `read` bytes to read and `state` bytes of state.
    pub(crate) fn of(read: usize, state: usize) -> Self {
        Self(Arc::new(Mutex::new(Bytes { read, due: due(state), since: None })))
    }

    fn bytes(&self) -> MutexGuard<'_, Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of bytes to read.
    pub(crate) fn size(&self) -> usize {
        self.bytes().read
    }

    /// Counts entries that were appended.
    pub(crate) fn add(&self, entries: usize) {
        let mut bytes = self.bytes();
        bytes.read += entries;
        bytes.since = bytes.since.map(|since| since + entries);
    }

    /// True if a snapshot should be considered.
    pub(crate) fn is_due(&self) -> bool {
        let bytes = self.bytes();
        bytes.since.is_none() && bytes.read >= bytes.due
    }

    /// Begins a snapshot, unless another one is under way; returns the most bytes that it may have.
    pub(crate) fn begin(&self) -> Option<usize> {
        let mut bytes = self.bytes();
        if bytes.since.is_some() {
            return None;
        }
        bytes.since = Some(0);
        Some(bytes.read / 2)
    }

    /// Ends the snapshot, with the bytes that were written, or `None`.
    pub(crate) fn end(&self, written: Option<usize>) {
        let mut bytes = self.bytes();
        let since = bytes.since.take().unwrap_or_default();
        match written {
            Some(size) => (bytes.read, bytes.due) = (size + since, due(size)),
            // Looking again costs what the state holds: so much has to be said first.
            None => bytes.due = bytes.read + bytes.read / 2,
        }
    }
}

/// The number of bytes to read at which a snapshot is considered, for a state of this many bytes.
fn due(state: usize) -> usize {
    FROM.max(2 * state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says `turns` times something of `said` bytes that adds `stays` to the state; returns the entries, the snapshots and
    /// the most that had to be read for a byte of the state, from where it is no longer short.
    fn talk(turns: usize, said: usize, stays: usize) -> (usize, usize, f64) {
        let (reading, mut snapshots, mut most) = (SnapshotPolicy::of(0, 0), 0, 0.0_f64);
        for turn in 1..=turns {
            reading.add(said);
            let state = turn * stays;
            if reading.is_due() {
                let may = reading.begin().unwrap();
                assert!(reading.begin().is_none() && !reading.is_due());
                let written = (state <= may).then_some(state);
                snapshots += written.unwrap_or_default();
                reading.end(written);
            }
            if state > FROM {
                most = most.max(reading.size() as f64 / state as f64);
            }
        }
        (turns * said, snapshots, most)
    }

    #[test]
    fn snapshots_take_no_more_room_than_entries_and_a_read_costs_the_state() {
        for stays in [1, 30, 100, 300, 490, 510, 700, 1000] {
            let (entries, snapshots, most) = talk(20_000, 1000, stays);
            assert!(snapshots <= entries, "{stays}: {snapshots} bytes of snapshots");
            assert!(most <= 3.0 || stays < 30, "{stays}: {most} times the state is read");
            assert_eq!(snapshots == 0, stays > 500, "{stays}");
        }
    }

    #[test]
    fn what_is_said_while_a_snapshot_is_written_is_read_besides_it() {
        let reading = SnapshotPolicy::of(300_000, 100_000);
        assert_eq!(reading.begin(), Some(150_000));
        reading.add(7);
        assert_eq!(reading.size(), 300_007);
        reading.end(Some(100_000));
        assert_eq!(reading.size(), 100_007);
    }

    #[test]
    fn a_snapshot_that_was_not_written_is_thought_of_again_later() {
        let reading = SnapshotPolicy::of(100_000, 10_000);
        assert!(reading.is_due());
        reading.begin();
        reading.end(None);
        assert!(!reading.is_due());
        reading.add(50_000);
        assert!(reading.is_due());
    }
}
