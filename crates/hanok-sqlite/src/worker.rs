//! The thread on which the database lives.

use std::{
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
};

use futures_channel::oneshot;
use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;

use crate::{database::Database, watch::LOOK};

type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// Queues jobs for the database's thread. The thread ends when the last clone is gone and its queue is empty.
#[derive(Debug, Clone)]
pub(crate) struct Worker(mpsc::Sender<Job>);

impl Worker {
    /// Starts a thread that opens its database with `open`.
    pub(crate) async fn start(
        open: impl FnOnce() -> Result<Database, CheckpointError> + Send + 'static,
    ) -> Result<Self, CheckpointError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (opened, answer) = oneshot::channel();
        let begin = move || match open() {
            Ok(mut database) => {
                // Whoever asked may be gone; then the queue is closed, and the loop ends at once.
                drop(opened.send(Ok(())));
                work(&queue, &mut database);
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        thread::Builder::new().name("hanok-sqlite".into()).spawn(begin).map_err(gone)?;
        answer.await.map_err(gone)??;
        Ok(Self(jobs))
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
        self.0.send(job).map_err(|unsent| gone(unsent.to_string()))?;
        answer.await.map_err(gone)?
    }
}

/// Does what is queued until nobody can queue anything more.
fn work(queue: &Receiver<Job>, database: &mut Database) {
    loop {
        let job = match database.watch.is_on() {
            true => queue.recv_timeout(LOOK),
            false => queue.recv().map_err(|_gone| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => job(database),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        database.look();
    }
}

pub(crate) fn gone(source: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::Unavailable {
        reason: "the database's thread does not run",
        source: source.into(),
    }
}
