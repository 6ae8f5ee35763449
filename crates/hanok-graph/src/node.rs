//! One node: what a user writes, and one attempt to run it.
//!
//! A [`function`] is a node when its parameters and its result fit ([`snapshot`], [`context`], [`command`]); its [`settings`] are
//! composed on it, a [`handler`] stands for it when it has failed for the last time. [`attempt`] is what one attempt of one task
//! knows and has done so far, [`run_context`] what all attempts of a run share: its journal, its meter, its cancellation.
//! [`question`] says how the identity of a question derives from its content, [`retry`] when another attempt is due, [`cache`]
//! which results are kept, [`note`] how a call that is under way is taken up again, [`activity`] what counts as a sign of life, [`readable`] that what is stored can be read back.
//!
//! An attempt *runs*, *waits* for a person, *returned*, *failed* or was *stopped*. What it began is cancelled when it is over,
//! also when it is dropped.
//!
//! What must hold:
//!
//! - A memoised step, a call with a stored result and an answered question are not done again, in whichever attempt.
//! - A call that must not be repeated is stored as intended before it is made.
//! - Equal questions of one task are counted, so each keeps its own answer.
//!
//! [`run`](crate::run) makes attempts. This room knows no graph: it sees the state, the settings and the journal.

pub(crate) mod activity;
pub(crate) mod async_router;
pub(crate) mod attempt;
pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod context;
mod context_place;
pub(crate) mod doubts;
pub(crate) mod for_test;
pub(crate) mod function;
pub(crate) mod handler;
pub(crate) mod note;
pub(crate) mod question;
pub(crate) mod readable;
pub(crate) mod retry;
pub(crate) mod run_context;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod task_ref;
