//! The thread on which the database lives.

use std::{
    mem,
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
};

use futures_channel::oneshot;
use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;

use super::watch::LOOK;
use crate::file::database::{Database, WriteAhead};

type Job = Box<dyn FnOnce(&mut Database) + Send>;

type Closed = Result<WriteAhead, CheckpointError>;

/// What the thread does next.
enum Task {
    Job(Job),
    Close(oneshot::Sender<Closed>),
}

/// Queues jobs for the database's thread. The thread ends when the last clone is gone and its queue is empty.
#[derive(Debug, Clone)]
pub(crate) struct Worker(Arc<Thread>);

#[derive(Debug)]
struct Thread {
    jobs: mpsc::Sender<Task>,
    thread: Option<JoinHandle<()>>,
}

/// The database is closed when its last handle is gone: whoever ends the process then leaves nothing beside the file.
impl Drop for Thread {
    fn drop(&mut self) {
        // With its only sender the queue ends, once what is in it is done.
        drop(mem::replace(&mut self.jobs, mpsc::channel().0));
        if let Some(thread) = self.thread.take()
            // Waking a caller may drop what holds the last handle.
            && thread.thread().id() != thread::current().id()
        {
            // A panic there has told itself.
            drop(thread.join());
        }
    }
}

impl Worker {
    /// Starts a thread that opens its database with `open`.
    pub(crate) async fn start(
        open: impl FnOnce() -> Result<Database, CheckpointError> + Send + 'static,
    ) -> Result<Self, CheckpointError> {
        let (jobs, queue) = mpsc::channel::<Task>();
        let (opened, answer) = oneshot::channel();
        let begin = move || match open() {
            Ok(database) => {
                // Whoever asked may be gone; then the queue is closed, and the loop ends at once.
                drop(opened.send(Ok(())));
                work(&queue, database);
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        let thread =
            thread::Builder::new().name("hanok-sqlite".into()).spawn(begin).map_err(gone)?;
        let worker = Self(Arc::new(Thread { jobs, thread: Some(thread) }));
        answer.await.map_err(gone)??;
        Ok(worker)
    }

    /// Runs `job` after those that are queued, and waits for what it gives.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Database) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        let (done, answer) = oneshot::channel();
        let job: Job = Box::new(move |database| {
            // A caller that is gone does not hear the answer; the job ran to its end all the same.
            let given = job(database);
            database.truncate_again();
            drop(done.send(given));
        });
        self.0.jobs.send(Task::Job(job)).map_err(|_unsent| gone(Ended))?;
        answer.await.map_err(|_unanswered| gone(Ended))?
    }

    /// Closes the database after the jobs that are queued; those that come later are refused.
    pub(crate) async fn close(&self) -> Closed {
        let (closed, answer) = oneshot::channel();
        self.0.jobs.send(Task::Close(closed)).map_err(|_unsent| gone(Ended))?;
        answer.await.map_err(|_unanswered| gone(Ended))?
    }
}

/// Does what is queued until nobody can queue anything more, or it is closed.
fn work(queue: &Receiver<Task>, mut database: Database) {
    loop {
        let task = match database.watch.is_on() {
            true => queue.recv_timeout(LOOK),
            false => queue.recv().map_err(|_gone| RecvTimeoutError::Disconnected),
        };
        match task {
            Ok(Task::Job(job)) => job(&mut database),
            Ok(Task::Close(closed)) => {
                drop(closed.send(database.close()));
                return;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        database.look();
    }
}

/// Why a call was not made.
#[derive(Debug, thiserror::Error)]
#[error("the store was closed")]
struct Ended;

pub(crate) fn gone(source: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::Unavailable {
        reason: "the database's thread does not run",
        source: source.into(),
    }
}
