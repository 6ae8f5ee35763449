//! The five kinds of an orchestrator: counted once in any order, forgotten as if never heard, and read with reasons.

mod answers;
mod conforms;
mod deaths;
mod gates;
mod order;
mod plans;
mod reports;
mod tools;
mod writers;
