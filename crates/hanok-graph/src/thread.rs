//! The roof: a user's calls to a thread, from an app down to one turn of a run.
//!
//! An input goes from the [`handle`] through the [`queue`], which waits for the thread's slot in this process ([`active`]) as the
//! policy for new inputs says, to the [`turn`]: that reads the log (or takes the state from the cache of the app), finishes what a
//! lost run left, and takes the [`claim`] with the entries that begin the run. While the run goes on, its [`heartbeat`] renews
//! the claim; at the end the claim goes back in the append that says how the run ended.
//!
//! A thread is, to this process, *free*, *waited for* (a run holds the slot, others queue) or *running* (a run holds the slot and
//! the claim). To other processes only the claim in the log's head counts.
//!
//! What must hold:
//!
//! - One run at a time has the slot of a thread, and gives it up when its last append is over, also if it was dropped.
//! - Nothing of an input is stored before the claim is: [`RunError::Conflict`](crate::RunError::Conflict) means that nothing is.
//! - A run that has lost its claim stores nothing more, and ends as [`RunError::Superseded`](crate::RunError::Superseded).
//! - [`edit`], [`bulk`], [`erase`], [`restart`], [`reopen`], [`answer`] and [`late`] write between runs, on a thread whose claim nobody
//!   holds ([`unclaimed`]).
//!
//! Nothing in the crate calls this room; it calls all the others. [`replay`] reads a log and runs nobody's code; [`turns`] reads
//! where turns ended; [`follow`] reads a log as it grows, and what a run in this process tells besides, from the [`seat`] where the
//! run finds its readers; [`wake`] goes on where nobody answered in time; [`items`] follow the thread that they belong to;
//! [`run_graph`] is how the call of a tool runs a graph.

pub(crate) mod active;
mod admission;
pub(crate) mod answer;
pub(crate) mod app;
mod back;
pub(crate) mod bulk;
mod cancel;
pub(crate) mod claim;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod find_run;
pub(crate) mod follow;
pub(crate) mod handle;
pub(crate) mod heartbeat;
pub(crate) mod input;
pub(crate) mod invoke;
mod items;
pub(crate) mod late;
pub(crate) mod options;
mod pages;
pub(crate) mod queue;
pub(crate) mod recover;
pub(crate) mod reopen;
pub(crate) mod replay;
pub(crate) mod restart;
mod roll_back;
pub(crate) mod run_graph;
mod seat;
pub(crate) mod task_view;
pub(crate) mod turn;
pub(crate) mod turns;
pub(crate) mod unclaimed;
pub(crate) mod wake;
