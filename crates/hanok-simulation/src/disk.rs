//! The disk of a world, and the part of it that a crash leaves.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use futures::FutureExt;
use hanok_checkpoint::{
    Append, Batch, Batched, Body, CheckpointError, Checkpointer, Codec, Epoch, Guard, Head,
    InMemoryCheckpointer, InMemoryStore, Life, Log, LogEntry, Safety, SharedCheckpointer,
    SharedStore, Store, StoreError, ThreadFold, Trim,
};
use hanok_core::{Namespace, Position, TaskId, ThreadKey, Timestamp};

use crate::{dice::Dice, numbers::Process};

/// Logs and items in memory, and all that was done to them, in the one order in which a file would have it.
pub(crate) struct Disk {
    memory: SharedCheckpointer,
    items: SharedStore,
    done: Vec<Done>,
    /// The number of those that the death of the machine leaves.
    safe: usize,
    threads: BTreeMap<ThreadKey, Book>,
    /// The books of threads that were deleted.
    pub(crate) deleted: Vec<Book>,
    /// The broken promises that were noticed.
    pub(crate) wrong: Vec<String>,
    /// True after the death of a machine took something with it.
    pub(crate) lost: bool,
    /// By process, thread and graph, the node and the task that were started last.
    pub(crate) current: BTreeMap<(Process, ThreadKey, Namespace), (String, TaskId)>,
    /// The steps that each task has worked.
    pub(crate) worked: BTreeMap<(ThreadKey, TaskId), BTreeSet<String>>,
    /// True while a step's result is stored before its task's write.
    pub(crate) in_time: bool,
}

#[derive(Clone)]
enum Done {
    Append(Process, ThreadKey, Box<Append>),
    Beat(ThreadKey, Life, Epoch, Timestamp),
    Snapshot(ThreadKey, Life, Position, Bytes),
    Delete(ThreadKey),
    Trim(Process, ThreadKey, Box<Trim>),
    Batch(Batch, Timestamp),
    Sweep(Timestamp, usize),
}

/// One thread's log, read.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) life: Option<Life>,
    /// All that was ever stored, also what was cut off since.
    pub(crate) entries: Vec<LogEntry>,
    /// The fold that the log begins with since something was erased from it.
    pub(crate) start: Option<ThreadFold>,
    /// Whose claim holds.
    pub(crate) taker: Option<Process>,
    /// The tasks whose writes are stored: alone, or with a commit.
    written: BTreeSet<TaskId>,
    memos: BTreeSet<(TaskId, String)>,
}

impl Disk {
    pub(crate) fn new() -> Self {
        Self {
            memory: SharedCheckpointer::new(InMemoryCheckpointer::new()),
            items: SharedStore::new(InMemoryStore::new()),
            done: Vec::new(),
            safe: 0,
            threads: BTreeMap::new(),
            deleted: Vec::new(),
            wrong: Vec::new(),
            lost: false,
            current: BTreeMap::new(),
            worked: BTreeMap::new(),
            in_time: true,
        }
    }

    /// The store of items as it is.
    pub(crate) fn items(&self) -> SharedStore {
        self.items.clone()
    }

    /// The batches that stand, each with its time, in order.
    pub(crate) fn batches(&self) -> impl Iterator<Item = (Timestamp, &Batch)> {
        self.done.iter().filter_map(|done| match done {
            Done::Batch(batch, now) if !batch.writes.is_empty() => Some((*now, batch)),
            _ => None,
        })
    }

    /// The store of logs as it is.
    pub(crate) fn store(&self) -> SharedCheckpointer {
        self.memory.clone()
    }

    /// The log of `thread`, if it has one.
    pub(crate) fn book(&self, thread: &ThreadKey) -> Option<&Book> {
        self.threads.get(thread)
    }

    /// Notes what was done; `is_safe` when the death of the machine leaves it, and all before it.
    fn note(&mut self, done: Done, is_safe: bool) {
        self.done.push(done);
        if is_safe {
            self.safe = self.done.len();
        }
    }

    /// The logs of all threads.
    pub(crate) fn books(&self) -> impl Iterator<Item = &Book> {
        self.threads.values()
    }

    pub(crate) fn append(
        &mut self,
        process: Process,
        thread: &ThreadKey,
        append: Append,
    ) -> Result<(), CheckpointError> {
        at_once(self.memory.append(thread, append.clone()))?;
        let is_safe = append.safety == Safety::Machine;
        self.read(process, thread, &append);
        self.note(Done::Append(process, thread.clone(), Box::new(append)), is_safe);
        Ok(())
    }

    pub(crate) fn beat(
        &mut self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        at_once(self.memory.beat(thread, life, epoch, now))?;
        self.note(Done::Beat(thread.clone(), life, epoch, now), false);
        Ok(())
    }

    pub(crate) fn put_snapshot(
        &mut self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        bytes: Bytes,
    ) -> Result<(), CheckpointError> {
        at_once(self.memory.put_snapshot(thread, life, position, bytes.clone()))?;
        self.note(Done::Snapshot(thread.clone(), life, position, bytes), false);
        Ok(())
    }

    /// Removes a thread. No machine that dies forgets it.
    pub(crate) fn delete(
        &mut self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        let deleted = at_once(self.memory.delete(thread, expected))?;
        if deleted {
            self.deleted.extend(self.threads.remove(thread));
            self.note(Done::Delete(thread.clone()), true);
        }
        Ok(deleted)
    }

    /// Cuts a thread off, and appends what comes with it. No machine that dies forgets it.
    pub(crate) fn trim(
        &mut self,
        process: Process,
        thread: &ThreadKey,
        trim: Trim,
    ) -> Result<(), CheckpointError> {
        at_once(self.memory.trim(thread, trim.clone()))?;
        self.note(Done::Trim(process, thread.clone(), Box::new(trim.clone())), true);
        let Some(append) = trim.then else { return Ok(()) };
        self.read(process, thread, &append);
        let opened = at_once(Log::new(self.store(), thread.clone()).open(None))?;
        let book = self.threads.entry(thread.clone()).or_default();
        book.start = opened.map(|opened| opened.fold);
        Ok(())
    }

    /// Makes a batch of items.
    pub(crate) fn batch(&mut self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        let batched = at_once(self.items.batch(batch.clone(), now))?;
        let is_safe = batch.required_safety() == Safety::Machine && !batch.writes.is_empty();
        // A read that has items live on is a write, too.
        let lives_on = batched.items.iter().flatten().any(|item| item.ttl.is_some());
        if lives_on || !batch.writes.is_empty() {
            self.note(Done::Batch(batch, now), is_safe);
        }
        Ok(batched)
    }

    /// Removes items that have expired. No machine that dies forgets it.
    pub(crate) fn sweep(&mut self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let swept = at_once(self.items.sweep(now, limit))?;
        self.note(Done::Sweep(now, limit), true);
        Ok(swept)
    }

    /// The machine dies: some of what it had not been told to keep is gone.
    pub(crate) fn lose(&mut self, dice: &mut Dice) {
        let kept = self.safe + dice.below(self.done.len() - self.safe + 1);
        self.lost |= kept < self.done.len();
        let done: Vec<_> = self.done.drain(..kept).collect();
        let (wrong, lost) = (std::mem::take(&mut self.wrong), self.lost);
        let (safe, in_time) = (self.safe, self.in_time);
        *self = Self { wrong, lost, in_time: false, ..Self::new() };
        for one in done {
            let again = self.again(one);
            if let Err(error) = again {
                self.wrong.push(format!("what was stored cannot be stored again: {error}"));
            }
        }
        (self.safe, self.in_time) = (safe, in_time);
    }

    /// Does what was done before.
    fn again(&mut self, done: Done) -> Result<(), StoreError> {
        match done {
            Done::Append(process, thread, append) => self.append(process, &thread, *append)?,
            Done::Beat(thread, life, epoch, now) => self.beat(&thread, life, epoch, now)?,
            Done::Snapshot(thread, life, position, bytes) => {
                self.put_snapshot(&thread, life, position, bytes)?;
            }
            Done::Delete(thread) => drop(self.delete(&thread, None)?),
            Done::Trim(process, thread, trim) => self.trim(process, &thread, *trim)?,
            Done::Batch(batch, now) => drop(self.batch(batch, now)?),
            Done::Sweep(now, limit) => drop(self.sweep(now, limit)?),
        }
        Ok(())
    }

    /// The book of `thread`, if `process` holds it. `None` for one whose claim is lost.
    pub(crate) fn held_by(&self, process: Process, thread: &ThreadKey) -> Option<&Book> {
        self.threads.get(thread).filter(|book| book.taker == Some(process))
    }

    fn read(&mut self, process: Process, thread: &ThreadKey, append: &Append) {
        let book = self.threads.entry(thread.clone()).or_default();
        let life = *book.life.get_or_insert(append.life);
        if life != append.life {
            let at = append.expected.0 + 1;
            self.wrong.push(format!("P10: position {at} is stored for another life"));
        }
        // An append that was there already is not there twice.
        if append.expected.0 != book.entries.len() as u64 {
            return;
        }
        match &append.guard {
            Guard::Take(_) => book.taker = Some(process),
            Guard::Hold(_) | Guard::Release(_) if book.taker != Some(process) => {
                let at = append.expected.0 + 1;
                self.wrong.push(format!(
                    "P10: process {process} stored position {at} under a lost claim"
                ));
            }
            Guard::Unclaimed if book.taker.is_some() => {
                self.wrong.push("P10: something was stored beside a run".to_owned());
            }
            Guard::Release(_) | Guard::Clear(_) => book.taker = None,
            Guard::Hold(_) | Guard::Unclaimed => {}
        }
        for record in &append.records {
            match record.open(&Codec::default(), thread, append.life) {
                Ok((parent, entry)) => {
                    let (position, namespace) = (record.position, entry.namespace.clone());
                    let current = self.current.get(&(process, thread.clone(), namespace));
                    if let (true, Some(task)) = (self.in_time, written(&entry.body, current))
                        && let Some(step) =
                            book.has_not(task, self.worked.get(&(thread.clone(), task)))
                    {
                        let why = format!("P2: step `{step}` is not stored when its task is");
                        self.wrong.push(why);
                    }
                    book.note(&entry.body, current);
                    book.entries.push(LogEntry { position, parent, entry });
                }
                Err(error) => self.wrong.push(format!("P7: a record that cannot be read: {error}")),
            }
        }
    }
}

impl Book {
    fn note(&mut self, body: &Body, current: Option<&(String, TaskId)>) {
        match body {
            Body::Write(_) | Body::Commit(_) => self.written.extend(written(body, current)),
            Body::Void(void) => {
                let voided = |entry: &&LogEntry| void.writes.contains(&entry.position);
                for entry in self.entries.iter().filter(voided) {
                    if let Body::Write(write) = &entry.entry.body {
                        self.written.remove(&write.task);
                    }
                }
            }
            Body::Memo(memo) => {
                self.memos.insert((memo.task, memo.name.clone()));
            }
            _ => {}
        }
    }

    /// One of the steps of `task` whose result is not stored.
    fn has_not<'a>(&self, task: TaskId, steps: Option<&'a BTreeSet<String>>) -> Option<&'a String> {
        steps?.iter().find(|step| !self.has_memo(task, step))
    }

    /// True when the write of `task` is stored.
    pub(crate) fn has_written(&self, task: TaskId) -> bool {
        self.written.contains(&task)
    }

    /// True when the result of a step is stored.
    pub(crate) fn has_memo(&self, task: TaskId, name: &str) -> bool {
        self.memos.contains(&(task, name.to_owned()))
    }
}

/// The task whose write an entry stores: alone, or with a commit.
fn written(body: &Body, current: Option<&(String, TaskId)>) -> Option<TaskId> {
    match body {
        Body::Write(write) => Some(write.task),
        Body::Commit(commit) if commit.folds.is_empty() => {
            let of_node = current.filter(|(node, _)| commit.nodes.iter().all(|n| **n == **node));
            of_node.map(|(_, task)| *task)
        }
        _ => None,
    }
}

/// The answer of a store in memory, which never waits.
pub(crate) fn at_once<T, E: From<CheckpointError>>(
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    answer.now_or_never().unwrap_or_else(|| {
        let source = "it waits".into();
        Err(CheckpointError::Unavailable { reason: "it waits", source }.into())
    })
}
