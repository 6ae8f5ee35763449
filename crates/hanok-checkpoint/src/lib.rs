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
//!   and by meaning ([`Search`]); [`InMemoryStore`] keeps them in memory.
//!
//! ```
//! use hanok_checkpoint::{Body, Entry, Log, InMemoryCheckpointer, SharedCheckpointer};
//! use hanok_core::{Tenant, ThreadKey, Timestamp};
//!
//! # futures::executor::block_on(async {
//! let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
//! let thread = ThreadKey::new(Tenant::default(), "user-session-123")?;
//! assert!(Log::new(store, thread).open(None).await?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod backend;
mod chain;
mod claim;
mod codec;
mod entry;
mod erased;
mod error;
mod format;
mod life;
mod store;
mod thread;
mod wire;

// The crates whose types stand in what this one says.
pub use hanok_core as core;

pub use backend::append::{Append, AppendId, Base, Guard, Safety, Trim};
pub use backend::checkpointer::{Checkpointer, Opened, Snapshots};
pub use backend::consumer::{Consumer, Delivered, Delivery};
pub use backend::head::Head;
pub use backend::lease::Leases;
pub use backend::memory::InMemoryCheckpointer;
pub use backend::shared::SharedCheckpointer;
pub use backend::threads::{DEADLINE, ThreadInfo, Which, deadline_label};
pub use chain::{Ancestor, HeadSeal, Link, Tip};
pub use claim::{Claim, Epoch, Holder, HolderError, LEASE};
pub use codec::{Codec, CodecError, KeyId, Keyring};
pub use entry::body::{Body, Entry, Kind, UnknownKind};
pub use entry::fold::{RunFold, ThreadFold, outlives, turn_of};
pub use entry::frontier::{Due, Frontier, Goto, Handed, SendLimits};
pub use entry::graph_id::GraphId;
pub use entry::outbox::{Cursor, Outbox, OutboxItem, Outgoing};
pub use entry::run::{Begin, End, Persistence};
pub use entry::run_end::RunEnd;
pub use entry::snapshot::{Origin, Snapshot};
pub use entry::state::{Copied, Edit, Erased, Extend, Rebase, Rewind, ThreadLife};
pub use entry::step_records::StepRecords;
pub use entry::task::{
    Answer, Commit, Doubt, Failed, Intent, Memo, Question, Reopen, TaskWrite, Void,
};
pub use error::CheckpointError;
pub use format::record::{Record, RecordError};
pub use life::Life;
pub use store::{
    SharedStore, Store,
    error::StoreError,
    filter::{FieldPath, Filter},
    filter_form::FilterError,
    item::{Batch, Batched, Expect, Index, Item, Put, Read, Refresh, Ttl, Version, Write, Written},
    memory::InMemoryStore,
    rank::{Candidate, Corpus, QueryTerms, Ranked, TermCounts, rank},
    search::{Hit, Namespaces, Page, Place, Search, Within},
    terms::index_terms,
    vector::{InvalidVector, Space, Vector},
};
pub use thread::calls::NOT_MADE;
pub use thread::diff::{Diff, Difference, GraphDiff};
pub use thread::erase::Forks;
pub use thread::export::ImportError;
pub use thread::items::ThreadItems;
pub use thread::labels::{GRAPH, Labels, REQUESTS, STATUS, Status};
pub use thread::log::{Log, LogEntry, OpenLog};
pub use thread::page::{Checkpoint, Pages, Source};
pub use thread::retention::Keep;
pub use thread::select::Select;
pub use thread::verify::{Chain, Damage, Verified};
pub use thread::walk::Branch;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
