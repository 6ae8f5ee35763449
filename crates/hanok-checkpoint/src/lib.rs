//! A thread is a log: its records, what they amount to, and where they are kept.
//!
//! - [`Entry`] and [`Body`] are what a log says; the vocabulary is closed, and reading a log runs nobody's code;
//! - [`Record`] is how an entry is stored: with a format version, its length, its parent and a checksum that also covers
//!   whose it is and where it stands;
//! - [`ThreadFold`] is what a log amounts to: per namespace the fields, what is due, and what is pending;
//! - [`Checkpointer`] is what a store does: append by compare-and-swap on one head, fenced by a [`Claim`]; a store never
//!   looks into a record;
//! - [`Log`] reads and writes the log of one thread on any store;
//! - [`Store`] is what is remembered across threads: items with a namespace and a key, listed by [`Filter`], found by text
//!   and by meaning ([`Search`]); [`MemoryStore`] keeps them in memory.
//!
//! ```
//! use hanok_checkpoint::{Body, Entry, Log, Memory, SharedCheckpointer};
//! use hanok_core::{Tenant, ThreadKey, Timestamp};
//!
//! # futures::executor::block_on(async {
//! let store = SharedCheckpointer::new(Memory::new());
//! let thread = ThreadKey::new(Tenant::default(), "user-session-123")?;
//! assert!(Log::new(store, thread).open(None).await?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod checkpointer;
mod claim;
mod codec;
mod consumer;
mod entry;
mod error;
mod fold;
mod frontier;
mod log;
mod memory;
mod outbox;
mod record;
mod seal;
mod snapshot;
mod store;
mod wire;

pub use checkpointer::{
    Append, AppendId, Checkpointer, Guard, Head, Opened, Safety, SharedCheckpointer, Snapshots,
    ThreadInfo, Trim, Which,
};
pub use claim::{Claim, Epoch, Holder, HolderError, LEASE};
pub use codec::{Codec, CodecError, KeyId, Keyring};
pub use consumer::{Consumer, Delivery};
pub use entry::{
    Answer, Begin, Body, Commit, Doubt, Edit, End, Entry, Failed, Intent, Memo, Origin,
    Persistence, Question, Rebase, SchemaRef, TaskWrite, Void,
};
pub use error::CheckpointError;
pub use fold::{BREAKPOINT, DRAINED, INTERRUPTED, RunFold, ThreadFold, outlives, turn_of};
pub use frontier::{Due, Frontier, Goto, Handed};
pub use log::{Log, LogEntry, OpenLog};
pub use memory::Memory;
pub use outbox::{Cursor, Outbox, OutboxItem, Outgoing};
pub use record::{Record, RecordError};
pub use snapshot::Snapshot;
pub use store::{
    SharedStore, Store,
    error::StoreError,
    filter::{FieldPath, Filter},
    filter_form::FilterError,
    item::{Batch, Batched, Expect, Index, Item, Put, Read, Refresh, Ttl, Version, Write, Written},
    memory::MemoryStore,
    rank::{Asked, Candidate, Corpus, Counted, Ranked, rank},
    search::{Hit, Namespaces, Page, Place, Search, Within},
    terms::index_terms,
    vector::{InvalidVector, Space, Vector},
};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
