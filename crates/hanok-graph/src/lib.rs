//! Graphs of nodes over a typed state that survive a crash.
//!
//! A [`Graph`] is built once, checked whole, and never changes. A *super-step* runs every node that is due, in parallel,
//! on the same [`Snapshot`] of the state; what they write is merged by the reducer of each field in the order of the
//! tasks (nodes by name, then `Send`s by sender and index), committed together, and decides what is due next.
//!
//! With a checkpointer ([`Graph::checkpointer`]) a [`Thread`] is an append-only log: a run that dies is finished by the
//! next one, and what was stored is not run again. Without one ([`Graph::invoke`]) nothing is kept.
//!
//! ```
//! use hanok_graph::{Context, END, Graph, START, Snapshot};
//! use hanok_state::State;
//!
//! #[derive(State, Clone, Default)]
//! struct Count {
//!     n: u32,
//! }
//!
//! async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> {
//!     Ok(Count::update().n(state.n + 1))
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let graph = Graph::<Count>::builder("count")
//!     .node("add", add)
//!     .edge(START, "add")
//!     .branch("add", |state: &Count| if state.n < 3 { "add" } else { END }, ["add", END])
//!     .build()?;
//! assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What there is besides, and where:
//!
//! - **order**: [`GraphBuilder::branch`], [`GraphBuilder::join`], [`GraphBuilder::defer`]; tasks with an input of their own
//!   ([`Send`], [`Sent`]); nodes that choose ([`Command`]), for the graph that called theirs, too. A graph with faults is not
//!   built, and [`BuildError`] has all of them;
//! - **people**: [`Context::interrupt`] ends the run with a question, [`Thread::answer`] goes on; breakpoints
//!   ([`GraphBuilder::interrupt_before`]), edits ([`Thread::edit`]), and what becomes of an early input ([`NewInput`]);
//! - **effects**: [`Context::step`] is done once, [`Context::once`] is not made again after a crash until the doubt is
//!   settled ([`Outcome::InDoubt`], [`Resolution`]), [`Context::call`] has the idempotency key;
//! - **failure**: [`Retry`], [`GraphBuilder::timeout`], [`GraphBuilder::idle_timeout`], error handlers ([`Handler`],
//!   [`Failure`]), threads that runs are lost with again and again ([`Poisoned`]);
//! - **limits**: [`Budget`], [`Slots`], [`Cache`]; [`Thread::cancellation`], [`Thread::drain`], [`App::shutdown`];
//! - **graphs in graphs**: [`Subgraph`] as a node, [`Context::run`] in one, for as long as [`Persistence`] says;
//! - **watching**: [`Thread::stream`] and [`Thread::events`], by [`Mode`]; spans of `hanok-telemetry`;
//! - **history**: [`Thread::state`], [`Thread::history`], [`Thread::views`], [`Thread::rewind`], [`Thread::fork`];
//! - **data**: [`GraphSpec`] is a graph as JSON, over a state whose fields it declares.
//!
//! With the feature `schema`, `Context::ask` asks for a type and refuses an answer that does not fit.
//!
//! A panic of a node or a reducer fails its run and leaves the thread resumable; that needs `panic = "unwind"`, Rust's
//! default. A program that aborts on a panic is refused when a graph is built, unless it says
//! [`allow_abort`](GraphBuilder::allow_abort).

mod active;
mod activity;
mod answer;
mod app;
mod begin;
mod builder;
mod bulk;
mod cache;
mod command;
mod commit;
mod context;
mod draw;
mod drive;
mod durability;
mod edit;
mod env;
mod erase;
mod error;
mod event;
mod first;
mod former;
mod graph;
mod group;
mod handler;
mod ids;
mod journal;
mod migration;
mod node;
mod opening;
mod outcome;
mod parent;
mod plan;
mod progress;
mod queue;
mod readable;
mod recent;
mod recover;
mod reopen;
mod replay;
mod restart;
mod retry;
mod runtime;
#[cfg(feature = "schema")]
mod schema;
mod scope;
mod sink;
mod slots;
mod snapshot;
mod spec;
mod subgraph;
mod task;
mod thread;
mod unknown;
mod validate;

pub use app::{App, Shutdown};
pub use builder::GraphBuilder;
pub use bulk::EditStep;
pub use cache::Cache;
pub use command::{Command, IntoCommand, IntoTargets, Send, Sent, Target};
pub use context::{Context, NotMade, StepError};
pub use draw::Drawing;
pub use durability::Durability;
pub use edit::GraphView;
pub use erase::Erasure;
pub use error::{BuildError, Fault, Lint, NodeError, RunError};
pub use event::{AnyState, AnyUpdate, Event, EventId, EventKind, Mode};
pub use graph::{END, Graph, START};
pub use handler::{Failure, FailureKind, Handler};
pub use hanok_checkpoint::Doubt;
pub use hanok_core::{BoxError, Budget};
pub use hanok_macros::debug_node;
#[doc(hidden)]
pub use hanok_state::{State, View};
pub use node::Node;
pub use outcome::{Breakpoint, Doubted, Limit, Outcome, Pending, Poisoned, Resolution, Unfinished};
pub use recover::{Pruned, Recovered};
pub use replay::Replay;
pub use restart::Restarted;
pub use retry::{Class, Retry};
pub use runtime::{Runtime, SystemIds, SystemRng, TokioClock, TokioSpawner};
pub use sink::Events;
pub use slots::Slots;
pub use snapshot::Snapshot;
pub use spec::{BranchSpec, GraphSpec, JoinSpec, NodeKinds, NodeSpec, SpecError, SpecFault};
pub use subgraph::{Persistence, Subgraph, SubgraphError};
pub use thread::{Input, NewInput, Thread};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
