//! What the examples that talk in a terminal share: which model answers, a conversation on a thread that may outlive the
//! program, commands in it, what is printed where, and with which exit the program ends.
//!
//! An example says by [`Talk`] what its own state is; a [`Session`] does the rest.

mod aftermath;
mod at_once;
pub mod brain;
mod command;
mod decision;
mod elicitation;
pub mod failure;
mod form;
mod interrupts;
mod json;
mod keyboard;
mod lanes;
mod live;
mod load;
mod marked;
pub mod meaning;
pub mod messages;
mod offline;
mod options;
pub mod passages;
pub mod progress;
mod screen;
mod session;
mod shown;
mod silence;
mod talk;
mod typed;

pub use at_once::{AtOnce, AtOnceQuestions, at_once};
pub use interrupts::unless_interrupted;
pub use lanes::Lane;
pub use load::load_options;
pub use meaning::{Meaning, MeaningOptions};
pub use offline::{OfflineModel, aliases, everyday};
pub use options::{Options, command_line};
pub use screen::{Screen, somebody_types};
pub use session::{Session, stores};
pub use talk::{Ended, Talk};
