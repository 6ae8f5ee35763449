//! The name of a tool, with the server that it is of.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A tool: tools of one name that are of different servers are different tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolRef {
    /// The name of the server of others that it is of; `None` for one of the program's own.
    pub server: Option<String>,
    /// The name of the tool, letter by letter.
    pub name: String,
}

impl ToolRef {
    /// A tool of the program's own.
    pub fn own(name: impl Into<String>) -> Self {
        Self { server: None, name: name.into() }
    }

    /// A tool of the server `server`.
    ///
    /// ```
    /// use hanok_learning::ToolRef;
    ///
    /// assert_eq!(ToolRef::of_server("maps", "route").to_string(), "maps/route");
    /// assert_eq!(ToolRef::own("route").to_string(), "route");
    /// ```
    pub fn of_server(server: impl Into<String>, name: impl Into<String>) -> Self {
        Self { server: Some(server.into()), name: name.into() }
    }
}

impl std::fmt::Display for ToolRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(f, "{server}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The servers of `tools`.
pub(super) fn servers<'a>(tools: impl IntoIterator<Item = &'a ToolRef>) -> BTreeSet<String> {
    tools.into_iter().filter_map(|tool| tool.server.clone()).collect()
}
