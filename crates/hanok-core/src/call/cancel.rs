//! Being asked to stop.

use std::{
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

/// A request to stop, seen by everyone who holds a clone. Once made it is not taken back.
///
/// ```
/// use hanok_core::Cancellation;
///
/// let run = Cancellation::default();
/// let call = run.child();
/// run.cancel();
/// assert!(call.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: AtomicBool,
    wakers: Mutex<Wakers>,
    parent: Option<Cancellation>,
}

#[derive(Default)]
struct Wakers {
    next: u64,
    /// By key, in the order of the keys.
    wakers: Vec<(u64, Waker)>,
}

impl Wakers {
    /// Has `waker` woken, under `key` or, without one, under a new key; returns the key.
    fn wake(&mut self, key: Option<u64>, waker: &Waker) -> u64 {
        let key = key.unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        match self.wakers.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => {
                if let Some((_, old)) = self.wakers.get_mut(at) {
                    old.clone_from(waker);
                }
            }
            Err(at) => self.wakers.insert(at, (key, waker.clone())),
        }
        key
    }

    fn forget(&mut self, key: u64) {
        if let Ok(at) = self.wakers.binary_search_by_key(&key, |(key, _)| *key) {
            self.wakers.remove(at);
        }
    }
}

impl Cancellation {
    /// A cancellation that also holds when this one does, but not the other way round.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(CancelState { parent: Some(self.clone()), ..CancelState::default() }))
    }

    /// Asks everyone to stop.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        let wakers = std::mem::take(&mut self.wakers().wakers);
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// True after a stop was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.chain().any(|c| c.0.cancelled.load(Ordering::SeqCst))
    }

    /// Completes when a stop is asked for.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { cancellation: self.clone(), keys: Vec::new() }
    }

    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |c| c.0.parent.as_ref())
    }

    fn wakers(&self) -> std::sync::MutexGuard<'_, Wakers> {
        self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.is_cancelled()).finish()
    }
}

/// Completes when its [`Cancellation`] is asked for.
#[derive(Debug)]
pub struct Cancelled {
    cancellation: Cancellation,
    /// The key of this waker in each cancellation of the chain, innermost first.
    keys: Vec<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let cancellation = self.cancellation.clone();
        for (i, c) in cancellation.chain().enumerate() {
            let old = self.keys.get(i).copied();
            let key = c.wakers().wake(old, cx.waker());
            if old.is_none() {
                self.keys.push(key);
            }
        }
        // Asked after the wakers are in place: a stop in between is seen here or wakes us.
        if cancellation.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        for (c, key) in self.cancellation.chain().zip(&self.keys) {
            c.wakers().forget(*key);
        }
    }
}
