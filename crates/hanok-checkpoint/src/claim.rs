//! Ownership of threads.

use std::{fmt, time::Duration};

use hanok_core::{Reader, RunId, StoredError, Timestamp, Writer, from_hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use thiserror::Error;

use crate::wire::{Wire, wire};

/// The time that a claim counts as alive that gives no sign of life and whose holder cannot be looked at.
pub const LEASE: Duration = Duration::from_secs(10);

/// Counts the claims of a thread. A run whose epoch is not the newest stores nothing more.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch of a claim that follows this one at `now`. The first of a thread begins with the time: a thread that was
    /// removed and made anew is not mistaken by a late writer for what it was.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Timestamp};
    /// assert_eq!(Epoch::default().next(Timestamp(1_700)), Epoch(1_700));
    /// assert_eq!(Epoch(1_700).next(Timestamp(1_800)), Epoch(1_701));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn next(self, now: Timestamp) -> Self {
        match self.0 {
            0 => Self(now.0.max(1)),
            last => Self(last.saturating_add(1)),
        }
    }
}

wire! {
    Epoch: |epoch, to| to.uint(epoch.0), |from| from.uint().map(Self);
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run's claim to a thread: while it lives, no other run begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The run.
    pub run: RunId,
    /// The process that runs it.
    pub holder: Holder,
    /// The claim's number.
    pub epoch: Epoch,
    /// The last sign of life. It lives beside the log and does not move the head.
    pub beat: Timestamp,
}

impl Claim {
    /// Checks whether a new run of `me` may take the thread over at once: the holder is a process of `me`'s host and boot of which
    /// the system says that it is gone, or it is `me` (whose own bookkeeping says that no run of it is active). Any other
    /// has a [lease](crate::Leases).
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{RunId, Timestamp};
    /// let me = Holder::this_process(1);
    /// let (run, epoch, beat) = (RunId(1), Epoch(1), Timestamp(0));
    /// let other = Holder { host: "elsewhere".into(), ..Holder::this_process(2) };
    /// assert!(Claim { run, holder: me.clone(), epoch, beat }.is_known_dead(&me));
    /// assert!(!Claim { run, holder: other, epoch, beat }.is_known_dead(&me));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_known_dead(&self, me: &Holder) -> bool {
        self.holder == *me || me.knows_dead(&self.holder)
    }
}

/// A process, and one store handle within it, such that no two are equal by accident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The host, with its namespace of process ids. Empty where the system does not say it.
    pub host: String,
    /// The host's boot. Empty where the system does not say it.
    pub boot: String,
    /// The process.
    pub pid: u32,
    /// When the process started, in the host's own unit: process ids are used again, this is not.
    pub started: u64,
    /// Tells the handles of one process apart. As JSON it is 32 hexadecimal digits.
    #[serde(serialize_with = "write_instance", deserialize_with = "read_instance")]
    pub instance: u128,
}

fn write_instance<S: Serializer>(instance: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{instance:032x}"))
}

fn read_instance<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
    let bytes = from_hex("holder's instance", &String::deserialize(deserializer)?);
    bytes.map(u128::from_be_bytes).map_err(D::Error::custom)
}

/// Why a stored holder could not be read.
#[derive(Debug, Error)]
#[error("a claim's holder cannot be read")]
pub struct HolderError(#[from] StoredError);

impl Holder {
    /// This process, with `instance` telling its handles apart.
    pub fn this_process(instance: u128) -> Self {
        let pid = std::process::id();
        Self {
            host: linux::host(),
            boot: linux::read("/proc/sys/kernel/random/boot_id"),
            pid,
            started: linux::started(pid).unwrap_or_default(),
            instance,
        }
    }

    /// Checks whether `other` was a process of this holder's host and boot and the system says that it is gone. A process that the
    /// system hides, or does not let us look at, is not gone.
    pub fn knows_dead(&self, other: &Self) -> bool {
        let is_named = !self.host.is_empty() && !self.boot.is_empty() && self.started != 0;
        let same = self.host == other.host && self.boot == other.boot;
        is_named && same && linux::is_gone(other.pid, other.started)
    }

    /// The holder as bytes, for a store.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer
            .array(5)
            .str(&self.host)
            .str(&self.boot)
            .uint(u64::from(self.pid))
            .uint(self.started)
            .bin(&self.instance.to_be_bytes());
        writer.into_bytes()
    }

    /// Reads what [`Holder::to_bytes`] wrote.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let me = Holder::this_process(7);
    /// assert_eq!(Holder::from_bytes(&me.to_bytes())?, me);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`HolderError`] when it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HolderError> {
        let mut reader = Reader::new(bytes);
        reader.array()?;
        Ok(Self {
            host: reader.str()?.to_owned(),
            boot: reader.str()?.to_owned(),
            pid: u32::try_from(reader.uint()?).unwrap_or_default(),
            started: reader.uint()?,
            instance: u128::from_be_bytes(Wire::read(&mut reader)?),
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        match self.host.split(' ').next() {
            Some(host) if !host.is_empty() => write!(f, " on {host}"),
            _ => Ok(()),
        }
    }
}

/// Processes, as Linux knows them. Elsewhere nothing is known, and a claim lives by its beats alone.
mod linux {
    use std::{fs, io::ErrorKind};

    pub(super) fn read(path: &str) -> String {
        fs::read_to_string(path).unwrap_or_default().trim().to_owned()
    }

    /// The host's name and its namespace of process ids: within another one the same number is another process.
    pub(super) fn host() -> String {
        let Ok(space) = fs::read_link("/proc/self/ns/pid") else { return String::new() };
        format!("{} {}", read("/proc/sys/kernel/hostname"), space.display())
    }

    /// When a process started, in clock ticks since boot; `None` if it is over or cannot be looked at.
    pub(super) fn started(pid: u32) -> Option<u64> {
        let (over, started) = status(pid)?;
        (!over).then_some(started)
    }

    /// Checks whether the process that had this number and started then is gone.
    pub(super) fn is_gone(pid: u32, started: u64) -> bool {
        match status(pid) {
            Some((over, since)) => over || since != started,
            None => shows_all() && is_missing(pid),
        }
    }

    /// Checks whether `/proc` has every process of this namespace: it is mounted for it, so that it knows this process by its own
    /// number, and hides none (`hidepid`, proc(5)). Else a process that is missing there may live.
    pub(super) fn shows_all() -> bool {
        let own = fs::read_link("/proc/self").ok().and_then(|own| own.to_str()?.parse().ok());
        let mounts = read("/proc/self/mountinfo");
        own == Some(std::process::id()) && !mounts.is_empty() && !mounts.contains("hidepid=")
    }

    /// A process that may not be looked at is another error than one that is not there, and a number that no process can have is none.
    fn is_missing(pid: u32) -> bool {
        let found = fs::symlink_metadata(format!("/proc/{pid}"));
        let is_missing = found.is_err_and(|error| error.kind() == ErrorKind::NotFound);
        is_missing && i32::try_from(pid).is_ok_and(|pid| pid > 0)
    }

    /// The state of a process, over or not, and when it started (fields 3 and 22 of `/proc/<pid>/stat`, proc(5)).
    fn status(pid: u32) -> Option<(bool, u64)> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in the second field may hold anything, so the fields are counted from its closing bracket.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let zombie = matches!(fields.first(), Some(&"Z" | &"X"));
        Some((zombie, fields.get(19)?.parse().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(holder: Holder) -> Claim {
        Claim { run: RunId(1), holder, epoch: Epoch(1), beat: Timestamp(100_000) }
    }

    #[test]
    fn a_claim_is_known_to_be_dead_when_its_process_is_gone() {
        let me = Holder::this_process(1);
        let other_handle = Holder { instance: 2, ..me.clone() };
        let elsewhere = Holder { host: "elsewhere".into(), ..me.clone() };
        let reused = Holder { started: me.started + 1, ..other_handle.clone() };
        let linux = me.started != 0;
        // No process has so high a number (`pid_max`, proc(5)).
        let gone = Holder { pid: 1 << 22, ..me.clone() };
        let gone_elsewhere = Holder { host: "elsewhere".into(), ..gone.clone() };
        let gone_before = Holder { boot: "before".into(), ..gone.clone() };
        for (holder, dead, claim_is) in [
            (me.clone(), true, "my own"),
            (other_handle, false, "another handle of this process"),
            (elsewhere, false, "one of another host"),
            (reused, linux, "one whose process id is used again"),
            (gone, linux && super::linux::shows_all(), "one whose process is gone"),
            (gone_elsewhere, false, "one of another host, of which no process here says anything"),
            (gone_before, false, "one from before the machine was started, likewise"),
        ] {
            assert_eq!(claim(holder).is_known_dead(&me), dead, "{claim_is}");
        }
    }

    /// A process that cannot be looked at is not taken for dead: here one whose number says that it is none.
    #[test]
    fn what_cannot_be_looked_at_is_not_known_to_be_dead() {
        let me = Holder::this_process(1);
        for pid in [0, u32::MAX] {
            let hidden = Holder { pid, instance: 2, ..me.clone() };
            assert!(!me.knows_dead(&hidden), "{pid}");
        }
    }

    #[test]
    fn a_holder_reads_back_as_it_was_written() {
        let me = Holder::this_process(u128::MAX - 7);
        assert_eq!(Holder::from_bytes(&me.to_bytes()).unwrap(), me);
        assert!(Holder::from_bytes(&[1, 2, 3]).is_err());
    }
}
