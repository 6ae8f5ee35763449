//! A thread is a log: its records, what they amount to, and where they are kept.
//!
//! - [`Entry`] and [`Body`] are what a log says; the vocabulary is closed, and reading a log runs nobody's code;
//! - [`Record`] is how an entry is stored: with a format version, its length, its parent and a checksum that also covers
//!   whose it is and where it stands;
//! - [`ThreadFold`] is what a log amounts to: per namespace the fields, what is due, and what is pending;
//! - [`Checkpointer`] is what a store does: append by compare-and-swap on one head, fenced by a [`Claim`]; a store never
//!   looks into a record;
//! - [`Log`] reads and writes the log of one thread on any store;
//! - [`Log::pages`] and [`Log::checkpoints`] tell a history, [`Log::diff`] what changed in it, [`Log::verify`] whether it is
//!   whole; [`Log::prune`], [`Log::rewrite`] and [`Log::erase_thread`] remove from it, [`Log::copy`], [`Log::export`] and
//!   [`Log::import`] take it elsewhere;
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

mod append;
mod apply;
mod base;
mod begin;
mod calls;
mod chain;
mod checkpointer;
mod checksum;
mod claim;
mod codec;
mod consumer;
mod copy;
mod diff;
mod entry;
mod envelope;
mod erased;
mod error;
mod export;
mod fold;
mod frontier;
mod head;
mod labels;
mod lease;
mod life;
mod links;
mod log;
mod memory;
mod outbox;
mod page;
mod pending;
mod record;
mod retention;
mod run_end;
mod seal;
mod select;
mod shared;
mod snapshot;
mod state;
mod step_records;
mod store;
mod task;
mod threads;
mod verify;
mod walk;
mod wire;
mod written;

pub use append::{Append, AppendId, Base, Guard, Safety, Trim};
pub use begin::{Begin, End, Persistence};
pub use calls::NOT_MADE;
pub use chain::{Ancestor, HeadSeal, Link, Tip};
pub use checkpointer::{Checkpointer, Opened, Snapshots};
pub use claim::{Claim, Epoch, Holder, HolderError, LEASE};
pub use codec::{Codec, CodecError, KeyId, Keyring};
pub use consumer::{Consumer, Delivered, Delivery};
pub use diff::{Diff, Difference, GraphDiff};
pub use entry::{Body, Entry, Kind, UnknownKind};
pub use error::CheckpointError;
pub use export::ImportError;
pub use fold::{RunFold, ThreadFold, outlives, turn_of};
pub use frontier::{Due, Frontier, Goto, Handed};
pub use head::Head;
pub use labels::{DEADLINE, GRAPH, Labels, REQUESTS, STATUS, Status};
pub use lease::Leases;
pub use life::Life;
pub use log::{Log, LogEntry, OpenLog};
pub use memory::Memory;
pub use outbox::{Cursor, Outbox, OutboxItem, Outgoing};
pub use page::{Checkpoint, Pages, Source};
pub use record::{Record, RecordError};
pub use retention::{Forks, Keep};
pub use run_end::RunEnd;
pub use select::Select;
pub use shared::SharedCheckpointer;
pub use snapshot::{Origin, Snapshot};
pub use state::{Copied, Edit, Erased, Extend, Rebase};
pub use step_records::StepRecords;
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
pub use task::{Answer, Commit, Doubt, Failed, Intent, Memo, Question, Reopen, TaskWrite, Void};
pub use threads::{ThreadInfo, Which};
pub use verify::{Chain, Damage, Verified};
pub use walk::Branch;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
