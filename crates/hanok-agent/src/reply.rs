//! A model's reply: asking for it, showing its tokens, and reading it.
//!
//! - `ask_model`: one call of a model within its span.
//! - `visible_tokens`: the part of a stream that a user may see.
//! - `forming`: a typed answer while it forms.
//! - `foreign`: the words of others, neutralised and restored.
//! - `read`: the calls, the faults or the answer of a reply.
//! - `native`: the calls that a server passes on, their small faults mended.
//!
//! A reply is data: reading it never fails, and a call that cannot be read is a [`Fault`](crate::Fault) for the model.

pub(crate) mod ask_model;
pub(crate) mod foreign;
pub(crate) mod forming;
mod native;
pub(crate) mod read;
mod visible_tokens;
