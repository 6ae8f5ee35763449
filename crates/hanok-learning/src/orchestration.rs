//! Five kinds of memory for an agent that plans, picks tools, asks back and is approved by people.
//!
//! A kind says what its reports are and how they are counted; a reader recalls its records for a question and says why each does or
//! does not count.
//!
//! Invariants:
//!
//! - Code counts. A report is one piece of evidence with an id; no kind takes one of [`Actor::Model`](crate::Actor::Model), and a
//!   model labels from a closed list or compares two texts, no more.
//! - Counters are sums, sets and newest values by time and id: any order of the same evidence gives the same bytes.
//! - What nobody has tried has no rate: it is `None`, never 0.
//! - What a program did by itself is counted apart from what people did, and never as evidence of what people want.
//! - Time is an argument, and so is the key by which a share of calls is asked about: what runs again decides the same.
//!
//! From the ground up: texts (`normal`, `similarity`, `judge`) and figures (`tally`, `stamped`, `cold_start`), the rules (`policy`,
//! `admission`), the kinds (`*_memory`), what is recalled (`candidate`, `tool_advice`, `clarification_advice`, `gate_verdict`), and
//! `orchestrator`, which reads.

pub(crate) mod admission;
pub(crate) mod behaviour_memory;
pub(crate) mod candidate;
pub(crate) mod clarification_advice;
pub(crate) mod clarification_memory;
pub(crate) mod cold_start;
pub(crate) mod gate_verdict;
pub(crate) mod judge;
pub(crate) mod normal;
pub(crate) mod orchestrator;
pub(crate) mod plan_memory;
pub(crate) mod policy;
pub(crate) mod similarity;
pub(crate) mod stamped;
pub(crate) mod tally;
pub(crate) mod tool_advice;
pub(crate) mod tool_memory;
pub(crate) mod tool_ref;
pub(crate) mod workflow_memory;
