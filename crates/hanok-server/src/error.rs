//! Errors of the server.

use hanok_checkpoint::{CheckpointError, StoreError};
use hanok_core::{InvalidName, RunId, ThreadKey};
use hanok_graph::RunError;
use thiserror::Error;

/// Why the server does not do what it was asked for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No graph of this name is served.
    #[error("there is no graph `{graph}`; served are {}", .graphs.join(", "))]
    NoSuchGraph {
        /// The name.
        graph: String,
        /// The graphs that are served.
        graphs: Vec<String>,
    },
    /// The thread has no run of this id.
    #[error("there is no run `{0}` of that thread")]
    NoSuchRun(RunId),
    /// A run of the thread is not over, and the request wants to be alone.
    #[error("thread `{0}` has a run that is not over")]
    Busy(ThreadKey),
    /// Too many runs of the thread wait.
    #[error("{most} runs of thread `{thread}` wait already; try again later")]
    ThreadFull {
        /// The thread.
        thread: ThreadKey,
        /// The most that may wait.
        most: usize,
    },
    /// Too many runs of the tenant wait.
    #[error("{0} runs wait already; try again later")]
    TenantFull(usize),
    /// The idempotency key was used for another request.
    #[error("this idempotency key was used for another request")]
    OtherRequest,
    /// Others change the thread all the time.
    #[error("others change thread `{0}` all the time; try again")]
    Contended(ThreadKey),
    /// The input is none.
    #[error("the input is none: {0}")]
    Input(#[source] serde_json::Error),
    /// A state has no JSON.
    #[error("{0}")]
    NoJson(String),
    /// A text is no name.
    #[error("{0}")]
    Name(#[from] InvalidName),
    /// The graph or its thread refuses.
    #[error("{0}")]
    Run(#[source] Box<RunError>),
    /// The store of items fails.
    #[error("{0}")]
    Store(#[source] Box<StoreError>),
    /// The store of logs fails.
    #[error("{0}")]
    Checkpoint(#[source] Box<CheckpointError>),
}

/// Errors that are large are boxed.
macro_rules! boxed {
    ($($variant:ident($error:ty)),*) => {$(
        impl From<$error> for ServeError {
            fn from(error: $error) -> Self {
                Self::$variant(Box::new(error))
            }
        }
    )*};
}

boxed!(Run(RunError), Store(StoreError), Checkpoint(CheckpointError));

impl ServeError {
    /// The code of an error, and its status, if there is an error of this code.
    pub(crate) fn of_code(code: &str) -> Option<(&'static str, u16)> {
        let lists = [
            (Self::CODES, Self::STATUSES),
            (RunError::CODES, RunError::STATUSES),
            (CheckpointError::CODES, CheckpointError::STATUSES),
        ];
        let mut known = lists.into_iter().flat_map(|(codes, statuses)| codes.iter().zip(statuses));
        known.find(|(known, _)| **known == code).map(|(code, status)| (*code, *status))
    }

    /// True for what may go well when it is tried again.
    pub fn is_passing(&self) -> bool {
        self.status() == 503
    }
}

hanok_core::error_codes! {
    ServeError {
        "HNK-401" 404: Self::NoSuchGraph { .. },
        "HNK-402" 404: Self::NoSuchRun(_),
        "HNK-403" 409: Self::Busy(_),
        "HNK-404" 429: Self::ThreadFull { .. },
        "HNK-405" 429: Self::TenantFull(_),
        "HNK-406" 422: Self::OtherRequest,
        "HNK-407" 503: Self::Contended(_),
        "HNK-408" 422: Self::Name(_),
        "HNK-409" 422: Self::Input(_),
        "HNK-422" 500: Self::NoJson(_),
    }
    of {
        Self::Run(error) => error,
        Self::Store(error) => error,
        Self::Checkpoint(error) => error,
    }
}
