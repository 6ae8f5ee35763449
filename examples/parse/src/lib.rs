//! Reads what models write, as a filter: the events of one text while it comes in, or the results of a file of cases.
//!
//! Everything that understands a text is in `hanok-parse`; what is here is this program's own: its options, the shape of
//! its lines, and what it says when something is wrong.

pub mod cases;
pub mod failure;
mod input;
mod line;
mod options;
pub mod text;

pub use line::{Case, Outcome};
pub use options::Options;
