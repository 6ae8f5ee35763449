//! Text as such: looking ahead in it, and what may stand in it.
//!
//! [`look`] says of every look ahead whether the text has to go on first, so that nothing is decided too early; [`marks`] finds the
//! tags and tokens of the [`formats`], each with the [`rule`] of how its call goes on, or the words of a [`grammar`]; [`labels`] reads the labels of lines;
//! [`names`] matches a name to a declared one. [`setup`] is what one parser looks for, and [`eights`] passes over bytes that are
//! none of it.
//!
//! Nothing here knows what a call is made of.

pub(crate) mod bytes;
pub(crate) mod eights;
pub(crate) mod formats;
pub(crate) mod grammar;
mod grammar_data;
pub(crate) mod labels;
pub(crate) mod look;
pub(crate) mod marks;
pub(crate) mod names;
pub(crate) mod presence;
pub(crate) mod rule;
pub(crate) mod setup;
pub(crate) mod table;
pub(crate) mod table_data;
pub(crate) mod template;
