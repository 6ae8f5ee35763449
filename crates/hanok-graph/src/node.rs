//! The room `node`.

pub(crate) mod activity;
pub(crate) mod attempt;
pub(crate) mod cache;
pub(crate) mod command;
pub(crate) mod context;
pub(crate) mod function;
pub(crate) mod handler;
pub(crate) mod question;
pub(crate) mod readable;
pub(crate) mod retry;
pub(crate) mod run_context;
pub(crate) mod settings;
pub(crate) mod snapshot;
