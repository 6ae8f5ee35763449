#![doc = include_str!("../README.md")]

mod action;
mod apply;
mod change;
mod compactor;
mod event;
mod expand;
mod full_window;
mod memory;
mod pin;
mod plan;
mod policy;
mod prompt_size;
mod request;
mod separated;
mod shrink;
mod stated_facts;
mod turn_data;
mod unit;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_model as model;
pub use hanok_parse as parse;
pub use hanok_state as state;

pub use action::{Action, Replaced};
pub use apply::NotApplied;
pub use change::CompactionChange;
pub use compactor::{Compactor, MemoryError, Remembers, SummaryModel};
pub use event::MemoryEvent;
pub use expand::{ExpandError, Expanded, expand};
pub use full_window::FullWindow;
pub use memory::{ConversationMemory, ConversationMemoryUpdate, Fact, FactKind, Summary};
pub use plan::Plan;
pub use policy::{Compaction, KeepRecent, Overflow, PolicyError, Trigger};
pub use prompt_size::{PromptParts, PromptSize};
pub use separated::SeparatorInside;
pub use shrink::STORED;
pub use stated_facts::stated_facts;
pub use turn_data::turn_data;
