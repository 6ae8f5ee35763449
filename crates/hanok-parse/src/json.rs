//! JSON as models write it.
//!
//! [`scan`] finds where a value ends and writes it out as valid JSON while the text comes, with a stack of its own;
//! [`repair`] and [`dialects`] read its tokens, [`members`] keeps the members of the objects, [`tags`] reads single values
//! that stand between tags. [`fault`] says what was mended.
//!
//! A string keeps its content; digits and the order of keys are kept.

pub(crate) mod dialects;
pub(crate) mod fault;
pub(crate) mod json_text;
pub(crate) mod literals;
pub(crate) mod members;
pub(crate) mod object;
pub(crate) mod repair;
pub(crate) mod scan;
pub(crate) mod tags;
pub(crate) mod token;
