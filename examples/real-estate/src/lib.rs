//! The real-estate team: data, tools and wording.
//!
//! ```text
//! initialize -> load_memory -> planning -> execute_teams -> aggregate_results -> generate_response
//!                                              |-- search, analysis, document
//! ```
//!
//! Everything reusable is in the crates: the supervisor that plans and the look at figures in `hanok-supervisor`, the choice of tools and
//! their calls in `hanok-agent`, the memory of users in `hanok-memory`, Korean amounts in `hanok-tools`. What is here is this program's
//! own: data, tools, the graphs of its teams, and its words.

pub mod area;
pub mod data;
pub mod documents;
mod estate;
pub mod memory;
pub mod money;
mod opened;
mod options;
pub mod person;
pub mod preferences;
pub mod proposer;
pub mod question;
mod talking;
pub mod teams;
pub mod tools;
pub mod wording;

pub use estate::Estate;
pub use opened::{Opened, Pupil, open};
pub use options::Options;
pub use talking::Talking;
