//! The places at which people are asked.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The place of a graph at which people are asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Gate {
    /// Whether a query is understood.
    Clarify,
    /// Whether a plan is carried out.
    Plan,
    /// Whether a step of a plan is made.
    Step,
    /// Whether a call of a tool is made.
    Tool,
    /// Whether the definitions of a server's tools are taken.
    Definitions,
    /// What a server asks.
    Elicitation,
    /// Another place, by its name.
    Custom(String),
}

impl Gate {
    /// Those that have a name of their own.
    pub const NAMED: [Self; 6] =
        [Self::Clarify, Self::Plan, Self::Step, Self::Tool, Self::Definitions, Self::Elicitation];
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clarify => "clarify",
            Self::Plan => "plan",
            Self::Step => "step",
            Self::Tool => "tool",
            Self::Definitions => "definitions",
            Self::Elicitation => "elicitation",
            Self::Custom(name) => name,
        })
    }
}
