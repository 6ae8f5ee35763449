//! Suites and tools to test with: what is built on hanok's seams, and graphs that are built with it.
//!
//! - [`checkpointer_conforms!`] makes a test of everything that a [`Checkpointer`](hanok_checkpoint::Checkpointer) has to
//!   do; [`CHECKPOINTER_CLAIMS`] are those claims by name;
//! - [`store_conforms!`] and [`STORE_CLAIMS`] are the same for a [`Store`](hanok_checkpoint::Store);
//! - `document_store_conforms!` and `DOCUMENT_STORE_CLAIMS`, with the feature `retrieval`, are the same for a
//!   `DocumentStore` of `hanok-retrieval`;
//! - `chat_model_conforms!`, `embedder_conforms!` and `tool_conforms!`, with the feature `model`, are the same for a `ChatModel`, an
//!   `Embedder` and a `Tool` of `hanok-model`;
//! - `memory_kind_conforms!` and `MEMORY_KIND_CLAIMS`, with the feature `memory`, are the same for a `MemoryKind` of `hanok-learning`;
//! - [`Layer`] changes a store for a test, [`Dying`] has its process die at one append;
//! - [`sampled`] says which points of a sweep a test takes: a tenth, or all.
//!
//! `hanok-simulation` runs graphs under schedules of crashes.
//!
//! ```
//! use hanok_checkpoint::InMemoryCheckpointer;
//!
//! hanok_testkit::check_checkpointer("of_two_appends_to_one_position_one_gets_a_conflict", InMemoryCheckpointer::new());
//! ```

#[cfg(feature = "model")]
mod chat_model;
mod checkpointer;
mod claims;
#[cfg(feature = "retrieval")]
mod documents;
mod dying;
#[cfg(feature = "model")]
mod embedder;
#[cfg(feature = "kills")]
mod kills;
mod layer;
#[cfg(feature = "memory")]
mod memory_kind;
mod runtime;
mod sampled;
mod scatter;
mod store;
#[cfg(feature = "model")]
mod tool;

#[cfg(feature = "model")]
pub use chat_model::{CHAT_MODEL_CLAIMS, ChatModelClaim, check_chat_model};
pub use checkpointer::{
    CHECKPOINTER_CLAIMS, CheckpointerClaim, any_entry, any_snapshot, check_checkpointer,
};
#[cfg(feature = "retrieval")]
pub use documents::{DOCUMENT_STORE_CLAIMS, DocumentStoreClaim, Keeping, check_document_store};
pub use dying::Dying;
#[cfg(feature = "model")]
pub use embedder::{EMBEDDER_CLAIMS, EmbedderClaim, check_embedder};
#[cfg(feature = "kills")]
pub use kills::{Killed, Kills, Ledger, Order, OrderUpdate, Payments};
pub use layer::{Layer, Layered};
#[cfg(feature = "memory")]
pub use memory_kind::{MEMORY_KIND_CLAIMS, MemoryKindClaim, check_memory_kind};
pub use runtime::block_on;
pub use sampled::{is_full, sampled, shortened, stretch};
pub use scatter::{STEP, scattered};
pub use store::{STORE_CLAIMS, StoreClaim, check_store};
#[cfg(feature = "model")]
pub use tool::{TOOL_CLAIMS, ToolClaim, check_tool};

/// The programs of the README.
#[cfg(all(doctest, feature = "model"))]
#[doc = include_str!("../README.md")]
struct Readme;
