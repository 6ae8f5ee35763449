//! Entries of a log, and what they amount to.
//!
//! An [`Entry`](body::Entry) has a time, a namespace and a body; the vocabulary of bodies is closed. Each body is a record that is
//! declared once ([`record!`](crate::wire::record)): of [runs](run), of [tasks](task), of the [state] as a whole.
//!
//! [`ThreadFold::apply`](fold::ThreadFold::apply) folds entries, one after the other: per namespace a [`RunFold`](fold::RunFold) with
//! the state, what is due ([`Frontier`](frontier::Frontier)) and the records of the tasks that are due
//! ([`StepRecords`](step_records::StepRecords)). A [`Snapshot`](snapshot::Snapshot) is a fold without those records.
//!
//! Invariants
//!
//! - The same entries fold to the same state in every process and every build; folding runs nobody's code.
//! - A commit, an edit that schedules, a rewind and a new turn clear the records of tasks, and nothing else does.
//! - Bytes are stable: the golden tests compare them. Numbers of bodies are added, never reused.
//!
//! The room imports values of `hanok-core`, `wire`, `life`, `claim`; it knows neither bytes of records nor stores.

pub(crate) mod apply;
pub(crate) mod body;
pub(crate) mod fold;
pub(crate) mod frontier;
pub(crate) mod graph_id;
pub(crate) mod outbox;
pub(crate) mod pending;
pub(crate) mod run;
pub(crate) mod run_end;
pub(crate) mod snapshot;
pub(crate) mod state;
pub(crate) mod step_records;
pub(crate) mod task;
