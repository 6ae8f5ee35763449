//! What an observer of a run sees, and how it reaches them.
//!
//! An [`event`] is *recorded* (it follows from the log, has an id and is the same when it is told again from there) or *live* (it
//! is lost with its process). A [`sink`] gives events to the stream of a run: recorded ones once their entry is safe, in the order
//! of the log; a reader that falls behind is caught up from the log, or gets a mark where live events are left out.
//!
//! What must hold:
//!
//! - Nobody waits for an observer: a slow one costs the run nothing but memory, which is bounded.
//! - After a recorded event there is neither gap nor duplicate, in any process, if one reads on from its id.
//!
//! [`graph_watch`] tells of subgraphs, [`tool_event`] is what is told
//! of tools, [`spoken`] knows whose messages were told as tokens.
//! [`serialize`] writes events for clients, [`print`] shows them to people.
//!
//! Everybody above emits events here; without an observer none is made.

pub(crate) mod event;
pub(crate) mod graph_watch;
pub(crate) mod print;
pub(crate) mod serialize;
pub(crate) mod sink;
pub(crate) mod spoken;
pub(crate) mod tool_event;
