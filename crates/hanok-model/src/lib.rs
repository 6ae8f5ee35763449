//! The requests and replies of language models, and the traits of models, embedders and tools.
//!
//! - **values**: [`ChatRequest`] and [`ChatReply`], [`ToolSpec`] (a tool as a model sees it, from a Rust type), token
//!   counts ([`TokenCounter`]);
//! - **seams**: [`ChatModel`], [`Embedder`] and [`Tool`]. Each takes a [`Call`](hanok_core::Call): until when, whom to
//!   heed, where to count and who watches the tokens. [`SharedModel`], [`SharedEmbedder`] and [`SharedTool`] hold any of
//!   them, chosen at run time;
//! - **tools**: an async function ([`tool`](macro@tool), or [`FnTool::new`] for a closure), one that blocks, on a bounded pool of threads ([`FnTool::blocking`],
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
#[doc(hidden)]
pub mod derived;
mod embed;
mod error;
mod extract;
mod fn_tool;
#[cfg(feature = "test")]
mod hashed;
mod injected;
mod limited;
mod listed;
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
/// Makes a tool of an `async fn`: a [`Tool`] that is named as the function was.
///
/// The doc comment of the function is the description that a model reads, and that of a parameter is the parameter's.
/// Parameters are what the model sends, of types with `Deserialize` and `JsonSchema`; `Option`, `#[serde(default)]` and
/// `#[schemars(…)]` mean what they mean on the fields of a struct. A model that sends anything else is refused.
///
/// No model sees, or may send, a parameter that the run gives. It is one whose type is written [`Services<C>`](Services),
/// [`FromState<S>`](FromState), `SharedStore` or [`Call`](hanok_core::Call), or an `Option` of one of them, and any other
/// with `#[from_call]` before it, whose type implements [`FromCall`]. An agent that cannot give it is not built.
///
/// The function returns a [`ToolOutput`] or text, or a `Result` of one of them with any error: a [`ToolError`] stays what it
/// is, and others are [`ToolError::Failed`].
///
/// | in the brackets | meaning | default |
/// | --- | --- | --- |
/// | `effect = pure` | the [`Effect`](hanok_core::Effect) of a call: `pure`, `idempotent` or `at_most_once` | `at_most_once` |
/// | `timeout = 10` | the time limit of a call, in seconds | 30 |
/// | `name = "…"` | the name that a model reads | the function's |
/// | `crate = path` | where `hanok_model` is | as `Cargo.toml` says |
///
/// ```
/// use std::sync::Arc;
///
/// use hanok_core::Call;
/// use hanok_model::{Services, Tool, ToolError, tool};
/// use hanok_state::Arguments;
///
/// /// The services of the run.
/// struct Shop {
///     shipped: Vec<u32>,
/// }
///
/// /// Looks an order up.
/// #[tool(effect = pure, timeout = 10)]
/// async fn order(
///     /// The number of the order.
///     number: u32,
///     shop: Services<Shop>,
/// ) -> Result<String, ToolError> {
///     match shop.shipped.contains(&number) {
///         true => Ok("It has been shipped.".into()),
///         false => Err(ToolError::failed(format!("there is no order {number}"))),
///     }
/// }
///
/// // To an agent it is a value: `.tool(order)`. A model sees one parameter.
/// assert_eq!(order.spec().description(), "Looks an order up.");
/// assert_eq!(order.spec().only_text_parameter(), None);
/// assert_eq!(order.spec().parameters()[0].name, "number");
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let call = Call::detached().provide(Arc::new(Shop { shipped: vec![17] }));
/// let output = order.run(&Arguments::new(r#"{"number": 17}"#), &call).await?;
/// assert_eq!(output.text, "It has been shipped.");
///
/// // A test may call the function itself.
/// let shop = Services::new(Shop { shipped: vec![] });
/// assert!(order::call(17, shop).await.is_err());
/// # Ok::<(), ToolError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The name is that of a value, so no variable beside it can have it: `let order = …` in the same module is an error. In the
/// function it may.
pub use hanok_macros::tool;
#[cfg(feature = "test")]
pub use hashed::HashEmbedder;
pub use injected::InjectedTool;
pub use listed::{ListedValue, resolve_schema};
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
