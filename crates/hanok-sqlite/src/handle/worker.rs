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
use hanok_core::{BoxError, Position, ThreadKey};

use super::watch::{LOOK, Waiter, Watch};
use crate::file::database::{Database, WriteAhead};

type Job = Box<dyn FnOnce(&mut Database) + Send>;

type Closed = Result<WriteAhead, CheckpointError>;

/// The thread's next work.
enum Work {
    Job(Job),
    Wait(Waiter),
    Close(oneshot::Sender<Closed>),
}

/// Queues jobs for the database's thread. The thread ends when the last clone is gone and its queue is empty.
#[derive(Debug, Clone)]
pub(crate) struct Worker(Arc<Thread>);

#[derive(Debug)]
struct Thread {
    jobs: mpsc::Sender<Work>,
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
        let (jobs, queue) = mpsc::channel::<Work>();
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
            let outcome = job(database);
            database.truncate_again();
            drop(done.send(outcome));
        });
        self.0.jobs.send(Work::Job(job)).map_err(|_unsent| gone(Ended))?;
        answer.await.map_err(|_unanswered| gone(Ended))?
    }

    /// Waits for the head of `thread` to be beyond `after`, and gives it.
    pub(super) async fn beyond(
        &self,
        thread: ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        let (answer, head) = oneshot::channel();
        let waiter = Waiter { thread, after, answer };
        self.0.jobs.send(Work::Wait(waiter)).map_err(|_unsent| gone(Ended))?;
        head.await.map_err(|_unanswered| gone(Ended))?
    }

    /// Closes the database after the jobs that are queued; those that come later are refused.
    pub(crate) async fn close(&self) -> Closed {
        let (closed, answer) = oneshot::channel();
        self.0.jobs.send(Work::Close(closed)).map_err(|_unsent| gone(Ended))?;
        answer.await.map_err(|_unanswered| gone(Ended))?
    }
}

/// Does what is queued until nobody can queue anything more, or it is closed.
fn work(queue: &Receiver<Work>, mut database: Database) {
    let mut watch = Watch::default();
    loop {
        let work = match watch.is_on() {
            true => queue.recv_timeout(LOOK),
            false => queue.recv().map_err(|_gone| RecvTimeoutError::Disconnected),
        };
        match work {
            Ok(Work::Job(job)) => job(&mut database),
            Ok(Work::Wait(waiter)) => watch.add(waiter),
            Ok(Work::Close(closed)) => {
                drop(closed.send(database.close()));
                return;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        watch.look(&mut database);
    }
}

/// Why a call was not made.
#[derive(Debug, thiserror::Error)]
#[error("the store was closed")]
struct Ended;

fn gone(source: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::Unavailable {
        reason: "the database's thread does not run",
        source: source.into(),
    }
}
