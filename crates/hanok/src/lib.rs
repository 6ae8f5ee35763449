//! LLM agents that survive: typed state, durable graphs, a tool-call parser, agents and supervisors.
//!
//! This crate re-exports the others: the names that every graph needs at its root, each crate whole under its own
//! name (`hanok::graph` is `hanok-graph`), those that not everyone needs behind features.
//!
//! ```
//! use hanok::{BoxError, Context, END, Graph, START, Snapshot, State};
//!
//! #[derive(State, Clone, Default)]
//! struct Count {
//!     n: u32,
//! }
//!
//! async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
//!     Ok(Count::update().n(state.n + 1))
//! }
//!
//! let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
//! assert!(graph.mermaid().contains("add"));
//! # Ok::<(), hanok::graph::BuildError>(())
//! ```
#![cfg_attr(feature = "document-features", doc = "\n# Features\n")]
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]

pub use hanok_checkpoint::{
    InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore, Store,
};
pub use hanok_core::{BoxError, ItemKey, Labels, Position, Tenant, ThreadKey, Token};
pub use hanok_graph::{
    App, Budget, Command, Context, Durability, END, Event, EventKind, Events, Graph, Input, Mode,
    NewInput, NodeExt, Outcome, Persistence, Retry, RunError, START, SendTo, Sent, Snapshot,
    Subgraph, Thread,
};
/// ```
/// use hanok::{BoxError, Context, Snapshot, State, debug_node};
///
/// #[derive(State, Clone, Default)]
/// struct Count {
///     n: u32,
/// }
///
/// #[debug_node]
/// async fn add(count: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
///     Ok(Count::update().n(count.n + 1))
/// }
/// ```
pub use hanok_macros::debug_node;
/// ```
/// use hanok::model::{Services, Tool};
/// use hanok::tool;
///
/// /// The services of the run.
/// struct Shop {
///     open: bool,
/// }
///
/// /// Says whether the shop is open.
/// #[tool(effect = pure)]
/// async fn is_open(shop: Services<Shop>) -> String {
///     if shop.open { "yes".into() } else { "no".into() }
/// }
///
/// // No model sees the services; an agent takes the tool as `.tool(is_open)`.
/// assert!(is_open.spec().parameters().is_empty());
/// ```
#[cfg(feature = "model")]
pub use hanok_model::tool;
pub use hanok_state::{List, Map, Message, Messages, Shared, State, View};

pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_state as state;
pub use hanok_telemetry as telemetry;

#[cfg(feature = "agent")]
pub use hanok_agent as agent;
#[cfg(feature = "documents")]
pub use hanok_documents as documents;
#[cfg(feature = "encoder")]
pub use hanok_encoder as encoder;
#[cfg(feature = "figures")]
pub use hanok_figures as figures;
#[cfg(feature = "grounding")]
pub use hanok_grounding as grounding;
#[cfg(feature = "retrieval-index")]
pub use hanok_index as index;
#[cfg(feature = "learning")]
pub use hanok_learning as learning;
#[cfg(feature = "mcp")]
pub use hanok_mcp as mcp;
#[cfg(feature = "memory")]
pub use hanok_memory as memory;
#[cfg(feature = "model")]
pub use hanok_model as model;
#[cfg(feature = "openai")]
pub use hanok_openai as openai;
#[cfg(feature = "retrieval-opensearch")]
pub use hanok_opensearch as opensearch;
#[cfg(feature = "otlp")]
pub use hanok_otlp as otlp;
#[cfg(feature = "parse")]
pub use hanok_parse as parse;
#[cfg(feature = "retrieval-pgvector")]
pub use hanok_pgvector as pgvector;
#[cfg(feature = "postgres")]
pub use hanok_postgres as postgres;
#[cfg(feature = "retrieval")]
pub use hanok_retrieval as retrieval;
#[cfg(any(feature = "tools-files", feature = "tools-python", feature = "tools-web"))]
pub use hanok_sandbox as sandbox;
#[cfg(feature = "sqlite")]
pub use hanok_sqlite as sqlite;
#[cfg(feature = "supervisor")]
pub use hanok_supervisor as supervisor;
#[cfg(feature = "team")]
pub use hanok_team as team;
#[cfg(feature = "tools")]
pub use hanok_tools as tools;
