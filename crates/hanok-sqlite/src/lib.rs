//! The logs of threads in one SQLite file, safe for several processes of one machine.
//!
//! [`Sqlite`] is a [`Checkpointer`](hanok_checkpoint::Checkpointer):
//!
//! - an append is one transaction, with all its checks inside;
//! - with [`Safety::Process`](hanok_checkpoint::Safety::Process) it survives the death of the process, with
//!   [`Safety::Machine`](hanok_checkpoint::Safety::Machine) it is on the disk before it is answered;
//! - a read sees one moment of the file, and changes nothing in it;
//! - the database lives on a thread of its own: no async runtime is needed, and none is blocked.
//!
//! It is a [`Store`](hanok_checkpoint::Store) as well: what is remembered across threads lies in the same file.
//!
//! The file is in write-ahead mode: `threads.db-wal` and `threads.db-shm` stand beside it while it is open and belong to
//! it. It has to be on a disk of this machine, not on a network share.
//!
//! ```
//! use hanok_checkpoint::{Body, Entry, Log, Rewind, SharedCheckpointer};
//! use hanok_checkpoint::{Append, AppendId, Checkpointer, Guard, Record, Safety};
//! use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
//! use hanok_sqlite::Sqlite;
//!
//! # futures::executor::block_on(async {
//! let store = SharedCheckpointer::new(Sqlite::in_memory().await?); // or Sqlite::open("threads.db")
//! let thread = ThreadKey::new(Tenant::default(), "user-session-123")?;
//!
//! let entry = Entry { at: Timestamp(0), namespace: Namespace::root(), body: Body::Rewind(Rewind::default()) };
//! let record = Record::new(&thread, Position(1), Position::START, &entry);
//! let append = Append::new(AppendId(7), Position::START, Guard::Unclaimed, vec![record]);
//! store.append(&thread, append).await?;
//!
//! let history = Log::new(store, thread).history(None, 10).await?;
//! assert_eq!(history[0].entry, entry);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod failure;
#[cfg(test)]
mod faults;
mod file;
mod handle;
mod items;
mod log;
mod number;
mod repair;
mod scan;
mod version;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;

pub use file::database::WriteAhead;
pub use handle::sqlite::Sqlite;
pub use repair::{Repaired, RepairedThread};

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
