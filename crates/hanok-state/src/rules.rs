//! The rules of fields, a file for each.
//!
//! A rule is a type without values that implements [`Reduce`](crate::reduce::Reduce), the merge of writes, and
//! [`Code`](crate::code::Code), the stored form. A [`Slot`](crate::slot::Slot) names it, and treats overwrites alike for all rules.
//!
//! Invariants
//!
//! - A rule is a pure function of the value and the writes. The same log gives the same state in every build.
//! - `check` refuses whatever `reduce` would refuse, and changes nothing: a state is merged wholly or not at all.
//! - The result of a user's function is stored as one of the closed vocabulary's changes: reading a log runs nobody's code.
//!
//! Besides the ground, the room imports `messages` and `collections`, for the values that it merges. `dynamic` is above it.

pub(crate) mod append;
pub(crate) mod last_value;
mod macros;
pub(crate) mod merge;
pub(crate) mod messages;
pub(crate) mod nested;
pub(crate) mod operations;
pub(crate) mod transient;
pub(crate) mod with;
