//! The requests and replies of language models, and the traits of models, embedders and tools.
//!
//! - **values**: [`ChatRequest`] and [`ChatReply`], [`ToolSpec`] (a tool as a model sees it, from a Rust type), token
//!   counts ([`TokenCounter`]);
//! - **seams**: [`ChatModel`], [`Embedder`] and [`Tool`]. Each takes a [`Call`](hanok_core::Call): until when, whom to
//!   heed, where to count and who watches the tokens. [`SharedModel`], [`SharedEmbedder`] and [`SharedTool`] hold any of
//!   them, chosen at run time;
//! - **tools**: an async function ([`FnTool::new`]), one that blocks, on a bounded pool of threads ([`FnTool::blocking`],
//!   [`BlockingPool`]), and one some of whose arguments the service gives ([`InjectedTool`]). The parts of a run that a tool
//!   takes out of its call are extractors: [`Services`], [`FromState`] and what else implements [`FromCall`];
//! - **errors**: [`ModelError`] and [`ToolError`], whose variants are what a caller does differently.
//!
//! No HTTP client and no runtime is known here. With the feature `tiktoken`, tokens of OpenAI's models are counted
//! exactly; with the feature `store`, `Semantic` makes the vectors of what a store across threads keeps; with the feature
//! `test` there are a scripted and a recorded model, and a hashing embedder.
//!
//! ```
//! use hanok_core::Call;
//! use hanok_model::{ChatRequest, FnTool, Tool};
//! use hanok_state::Message;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Search {
//!     /// What to look for.
//!     query: String,
//! }
//!
//! let search = FnTool::new("search", "Searches the rules", |search: Search, _call: Call| async move {
//!     Ok(format!("nothing about {}", search.query).into())
//! })?;
//! let request = ChatRequest::new([Message::user("휴가는 며칠인가요?")]).tools([search.spec().clone()]);
//! assert_eq!(request.tools[0].only_text_parameter(), Some("query"));
//! # Ok::<(), hanok_model::InvalidSpec>(())
//! ```

mod blocking;
mod canonical;
mod chat;
mod data;
mod embed;
mod error;
mod extract;
mod fn_tool;
#[cfg(feature = "test")]
mod hashed;
mod injected;
mod limited;
mod price;
mod race;
#[cfg(feature = "test")]
mod recorded;
mod reply;
mod request;
#[cfg(feature = "test")]
mod scripted;
#[cfg(feature = "store")]
mod semantic;
mod shared;
mod spec;
mod tokens;
mod tool;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_state as state;

pub use blocking::BlockingPool;
pub use chat::ChatModel;
pub use data::DataMark;
pub use embed::{Embedder, SharedEmbedder};
pub use error::{ModelError, Wait};
pub use extract::{FromCall, FromState, Services};
pub use fn_tool::FnTool;
#[cfg(feature = "test")]
pub use hashed::HashEmbedder;
pub use injected::InjectedTool;
pub use price::{Price, Priced};
#[cfg(feature = "test")]
pub use recorded::{NotRecorded, RecordedModel};
pub use reply::{ChatReply, Finish, Usage};
pub use request::{ChatRequest, ResponseFormat, ToolChoice};
#[cfg(feature = "test")]
pub use scripted::{Exchange, ScriptError, ScriptedModel};
#[cfg(feature = "store")]
pub use semantic::Semantic;
pub use shared::SharedModel;
pub use spec::{InvalidSpec, Parameter, ToolSpec};
pub use tokens::TokenCounter;
pub use tool::{SharedTool, Tool, ToolError, ToolOutput, ToolTarget};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
