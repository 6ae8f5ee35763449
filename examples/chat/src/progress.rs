//! What the nodes tell while they work.

use serde::{Deserialize, Serialize};

use crate::Route;

/// What the nodes of this graph tell; agent and memory tell their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "chat", rename_all = "snake_case")]
pub enum Progress {
    /// The question goes this way.
    Routed {
        /// The way.
        route: Route,
        /// Why, in the model's words, or why the model's choice could not be used.
        reason: String,
    },
    /// The documents were searched.
    Searched {
        /// Where the passages are from, the best first.
        sources: Vec<String>,
    },
}
