//! The thread that changes an index.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    task::{Context, Waker},
    thread::{self, JoinHandle},
    time::Duration,
};

use futures_channel::oneshot;
use tantivy::{
    FutureResult, IndexWriter,
    index::SegmentMeta,
    indexer::{IndexWriterOptions, LogMergePolicy, MergePolicy, NoMergePolicy},
};

use super::{Shared, fields::Entries, open::label, view::Changed};
use crate::{
    document::Passage,
    error::{BoxError, RetrievalError},
};

/// What is written is held in so much memory before it goes to a file.
const MEMORY: usize = 64 << 20;

/// Of so many parts of one size, one is made.
const PARTS: usize = 8;

/// A part with more than this share of removed entries is written anew.
const REMOVED: f32 = 0.3;

/// With so many parts, they are merged while others come.
const MANY: usize = 32;

/// How often it is looked whether a merge is done.
const LOOK: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce(&mut Writer) + Send>;

/// Queues jobs for the thread, which ends, and gives the index free, when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a thread that opens the index with `open` and writes to it.
    pub(super) async fn start(
        open: impl FnOnce() -> Result<Shared, RetrievalError> + Send + 'static,
    ) -> Result<(Self, Arc<Shared>), RetrievalError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (opened, answer) = oneshot::channel();
        let begin = move || {
            let writer = open().and_then(|shared| {
                let shared = Arc::new(shared);
                let mut writer = Writer {
                    shared: Arc::clone(&shared),
                    index: None,
                    merges: Vec::new(),
                    untidy: true,
                };
                writer.hold().map_err(|error| shared.told(error))?;
                Ok(writer)
            });
            match writer {
                Ok(mut writer) => {
                    // Whoever asked may be gone; then the queue is closed, and the loop ends at once.
                    drop(opened.send(Ok(Arc::clone(&writer.shared))));
                    work(&queue, &mut writer);
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        };
        let thread = thread::Builder::new().name("hanok-local".into()).spawn(begin);
        let worker = Self { jobs: Some(jobs), thread: Some(thread.map_err(gone)?) };
        let shared = answer.await.map_err(gone)??;
        Ok((worker, shared))
    }

    /// Runs `job` after those that are queued, and waits for what it gives.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Writer) -> Result<T, RetrievalError> + Send + 'static,
    ) -> Result<T, RetrievalError> {
        let (done, answer) = oneshot::channel();
        let job: Job = Box::new(move |writer| {
            // A caller that is gone does not hear the answer; the job ran to its end all the same.
            drop(done.send(job(writer)));
        });
        let jobs = self.jobs.as_ref().ok_or("the store is closed");
        jobs.map_err(gone)?.send(job).map_err(|unsent| gone(unsent.to_string()))?;
        answer.await.map_err(gone)?
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        // A thread that panicked holds the index no more, either.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Does what is queued until nobody can queue anything more.
fn work(queue: &Receiver<Job>, writer: &mut Writer) {
    loop {
        let job = match writer.untidy || !writer.merges.is_empty() {
            true => queue.recv_timeout(LOOK),
            false => queue.recv().map_err(|_gone| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => {
                job(writer);
                writer.untidy = true;
            }
            Err(RecvTimeoutError::Timeout) => writer.tidy(1),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        writer.tidy(MANY);
    }
}

/// Changes the index.
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// `None` after an error: what it had begun is given up.
    index: Option<IndexWriter>,
    merges: Vec<FutureResult<Option<SegmentMeta>>>,
    /// Whether there may be parts to merge.
    untidy: bool,
}

/// A document as it is to be: what stands for it, or nothing.
type Change = (String, Option<Entries>);

impl Writer {
    /// Puts `passages` in place of all of their sources.
    pub(super) fn put(&mut self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        let mut documents: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
        for passage in passages {
            documents.entry(passage.source.clone()).or_default().push(passage);
        }
        let mut changes: Vec<Change> = Vec::new();
        for (source, mut passages) in documents {
            passages.sort_by_key(|passage| passage.ordinal);
            let fields = self.shared.fields();
            let entries = fields.entries(&passages, &self.shared.terms);
            let Some(entries) = entries.map_err(RetrievalError::Unavailable)? else {
                continue;
            };
            if self.shared.view().heads.get(&source) != Some(&entries.head) {
                changes.push((source, Some(entries)));
            }
        }
        self.change(changes)
    }

    /// Removes a document. Says whether it was there.
    pub(super) fn remove(&mut self, source: String) -> Result<bool, RetrievalError> {
        let there = self.shared.view().heads.contains_key(&source);
        if there {
            self.change(vec![(source, None)])?;
        }
        Ok(there)
    }

    fn change(&mut self, changes: Vec<Change>) -> Result<(), RetrievalError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.commit(changes).map_err(|error| {
            self.index = None;
            self.merges.clear();
            self.untidy = false;
            // Whether the commit is there, the files say.
            match self.shared.look_again() {
                Ok(()) => self.shared.late(error),
                Err(worse) => worse,
            }
        })
    }

    fn commit(&mut self, changes: Vec<Change>) -> Result<(), BoxError> {
        let (fields, label) = (self.shared.fields(), label(&self.shared.terms)?);
        let index = self.hold()?;
        let mut changed = Vec::with_capacity(changes.len());
        for (source, new) in changes {
            index.delete_term(fields.of(&source));
            let Some(new) = new else {
                changed.push(Changed { source, head: None, vectors: Vec::new() });
                continue;
            };
            for entry in new.entries {
                index.add_document(entry)?;
            }
            changed.push(Changed { source, head: Some(new.head), vectors: new.vectors });
        }
        let mut commit = index.prepare_commit()?;
        commit.set_payload(&label);
        commit.commit()?;
        self.shared.advance(changed)?;
        Ok(())
    }

    /// What writes, and keeps others from writing.
    fn hold(&mut self) -> Result<&mut IndexWriter, BoxError> {
        let held = match self.index.take() {
            Some(held) => held,
            None => {
                let options = IndexWriterOptions::builder()
                    .memory_budget_per_thread(MEMORY)
                    .num_worker_threads(1)
                    .num_merge_threads(1)
                    .build();
                let writer = self.shared.index.writer_with_options(options)?;
                writer.set_merge_policy(Box::new(NoMergePolicy));
                writer
            }
        };
        Ok(self.index.insert(held))
    }

    /// Makes one part of many, where there are `least` of them, beside what is done else. What fails of it is tried again
    /// after the next change.
    fn tidy(&mut self, least: usize) {
        let before = self.merges.len();
        let mut context = Context::from_waker(Waker::noop());
        self.merges.retain_mut(|merge| Pin::new(merge).poll(&mut context).is_pending());
        if self.merges.len() < before {
            drop(self.shared.advance(Vec::new()));
        }
        if self.merges.is_empty()
            && let Some(index) = &mut self.index
            && self.untidy
            && let Ok(parts) = self.shared.index.searchable_segment_metas()
            && parts.len() >= least
        {
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(PARTS);
            policy.set_del_docs_ratio_before_merge(REMOVED);
            let planned = policy.compute_merge_candidates(&parts);
            self.untidy = !planned.is_empty();
            self.merges.extend(planned.iter().map(|merge| index.merge(&merge.0)));
        }
    }
}

fn gone(source: impl Into<BoxError>) -> RetrievalError {
    RetrievalError::Unavailable(source.into())
}
