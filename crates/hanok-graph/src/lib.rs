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
//! A panic of a node or a reducer fails its run and leaves the thread resumable; that needs `panic = "unwind"`, Rust's
//! default. A program that aborts on a panic is refused when a graph is built, unless it says
//! [`allow_abort`](GraphBuilder::allow_abort).

mod app;
mod begin;
mod builder;
mod command;
mod context;
mod draw;
mod drive;
mod error;
mod event;
mod graph;
mod ids;
mod journal;
mod node;
mod outcome;
mod plan;
mod runtime;
mod snapshot;
mod subgraph;
mod task;
mod thread;
mod validate;

pub use app::App;
pub use builder::GraphBuilder;
pub use command::{Command, IntoCommand, IntoTargets, Send, Target};
pub use context::{Context, StepError};
pub use draw::Drawing;
pub use error::{BuildError, Fault, NodeError, RunError};
pub use event::{AnyState, AnyUpdate, Event, EventKind, Events};
pub use graph::{END, Graph, START};
pub use hanok_core::BoxError;
pub use node::Node;
pub use outcome::{Limit, Outcome, Pending, Unfinished};
pub use runtime::{Runtime, SystemIds, SystemRng, TokioClock, TokioSpawner};
pub use snapshot::Snapshot;
pub use subgraph::SubgraphError;
pub use thread::{Input, Thread};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
