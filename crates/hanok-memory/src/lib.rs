#![doc = include_str!("../README.md")]

mod change;
mod compactor;
mod count;
mod event;
mod memory;
mod plan;
mod policy;
mod request;
mod separated;
mod stated;
mod unit;

pub use change::Change;
pub use compactor::{Compactor, MemoryError, Remembers};
pub use count::{Around, Counted};
pub use event::MemoryEvent;
pub use memory::{
    ConversationMemory, ConversationMemoryUpdate, Fact, FactKind, Summary, with_data,
};
pub use plan::{Action, NotApplied, Plan, Replaced};
pub use policy::{Compaction, Keep, Overflow, PolicyError, Trigger};
pub use separated::SeparatorInside;
pub use stated::stated;
