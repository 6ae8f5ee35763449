//! The handles that callers hold.
//!
//! `postgres` and `store` implement the two seams on one `Database`; `connections` lends the same pool to stores of other crates.
//! Here a failure becomes the error of the seam, with the name of the store.

pub(crate) mod connections;
pub(crate) mod postgres;
pub(crate) mod store;
