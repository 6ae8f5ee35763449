//! A run, as its row says it.

use std::fmt;

use hanok_checkpoint::{CheckpointError, Codec, RunEnd};
use hanok_core::{ItemKey, Position, RunId, Stored, ThreadKey, Timestamp};
use serde::{Deserialize, Serialize};

use super::request::Request;

/// A run that was accepted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunRow {
    /// Its id.
    pub run: RunId,
    /// Its thread.
    pub thread: ThreadKey,
    /// How far it is.
    pub status: RunStatus,
    /// What was asked for.
    pub request: Request,
    /// The position that its thread was at before it can have begun; `None` until it is taken up.
    pub since: Option<Position>,
    /// How it is to be stopped, if anybody asked for that.
    pub stop: Option<Stop>,
    /// How it ended.
    pub end: Option<Ended>,
    /// When it was accepted.
    pub created: Timestamp,
    /// When it was written last.
    pub updated: Timestamp,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It waits in its queue.
    Pending,
    /// It is under way.
    Running,
    /// It has ended: its turn is done, or people are asked.
    Success,
    /// It has failed.
    Error,
    /// It has used up its time.
    Timeout,
    /// It was stopped, or calls are in doubt.
    Interrupted,
}

impl RunStatus {
    /// True when the run has ended.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }

    /// The name that clients see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// What it has stored stays.
    Interrupt,
    /// Its thread goes back to before it.
    Rollback,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ended {
    /// The end as the log says it, or `failed` for a run that could not begin.
    pub outcome: RunEnd,
    /// The code of the error, if it is one.
    pub code: Option<String>,
    /// What went wrong.
    pub detail: String,
    /// True for a turn that has used up its time.
    #[serde(default)]
    pub out_of_time: bool,
    /// The position at which its thread was then.
    #[serde(default)]
    pub until: Option<Position>,
}

impl Ended {
    /// An end without an error.
    pub(crate) fn of(outcome: RunEnd) -> Self {
        Self { outcome, code: None, detail: String::new(), out_of_time: false, until: None }
    }

    /// The end of a run that an error has ended.
    pub(crate) fn failed(code: &str, detail: String) -> Self {
        Self { code: Some(code.to_owned()), detail, ..Self::of(RunEnd::Failed) }
    }

    /// What clients see of it.
    pub fn status(&self) -> RunStatus {
        match &self.outcome {
            RunEnd::Done | RunEnd::Interrupted | RunEnd::Breakpoint => RunStatus::Success,
            RunEnd::Cancelled | RunEnd::Drained | RunEnd::InDoubt => RunStatus::Interrupted,
            _ if self.out_of_time => RunStatus::Timeout,
            _ => RunStatus::Error,
        }
    }

    /// True when people are asked.
    pub fn asks(&self) -> bool {
        matches!(self.outcome, RunEnd::Interrupted | RunEnd::Breakpoint | RunEnd::InDoubt)
    }
}

/// A row as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredRow {
    status: RunStatus,
    graph: String,
    sealed: Stored,
}

/// The sealed part of a row.
#[derive(Serialize, Deserialize)]
struct Inside {
    run: RunId,
    thread: ThreadKey,
    request: Request,
    since: Option<Position>,
    stop: Option<Stop>,
    end: Option<Ended>,
    created: Timestamp,
    updated: Timestamp,
}

impl RunRow {
    pub(crate) fn new(run: RunId, thread: ThreadKey, request: Request, now: Timestamp) -> Self {
        let (since, stop, end) = (None, None, None);
        let (status, created, updated) = (RunStatus::Pending, now, now);
        Self { run, thread, status, request, since, stop, end, created, updated }
    }

    pub(crate) fn to_stored(
        &self,
        codec: &Codec,
        key: &ItemKey,
    ) -> Result<Stored, CheckpointError> {
        let failed = |error: hanok_core::StoredError| CheckpointError::Encode(error.into());
        let row = self.clone();
        let inside = Inside {
            run: row.run,
            thread: row.thread,
            request: row.request,
            since: row.since,
            stop: row.stop,
            end: row.end,
            created: row.created,
            updated: row.updated,
        };
        let sealed = codec.seal_item(key, &Stored::encode(&inside).map_err(failed)?)?;
        let (status, graph) = (self.status, self.request.graph.clone());
        Stored::encode(&StoredRow { status, graph, sealed }).map_err(failed)
    }

    pub(crate) fn read(
        codec: &Codec,
        key: &ItemKey,
        value: &Stored,
    ) -> Result<Self, CheckpointError> {
        let failed = |error: hanok_core::StoredError| CheckpointError::Encode(error.into());
        let row: StoredRow = value.decode().map_err(failed)?;
        let inside: Inside = codec.open_item(key, &row.sealed)?.decode().map_err(failed)?;
        Ok(Self {
            run: inside.run,
            thread: inside.thread,
            status: row.status,
            request: inside.request,
            since: inside.since,
            stop: inside.stop,
            end: inside.end,
            created: inside.created,
            updated: inside.updated,
        })
    }
}
