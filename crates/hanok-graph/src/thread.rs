//! The room `thread`.

pub(crate) mod active;
pub(crate) mod app;
pub(crate) mod bulk;
pub(crate) mod claim;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod handle;
pub(crate) mod heartbeat;
pub(crate) mod input;
pub(crate) mod invoke;
pub(crate) mod options;
pub(crate) mod queue;
pub(crate) mod recover;
pub(crate) mod reopen;
pub(crate) mod replay;
pub(crate) mod restart;
pub(crate) mod turn;
