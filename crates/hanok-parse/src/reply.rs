//! What a text says, while it is being read and after.
//!
//! [`draft`] collects calls, answer, content, reasoning and errors, tells of them as [`event`]s, and becomes an
//! [`outcome`]. [`json_calls`] says which calls an object stands for, [`input`] what a call gives its tool.
//!
//! Only here is it decided whether a call may run.

pub(crate) mod advice;
pub(crate) mod arguments;
pub(crate) mod called;
pub(crate) mod draft;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod finish;
pub(crate) mod flow;
pub(crate) mod input;
pub(crate) mod json_calls;
pub(crate) mod locked;
pub(crate) mod note;
pub(crate) mod outcome;
mod telling;
pub(crate) mod types;
