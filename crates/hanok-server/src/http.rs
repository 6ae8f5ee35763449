//! HTTP: who may, what an error looks like, and how a run is followed.
//!
//! - [`auth`] makes a [`Signed`](auth::Signed) caller of a request: its tenant, its principal and its roles come from the token alone;
//! - [`problem`] makes an answer of an error: a status, a code, and words that say nothing from inside;
//! - [`hosts`] refuses requests for other hosts and from foreign pages;
//! - [`limits`] says what one caller may ask for at once;
//! - [`sse`] writes server-sent events, [`follow_run`] reads those of one run;
//! - [`service`] is what every way in is given.
//!
//! The ways in call this room; it calls the runs.

pub(crate) mod answers;
pub(crate) mod auth;
pub(crate) mod follow_run;
pub(crate) mod hosts;
pub(crate) mod limits;
pub(crate) mod problem;
pub(crate) mod result;
mod serve;
pub(crate) mod service;
pub(crate) mod sse;
pub(crate) mod tokens;
