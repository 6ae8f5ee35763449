//! Decoding what may be hostile: on a thread of its own, up to a time.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use crate::skip::{SkipReason, unreadable};

/// Readers nest up to a depth of their own; in a debug build that takes more than a thread's usual 2 MiB.
const STACK: usize = 16 * 1024 * 1024;

/// When a [`FileReader`](crate::FileReader) has to be done.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    time: Duration,
    until: Instant,
}

impl Deadline {
    /// `time` from now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        // A time beyond the end of all clocks is a long one.
        let until = Instant::now().checked_add(time);
        Self { time, until: until.unwrap_or_else(|| Instant::now() + Duration::from_hours(24)) }
    }

    /// Refuses to go on once the time is up.
    ///
    /// # Errors
    ///
    /// [`SkipReason::TooSlow`] then.
    pub fn check(self) -> Result<(), SkipReason> {
        if Instant::now() < self.until {
            Ok(())
        } else {
            Err(SkipReason::TooSlow { limit: self.time })
        }
    }
}

/// What `decode` makes within `time`. A panic costs the file and not the caller.
///
/// A decoder that does not come back in time is left behind: it ends where it looks at its deadline the next time.
pub(crate) fn within<T: Send + 'static>(
    time: Duration,
    decode: impl FnOnce(Deadline) -> Result<T, SkipReason> + Send + 'static,
) -> Result<T, SkipReason> {
    let deadline = Deadline::after(time);
    let (send, receive) = mpsc::sync_channel(1);
    let worker = move || {
        // Nobody listens any more when the time was up.
        let _late = send.send(decode(deadline));
    };
    let worker =
        thread::Builder::new().name("hanok-decoder".to_owned()).stack_size(STACK).spawn(worker);
    if let Err(cause) = worker {
        return Err(unreadable(&cause));
    }
    match receive.recv_timeout(time) {
        Ok(decoded) => decoded,
        Err(RecvTimeoutError::Timeout) => Err(SkipReason::TooSlow { limit: time }),
        Err(RecvTimeoutError::Disconnected) => Err(SkipReason::damaged("the decoder panicked")),
    }
}
