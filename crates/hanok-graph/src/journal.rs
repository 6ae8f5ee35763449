//! The room `journal`.

pub(crate) mod append;
pub(crate) mod buffered;
pub(crate) mod children;
pub(crate) mod durability;
pub(crate) mod journal;
pub(crate) mod snapshot_policy;
pub(crate) mod underway;
pub(crate) mod writer;
