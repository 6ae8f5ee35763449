//! The processes of a cluster, as its scenario sees them.

use std::{fmt, sync::Arc, time::Duration};

use futures::channel::oneshot::{Receiver, channel};
use hanok_checkpoint::{Batch, LogEntry, SharedStore};
use hanok_core::{BoxError, BoxFuture, ThreadKey, Timestamp};

use crate::{
    dice::Dice,
    effects::Effects,
    faults::{Fault, Faults},
    invariants,
    numbers::{Process, TaskNumber},
    play::Score,
    seams,
    stage::Stage,
    world::World,
};

/// The milliseconds within which a process that died is replaced.
const REPLACED: usize = 20_000;

/// Starts a process.
pub(crate) type Start<P> = Arc<dyn Fn(&World) -> Result<P, BoxError> + Send + Sync>;

/// The processes of a [`Cluster`](crate::Cluster) in one run, and whatever befalls them, for its scenario.
pub struct Cast<P> {
    pub(crate) stage: Stage<P>,
    start: Start<P>,
    /// The number of processes that live at once.
    count: usize,
    /// When those are started that take the place of dead ones.
    due: Vec<u64>,
    dice: Dice,
    is_quiet: bool,
}

impl<P: Send + Sync + 'static> Cast<P> {
    pub(crate) fn new(score: &Score, start: Start<P>, count: usize) -> Self {
        let stage = Stage::new(score);
        // The durability of each run is its own: no step has to be stored before its task's write.
        stage.core.inner().disk.in_time = false;
        let (due, is_quiet) = (vec![0; count], stage.is_quiet());
        Self { stage, start, count, due, dice: Dice::new(score.seed, 6), is_quiet }
    }

    /// Calls one of the processes, by the dice, and waits for the reply. What `call` gives runs as a task of that process.
    /// `None` when nobody can tell what came of the call: the process died or stands still, or the caller left.
    ///
    /// # Errors
    ///
    /// When nothing can go on, or a process cannot be started: pass it on as the scenario's own error.
    pub fn call<R>(
        &mut self,
        call: impl FnOnce(&P) -> BoxFuture<'static, R>,
    ) -> Result<Option<R>, String>
    where
        R: Send + 'static,
    {
        Ok(self.calls([call])?.pop().flatten())
    }

    /// As [`call`](Cast::call), several at once, each of a process of its own choice; the replies in the order of the calls.
    ///
    /// # Errors
    ///
    /// As [`call`](Cast::call).
    pub fn calls<R: Send + 'static, C: FnOnce(&P) -> BoxFuture<'static, R>>(
        &mut self,
        calls: impl IntoIterator<Item = C>,
    ) -> Result<Vec<Option<R>>, String> {
        let begun = calls.into_iter().map(|call| self.begin(call));
        let mut calls: Vec<Call<R>> = begun.collect::<Result<_, _>>()?;
        loop {
            let frozen = self.stage.core.frozen();
            calls.iter_mut().for_each(|call| call.look(frozen.contains_key(&call.process)));
            let open: Vec<_> =
                calls.iter().filter(|call| call.reply.is_none()).map(|call| call.task).collect();
            if open.is_empty() {
                return Ok(calls.into_iter().map(|call| call.reply.flatten()).collect());
            }
            self.turn(&open)?;
        }
    }

    /// Lets time pass, and befall what befalls.
    ///
    /// # Errors
    ///
    /// As [`call`](Cast::call).
    pub fn wait(&mut self, time: Duration) -> Result<(), String> {
        let until = self.stage.alarm(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        while self.stage.core.inner().now < until {
            self.turn(&[])?;
        }
        Ok(())
    }

    /// From here on nothing goes wrong any more. What stands still wakes at its time; clocks that are wrong stay so.
    pub fn calm(&mut self) {
        self.stage.faults = Faults::none();
        self.stage.core.inner().fate.end();
    }

    /// True in a run in which nothing goes wrong from the beginning.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.stage.core.seed
    }

    /// A number below `end`, by the seed; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.dice.below(end)
    }

    /// True once in `n` times, by the seed.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.dice.one_in(n)
    }

    /// The time, by a clock that is right.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.stage.core.inner().now)
    }

    /// The log of `thread`, on all branches, oldest first: also what was cut off since. Nothing goes wrong with this read.
    pub fn log(&self, thread: &ThreadKey) -> Vec<LogEntry> {
        let inner = self.stage.core.inner();
        inner.disk.book(thread).map(|book| book.entries.clone()).unwrap_or_default()
    }

    /// The batches that wrote items and that stand, each with the time that its process said it was, oldest first.
    pub fn batches(&self) -> Vec<(Timestamp, Batch)> {
        let inner = self.stage.core.inner();
        inner.disk.batches().map(|(now, batch)| (now, batch.clone())).collect()
    }

    /// The items as they are now, to be read: nothing goes wrong there, and no call waits. After the death of the machine ask for it
    /// anew.
    pub fn items(&self) -> SharedStore {
        self.stage.core.inner().disk.items()
    }

    /// The ledger of what nodes did.
    pub fn effects(&self) -> Effects {
        Effects::new(&self.stage.core, Process::MAX)
    }

    /// Begins a call of a process, as soon as there is one that can be called.
    fn begin<R: Send + 'static>(
        &mut self,
        call: impl FnOnce(&P) -> BoxFuture<'static, R>,
    ) -> Result<Call<R>, String> {
        self.replace()?;
        let mut able = self.stage.able(|_| true);
        while able.is_empty() {
            self.turn(&[])?;
            able = self.stage.able(|_| true);
        }
        let at = self.stage.dice.pick(&able).copied().unwrap_or_default();
        let Some(alive) = self.stage.alive.get(at) else { return Err("no process".to_owned()) };
        let (reply, answer) = channel();
        let (process, call) = (alive.number, call(&alive.process));
        let task = Box::pin(async move {
            // A caller who left hears nothing.
            drop(reply.send(call.await));
        });
        let task = seams::start(&self.stage.core, process, task);
        Ok(Call { process, task, answer, reply: None })
    }

    /// Polls once, and lets befall what befalls: of the calls that are `open`, one may lose its caller.
    fn turn(&mut self, open: &[TaskNumber]) -> Result<(), String> {
        self.replace()?;
        self.stage.turn()?;
        self.stage.bury();
        let Some(fault) = self.stage.core.inner().fate.poll() else { return Ok(()) };
        if fault == Fault::Drop {
            self.leave(open);
            return Ok(());
        }
        let able = self.stage.able(|_| true);
        let victim = self.stage.dice.pick(&able).and_then(|at| self.stage.alive.get(*at));
        if let Some(victim) = victim.map(|alive| alive.number) {
            self.stage.strike(victim, fault);
        }
        Ok(())
    }

    /// The caller of one of the calls that are `open` leaves.
    fn leave(&mut self, open: &[TaskNumber]) {
        let Some(task) = self.stage.dice.pick(open).copied() else { return };
        let Some(process) = self.stage.executor.process(task) else { return };
        self.stage.strike(process, Fault::Drop);
        self.stage.executor.abort(task);
    }

    /// Starts what takes the place of dead processes, each after a while of its own.
    fn replace(&mut self) -> Result<(), String> {
        while self.stage.alive.len() + self.due.len() < self.count {
            let millis = self.stage.dice.below(REPLACED) as u64;
            self.due.push(self.stage.alarm(millis));
        }
        let now = self.stage.core.inner().now;
        for _ in self.due.extract_if(.., |at| *at <= now) {
            let start = &self.start;
            self.stage.start(|world| start(world).map_err(|error| error.to_string()))?;
        }
        Ok(())
    }

    /// The promise that was broken, whatever the scenario says.
    pub(crate) fn broken(&self) -> Result<(), String> {
        let inner = self.stage.core.inner();
        match inner.disk.wrong.first() {
            Some(wrong) => Err(wrong.clone()),
            None => inner.disk.books().try_for_each(|book| invariants::chained(&book.entries)),
        }
    }
}

impl<P> fmt::Debug for Cast<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cast").field("core", &self.stage.core).finish_non_exhaustive()
    }
}

/// A call under way.
struct Call<R> {
    process: Process,
    task: TaskNumber,
    answer: Receiver<R>,
    /// What came of it, once that is known: no reply when it is lost.
    reply: Option<Option<R>>,
}

impl<R> Call<R> {
    /// Looks whether it has a reply, or is lost.
    fn look(&mut self, stands_still: bool) {
        if self.reply.is_some() {
            return;
        }
        self.reply = match self.answer.try_recv() {
            Ok(None) => stands_still.then_some(None),
            Ok(reply) => Some(reply),
            Err(_) => Some(None),
        };
    }
}
