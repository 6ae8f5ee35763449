//! The audit of a thread: what people were asked, what they decided, when, and by what rule, as its log says it.
//!
//! A [`trail`] reads the log and makes [`record`]s, each with the hash of the one before ([`chain`]); [`hidden`] leaves out what a
//! form marks as secret from what is [`shown`], [`difference`] says what an edit changed, [`pass`] what was done without asking.

pub(crate) mod chain;
pub(crate) mod difference;
pub(crate) mod hidden;
pub(crate) mod pass;
pub(crate) mod record;
pub(crate) mod shown;
pub(crate) mod trail;
