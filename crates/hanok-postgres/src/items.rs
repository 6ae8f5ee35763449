//! The items of the `Store` as SQL.
//!
//! `rows` reads items by their keys, `find` lists and searches them, `write` puts, removes and refreshes them, `lock` says
//! which batches wait for each other. A batch is one transaction. Filters are evaluated on what was read and never become SQL.

pub(crate) mod find;
pub(crate) mod lock;
pub(crate) mod rows;
pub(crate) mod write;

use hanok_checkpoint::StoreError;

use crate::failure::Failure;

/// The server's failure outside, the contract's error inside.
pub(crate) type Answer<T> = Result<Result<T, StoreError>, Failure>;
