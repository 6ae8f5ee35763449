//! The logs of threads in PostgreSQL, shared by any number of processes and machines.
//!
//! [`Postgres`] is a [`Checkpointer`](hanok_checkpoint::Checkpointer):
//!
//! - an append is one transaction, with all its checks inside, and normally one way to the server and back;
//! - what is answered survives the death of this process and the crash of the server; with
//!   [`Safety::Machine`](hanok_checkpoint::Safety::Machine) it also waits for the standbys that the server waits for;
//! - a read sees one moment of the store;
//! - it is a [`Store`](hanok_checkpoint::Store) as well: what is remembered across threads lies in the same schema;
//! - no statement has a name and no setting outlives its transaction, so it works behind a pooler of transactions.
//!
//! ```no_run
//! use hanok_checkpoint::{Checkpointer, SharedCheckpointer};
//! use hanok_core::{Tenant, ThreadKey};
//! use hanok_postgres::{Config, Postgres};
//!
//! # async fn threads() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new("postgresql://agents@db.example/agents?sslmode=require").connections(8);
//! let store = SharedCheckpointer::new(Postgres::connect(config).await?);
//! let thread = ThreadKey::new(Tenant::default(), "user-session-123")?;
//! assert!(store.head(&thread).await?.is_none());
//! # Ok(())
//! # }
//! ```

mod columns;
mod config;
mod database;
mod failure;
mod handle;
mod items;
mod log;
mod number;
mod server;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_core as core;

pub use config::{Config, Follow};
pub use handle::connections::{Connections, Rows, Statement, Value};
pub use handle::postgres::Postgres;

/// The programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
