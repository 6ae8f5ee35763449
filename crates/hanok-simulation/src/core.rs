//! The core that all processes of a simulated world share: its time, its tasks, its disk and its dice.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

use hanok_core::BoxFuture;

use crate::{
    dice::Dice,
    disk::Disk,
    faults::{Fate, Fault, Faults, Places},
    ledger::Ledger,
    numbers::{BEGINS, Process, TaskNumber},
    trace::Trace,
};

/// The part of a world that all its processes share.
pub(crate) struct Core {
    pub(crate) seed: u64,
    inner: Mutex<WorldState>,
    ready: Arc<Ready>,
}

pub(crate) struct WorldState {
    pub(crate) now: u64,
    timers: BTreeMap<(u64, u64), Waker>,
    /// Processes that stand still, and until when.
    pub(crate) frozen: BTreeMap<Process, u64>,
    /// By how many milliseconds the clock of a process is wrong.
    pub(crate) skews: BTreeMap<Process, i64>,
    numbers: u64,
    pub(crate) started: Vec<(TaskNumber, Process, BoxFuture<'static, ()>)>,
    pub(crate) aborted: Vec<TaskNumber>,
    pub(crate) ids: Dice,
    pub(crate) rng: Dice,
    pub(crate) schedule: Dice,
    pub(crate) trace: Trace,
    pub(crate) disk: Disk,
    pub(crate) ledger: Ledger,
    pub(crate) fate: Fate,
    /// Processes that are about to die.
    pub(crate) dying: BTreeSet<Process>,
    /// Processes that were given a damaged record and have not said so yet.
    pub(crate) misread: BTreeSet<Process>,
    /// Processes in which a call may go on that nobody waits for: what they read may have been for that one.
    pub(crate) haunted: BTreeSet<Process>,
}

/// The tasks that can be polled.
#[derive(Default)]
struct Ready(Mutex<Vec<TaskNumber>>);

/// Wakes one task.
pub(crate) struct TaskWaker {
    number: TaskNumber,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            lock(&self.ready.0).push(self.number);
        }
    }
}

impl TaskWaker {
    /// It is polled now: whoever wakes it from here on has it polled again.
    pub(crate) fn polled(&self) {
        self.queued.store(false, Ordering::SeqCst);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Core {
    pub(crate) fn new(
        seed: u64,
        faults: Faults,
        places: Option<Places>,
        traced: bool,
    ) -> Arc<Self> {
        let inner = WorldState {
            now: BEGINS.0,
            timers: BTreeMap::new(),
            frozen: BTreeMap::new(),
            skews: BTreeMap::new(),
            numbers: 0,
            started: Vec::new(),
            aborted: Vec::new(),
            ids: Dice::new(seed, 2),
            rng: Dice::new(seed, 3),
            schedule: Dice::new(seed, 4),
            trace: Trace::new(traced),
            disk: Disk::new(),
            ledger: Ledger::default(),
            fate: Fate::new(seed, faults, places),
            dying: BTreeSet::new(),
            misread: BTreeSet::new(),
            haunted: BTreeSet::new(),
        };
        Arc::new(Self { seed, inner: Mutex::new(inner), ready: Arc::default() })
    }

    /// Locks what they share. It is held while nothing else runs: neither a task nor a waker.
    pub(crate) fn inner(&self) -> MutexGuard<'_, WorldState> {
        lock(&self.inner)
    }

    /// The processes that stand still.
    pub(crate) fn frozen(&self) -> BTreeMap<Process, u64> {
        self.inner().frozen.clone()
    }

    /// A waker for the task `number`, which is ready.
    pub(crate) fn waker(&self, number: TaskNumber) -> Arc<TaskWaker> {
        let ready = Arc::clone(&self.ready);
        let waker = Arc::new(TaskWaker { number, queued: AtomicBool::new(false), ready });
        waker.wake_by_ref();
        waker
    }

    /// One of the tasks that are ready and `may` be polled.
    pub(crate) fn choose(&self, may: impl Fn(TaskNumber) -> bool) -> Option<TaskNumber> {
        let mut inner = self.inner();
        let mut ready = lock(&self.ready.0);
        if inner.frozen.is_empty() {
            let at = inner.schedule.below(ready.len());
            return (at < ready.len()).then(|| ready.swap_remove(at));
        }
        let able: Vec<_> =
            (0..ready.len()).filter(|at| ready.get(*at).is_some_and(|n| may(*n))).collect();
        let at = *inner.schedule.pick(&able)?;
        Some(ready.swap_remove(at))
    }

    /// Lets time pass until something is due; false if nothing ever is.
    pub(crate) fn pass(&self) -> bool {
        let inner = self.inner();
        let timer = inner.timers.keys().next().map(|(at, _)| *at);
        let thaw = inner.frozen.values().min().copied();
        drop(inner);
        match timer.into_iter().chain(thaw).min() {
            Some(at) => {
                self.pass_to(at);
                true
            }
            None => false,
        }
    }

    /// Lets time pass to `to`, and wakes whoever waited for it.
    pub(crate) fn pass_to(&self, to: u64) {
        let mut inner = self.inner();
        inner.now = inner.now.max(to);
        let now = inner.now;
        inner.frozen.retain(|_, until| *until > now);
        let later = inner.timers.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut inner.timers, later);
        drop(inner);
        due.into_values().for_each(Waker::wake);
    }

    /// Lets a moment pass, now and then.
    pub(crate) fn tick(&self) {
        let mut inner = self.inner();
        let now = inner.now;
        let moves = inner.schedule.one_in(8);
        drop(inner);
        if moves {
            self.pass_to(now + 1);
        }
    }
}

impl WorldState {
    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    pub(crate) fn set_timer(&mut self, at: u64, number: u64, waker: Waker) {
        self.timers.insert((at, number), waker);
    }

    pub(crate) fn drop_timer(&mut self, at: u64, number: u64) {
        self.timers.remove(&(at, number));
    }

    /// Notes what happened.
    pub(crate) fn note(
        &mut self,
        what: &'static str,
        numbers: [u64; 3],
        more: impl FnOnce() -> String,
    ) {
        self.trace.note(self.now, what, numbers, more);
    }

    /// Notes that a fault befell `process`.
    pub(crate) fn befell(&mut self, process: Process, fault: Fault) {
        self.note("fault", [u64::from(process), fault as u64, 0], || format!("{fault:?}"));
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("seed", &self.seed).finish_non_exhaustive()
    }
}
