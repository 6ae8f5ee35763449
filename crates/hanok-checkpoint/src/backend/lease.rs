//! Leases: signs of life of the holders of claims, by one clock.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_core::{ThreadKey, Timestamp};

use crate::claim::{Claim, Epoch, LEASE};

/// The number of threads that are watched before those are forgotten that nobody has looked at for long.
const MANY: usize = 1_024;

/// The signs of life of other holders, as this process has seen them.
///
/// A holder's clock and ours are two clocks: how old a beat is cannot be told from what is written in it. A store that has a
/// clock which all share says how long a claim has been [silent](crate::Checkpointer::silence). With any other a lease is over
/// when the very same beat was seen for [`LEASE`] by the clock of this process that only goes forward. A beat from the
/// future holds up nobody for longer, and one from the past gives nobody's thread away.
#[derive(Debug, Default)]
pub struct Leases(Mutex<BTreeMap<ThreadKey, Beat>>);

#[derive(Debug)]
struct Beat {
    epoch: Epoch,
    beat: Timestamp,
    /// When it was seen first, and last.
    since: Duration,
    until: Duration,
}

impl Leases {
    /// Checks whether the lease of `claim` on `thread` is over, at `now` of the clock that only goes forward
    /// ([`Clock::monotonic`](hanok_core::Clock::monotonic)): the store says that it was `silent` for [`LEASE`], or, where
    /// that says nothing, it was watched for so long without another sign of life.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{RunId, Tenant, ThreadKey, Timestamp};
    /// # use std::time::Duration;
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let (holder, epoch, beat) = (Holder::this_process(1), Epoch(1), Timestamp(0));
    /// # let claim = Claim { run: RunId(1), holder, epoch, beat };
    /// let leases = Leases::default();
    /// let since = Duration::from_secs(60);
    /// assert!(!leases.is_over(&thread, &claim, None, since));
    /// assert!(leases.is_over(&thread, &claim, None, since + LEASE));
    /// // A store with a clock that all share knows at once.
    /// assert!(leases.is_over(&thread, &claim, Some(LEASE), since));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_over(
        &self,
        thread: &ThreadKey,
        claim: &Claim,
        silent: Option<Duration>,
        now: Duration,
    ) -> bool {
        match silent {
            Some(silent) => silent >= LEASE,
            None => self.is_silent(thread, claim, now),
        }
    }

    fn is_silent(&self, thread: &ThreadKey, claim: &Claim, now: Duration) -> bool {
        let mut beats = self.beats();
        if beats.len() >= MANY {
            beats.retain(|_, beat| now.saturating_sub(beat.until) < 10 * LEASE);
        }
        let (epoch, beat) = (claim.epoch, claim.beat);
        let fresh = || Beat { epoch, beat, since: now, until: now };
        let watched = beats.entry(thread.clone()).or_insert_with(fresh);
        if (watched.epoch, watched.beat) != (epoch, beat) {
            *watched = fresh();
        }
        watched.until = now;
        now.saturating_sub(watched.since) >= LEASE
    }

    fn beats(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Beat>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use hanok_core::{RunId, Tenant};

    use super::*;
    use crate::Holder;

    /// P10: the time that a beat names decides nothing: not that of a clock that is a day ahead, nor of one that is a day
    /// behind, nor that of a clock that is set.
    #[test]
    fn a_lease_is_over_when_the_same_beat_was_seen_for_long() {
        let elsewhere = Holder { host: "elsewhere".into(), ..Holder::this_process(1) };
        let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
        for beat in [0, 1_000_000, 4_070_908_800_000, u64::MAX] {
            let leases = Leases::default();
            let claim = |beat, epoch| Claim {
                run: RunId(1),
                holder: elsewhere.clone(),
                epoch: Epoch(epoch),
                beat: Timestamp(beat),
            };
            let other = beat ^ 1;
            for (millis, beat, epoch, dead) in [
                (50_000, beat, 1, false),
                (59_999, beat, 1, false),
                (60_000, beat, 1, true),
                (60_001, other, 1, false),
                (70_000, other, 1, false),
                (70_001, other, 1, true),
                (70_002, other, 2, false),
                (80_002, other, 2, true),
            ] {
                let now = Duration::from_millis(millis);
                let is = leases.is_over(&thread, &claim(beat, epoch), None, now);
                assert_eq!(is, dead, "{beat} of {epoch} at {millis}");
                for (silent, dead) in [(0, false), (9_999, false), (10_000, true)] {
                    let silent = Some(Duration::from_millis(silent));
                    assert_eq!(leases.is_over(&thread, &claim(beat, epoch), silent, now), dead);
                }
            }
        }
    }
}
