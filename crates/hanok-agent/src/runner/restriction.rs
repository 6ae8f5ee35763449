//! What a catalogue says of the calls of a reply.

use std::collections::BTreeMap;

/// What a catalogue says of calls, by the names of their tools. Nothing is said of tools that it does not list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restrictions {
    pub(crate) calls: BTreeMap<String, Restriction>,
    /// The tools that the model was offered.
    pub(crate) shown: Vec<String>,
}

/// What a catalogue says of the calls of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Restriction {
    /// It was offered with the definition of this hash, and is called with that one alone.
    Definition(String),
    /// It was not offered, and may be called.
    Unbound,
    /// It was offered, and is not there any more.
    Gone,
    /// It is a tool of the agent that was not offered and that the catalogue does not list any more.
    Unknown,
}
