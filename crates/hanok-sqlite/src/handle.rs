//! The handle that callers hold, and the thread on which its database lives.
//!
//! `sqlite` and `store` implement the two seams: each call becomes a job that `worker` runs on the database's thread, one after
//! the other. Between jobs the thread has `watch` look for heads that somebody waits for.

pub(crate) mod sqlite;
pub(crate) mod store;
pub(crate) mod watch;
pub(crate) mod worker;
