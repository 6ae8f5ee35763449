//! Graphs of nodes over a typed state that survive a crash.
//!
//! A [`Graph`] is built once, checked whole, and never changes. A *super-step* runs every node that is due, in parallel,
//! on the same [`Snapshot`] of the state. The updates are merged by the reducer of each field in the order of the
//! tasks (nodes by name, then `SendTo`s by sender and index), committed together, and decide which nodes are due next.
//!
//! With a checkpointer ([`Graph::checkpointer`]) a [`Thread`] is an append-only log: the next run finishes one that died,
//! and stored work is not run again. Without one ([`Graph::invoke`]) nothing is stored.
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
//! Further parts, and their items:
//!
//! - **order**: [`GraphBuilder::branch`], [`GraphBuilder::join`], [`NodeExt::defer`]; tasks with an input of their own
//!   ([`SendTo`], [`Sent`]); nodes that choose their targets ([`Command`]), in the calling graph too. A graph with faults is
//!   not built, and [`BuildError`] lists all of them;
//! - **people**: [`Context::interrupt`] ends the run with a question, [`Thread::answer`] resumes it; breakpoints
//!   ([`GraphBuilder::interrupt_before`]), edits ([`Thread::edit`]), and a policy for early inputs ([`NewInput`]);
//! - **effects**: [`Context::step`] does work once, [`Context::once`] makes a call that is not repeated after a crash until
//!   the doubt is settled ([`Outcome::InDoubt`], [`Resolution`]), [`Context::call`] has the idempotency key;
//! - **failure**: [`Retry`], [`NodeExt::timeout`], [`NodeExt::idle_timeout`], error handlers ([`Handler`],
//!   [`Failure`]), threads with which runs are lost again and again ([`Poisoned`]);
//! - **limits**: [`Budget`], [`Slots`], [`Cache`]; [`Thread::cancellation`], [`Thread::drain`], [`App::shutdown`];
//! - **graphs in graphs**: [`Subgraph`] as a node, [`Context::run`] in one, with the lifetime of their state ([`Persistence`]),
//!   [`Context::run_named`] for several at once, [`RunGraph`] for tools;
//! - **watching**: [`Thread::stream`] and [`Thread::events`], by [`Mode`]; spans of `hanok-telemetry`;
//! - **history**: [`Thread::state`], [`Thread::history`], [`Thread::views`], [`Thread::rewind`], [`Thread::fork`];
//! - **data**: [`GraphSpec`] is a graph as JSON, over a state whose fields it declares.
//!
//! With the feature `schema`, `Context::ask` asks a person for a type and refuses an answer that does not fit.
//!
//! A panic of a node or a reducer fails its run and leaves the thread resumable; that needs `panic = "unwind"`, Rust's
//! default. A program that aborts on a panic cannot build a graph without
//! [`allow_abort`](GraphBuilder::allow_abort).

mod any;
mod build_error;
mod error;
mod graph;
mod ids;
mod journal;
mod names;
mod node;
mod node_error;
mod node_set;
mod observe;
mod outcome;
mod run;
mod runtime;
#[cfg(feature = "schema")]
mod schema;
mod slots;
mod subgraph_error;
mod thread;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;
pub use hanok_state as state;
#[cfg(feature = "petgraph")]
pub use petgraph;

pub use any::app::{AnyApp, AnyThread, EditPlace, Schemas, ServedApp, ThreadFuture};
pub use any::caller::Caller;
pub use any::input::{AnyInput, RunSettings};
pub use error::{BuildError, Fault, Lint, NodeError, RunError};
pub use graph::builder::GraphBuilder;
pub use graph::definition::Graph;
pub use graph::draw::Drawing;
pub use graph::spec::{BranchSpec, GraphSpec, JoinSpec, NodeKinds, NodeSpec, SpecError, SpecFault};
pub use graph::structure::{EdgeStructure, FieldStructure, GraphStructure, NodeStructure};
pub use hanok_checkpoint::{Doubt, InMemoryCheckpointer, RunEnd, SharedCheckpointer};
pub use hanok_core::{BoxError, Budget, LostCall, Position, Tenant, ThreadKey, Token};
pub use hanok_macros::debug_node;
pub use hanok_state::{List, Map, Message, Messages, Shared, State, View};
pub use journal::durability::Durability;
pub use names::{END, START};
pub use node::async_router::AsyncRouter;
pub use node::cache::Cache;
pub use node::command::{Command, IntoCommand, IntoTargets, SendTo, Sent, Target};
pub use node::context::{Context, NotMade, StepError};
pub use node::for_test::TestContext;
pub use node::function::Node;
pub use node::handler::{Failure, FailureKind, Handler};
pub use node::retry::{Class, Retry};
pub use node::settings::{Configured, NodeExt, NodeSettings};
pub use node::snapshot::Snapshot;
pub use observe::any::{AnyState, AnyUpdate};
pub use observe::event::{Event, EventId, EventKind, EventPlace, InvalidEventId, Mode};
pub use observe::events::Events;
pub use observe::graph_watch::GraphCause;
pub use observe::print::Printer;
pub use observe::tool_event::ToolEvent;
pub use outcome::{
    Breakpoint, Doubted, Limit, Outcome, Pending, Poisoned, Resolution, Unfinished, Waiting,
};
pub use run::answer::NewAnswer;
pub use run::subgraph::Persistence;
pub use run::subgraph_node::Subgraph;
pub use runtime::{Runtime, SystemIds, SystemRng, TokioClock, TokioSpawner};
pub use slots::Slots;
pub use subgraph_error::SubgraphError;
pub use thread::answer::{answer, open_requests};
pub use thread::app::{App, Shutdown};
pub use thread::bulk::EditStep;
pub use thread::erase::Erasure;
pub use thread::find_run::FoundRun;
pub use thread::follow::Follow;
pub use thread::recover::{Pruned, Recovered};
pub use thread::replay::Replay;
pub use thread::restart::Restarted;
pub use thread::run_graph::RunGraph;
pub use thread::turns::TurnEnd;
pub use thread::{edit::GraphView, task_view::TaskView};
pub use thread::{
    handle::Thread,
    input::{Input, NewInput},
};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
