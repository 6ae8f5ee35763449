//! The run of one graph: super-steps until nothing is due, for a thread's own graph and for subgraphs alike.
//!
//! [`super_step`] is the loop. The tasks that are due ([`step_tasks`]) run to their [`task_outcome`], each by [`task`]: attempts,
//! retries, the error handler, within its [`task_limits`]. [`route`] asks the routers where to go on, [`merge`] merges the writes,
//! [`plan`] says what is due next, [`told_messages`] tells observers of messages, and [`commit`] stores all of it in one append. [`turn_start`] is what a run begins from;
//! [`rebase`] brings a state of another build into this build's schema first, and [`unknown`] keeps what this build does not know.
//! [`subgraph`] is the same loop under the namespace of the task that calls it ([`subgraph_place`]); [`fast_path`] is a shorter way through the
//! same for one task.
//!
//! A task is *due*, *running*, *written* (its write is stored, alone or with its siblings), *interrupted* (it waits for an
//! answer), *failed* or *stopped*. A super-step is *committed* when all of its tasks are written.
//!
//! What must hold:
//!
//! - Tasks of a super-step read the same state; their writes are merged in the order of the tasks, never in that of time.
//! - A write that is stored is neither lost nor applied twice; a task whose write is stored does not run again.
//! - The ids of tasks derive from the thread, the namespace, the start of the turn, the super-step, the node and the index, so a
//!   run that takes over finds what a lost one stored.
//! - Of a super-step that fails nothing is applied; the writes of its other tasks stay for the next run.
//!
//! [`thread`](crate::thread) drives this room. It calls [`node`](crate::node) for one attempt of one node, and
//! [`journal`](crate::journal) for every entry.

pub(crate) mod answer;
pub(crate) mod commit;
pub(crate) mod deep;
pub(crate) mod ephemeral;
pub(crate) mod fast_path;
pub(crate) mod graph_run;
pub(crate) mod group;
pub(crate) mod initial_fields;
pub(crate) mod merge;
pub(crate) mod merge_edit;
pub(crate) mod on_heap;
pub(crate) mod parent_command;
pub(crate) mod plan;
pub(crate) mod rebase;
pub(crate) mod route;
pub(crate) mod run_state;
pub(crate) mod step_outcome;
pub(crate) mod step_tasks;
pub(crate) mod stored_result;
pub(crate) mod subgraph;
pub(crate) mod subgraph_node;
pub(crate) mod subgraph_place;
pub(crate) mod super_step;
pub(crate) mod task;
mod task_cache;
pub(crate) mod task_limits;
pub(crate) mod task_outcome;
pub(crate) mod thread_cache;
pub(crate) mod time_limit;
pub(crate) mod told_messages;
pub(crate) mod turn_start;
pub(crate) mod unknown;
