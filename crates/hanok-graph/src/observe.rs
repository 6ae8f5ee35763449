//! What an observer of a run sees, and how it reaches them.
//!
//! An [`event`] is *recorded* (it follows from the log, has an id and is the same when it is told again from there) or *live* (it
//! is lost with its process). A [`sink`] gives each event its run, its time and its place, and passes all on in one order: a recorded
//! one when its entry is safe, and what came after it behind it. A [`trail`] keeps the newest events of a run until its readers
//! have read them; a reader that falls behind is caught up from the log, or gets a mark where live events are left out. [`events`]
//! is the stream of one run. [`any`] are states and updates of whatever type.
//!
//! What must hold:
//!
//! - Nobody waits for an observer: a slow one costs the run nothing but memory, which is bounded.
//! - After a recorded event there is neither gap nor duplicate, in any process, if one reads on from its id.
//! - Places grow along a stream: a live event stands between the recorded ones between which it happened.
//!
//! [`graph_watch`] tells of subgraphs, [`tool_event`] is what is told
//! of tools, [`spoken`] knows whose messages were told as tokens.
//! [`serialize`] writes events for clients, [`print`] shows them to people.
//!
//! Everybody above emits events here; without an observer none is made.

pub(crate) mod any;
pub(crate) mod event;
pub(crate) mod events;
pub(crate) mod graph_watch;
pub(crate) mod print;
pub(crate) mod serialize;
pub(crate) mod sink;
pub(crate) mod spoken;
pub(crate) mod tool_event;
pub(crate) mod trail;
