//! Figures of an answer that come from somewhere.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `claim`, `shown`, `unread`, `law` | the figures of a text: their values, the digits that are shown, what has no certain value, the law of an article |
//! | `unit` | the unit of a number by its key |
//! | `sources`, `data` | what users and tools gave, and how it is read |
//! | `facts` | the same in an order in which one is found quickly |
//! | `grounded` | an answer, its figures and their sources |
//! | `hook` | the same as a hook of an agent |
//! | `stated` | values that a model gives as arguments, looked up in what a person wrote |

#![doc = include_str!("../README.md")]

mod claim;
mod data;
mod facts;
mod grounded;
mod grounding;
mod hook;
mod law;
mod shown;
mod sources;
mod stated;
mod unit;
mod unread;

// The crates whose types stand in what this one says.
pub use hanok_agent as agent;
pub use hanok_figures as figures;
pub use hanok_state as state;

pub use grounded::{Grounded, GroundedFigure};
pub use grounding::{Grounding, GroundingError, Unsupported, UnsupportedFigures};
pub use sources::{Source, Sources};
pub use stated::{Stated, StatedKind};
pub use unit::DataUnit;
