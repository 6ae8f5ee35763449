//! Names of tools: for people, and for models.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest name of a tool that servers of models take.
const LONGEST: usize = 64;

/// The mark before the hash in a name that was made fit.
const HASHED: &str = "_h";

/// The hexadecimal digits of that hash.
const DIGITS: usize = 16;

/// One tool of one server. It is shown as `server/tool`.
///
/// ```
/// use hanok_mcp::ToolId;
///
/// let id = ToolId::new("files", "read");
/// assert_eq!((id.to_string().as_str(), id.model_name().as_str()), ("files/read", "files__read"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolId {
    server: String,
    tool: String,
}

impl ToolId {
    /// The tool `tool` of the server that the configuration calls `server`.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }

    /// The server, as the configuration names it.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool, as its server names it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The name by which models call the tool: `server__tool`, for servers of models refuse `/`.
    ///
    /// A name that is longer than 64 bytes, has other characters than ASCII letters, digits, `_` and `-`, or could be read in two
    /// ways ends with a hash of both names instead. So different tools have different names.
    ///
    /// ```
    /// use hanok_mcp::ToolId;
    ///
    /// let name = ToolId::new("문서", "찾기").model_name();
    /// assert!(name.is_ascii() && name.len() <= 64);
    /// // Both would be `a__b__c`.
    /// assert_ne!(ToolId::new("a__b", "c").model_name(), ToolId::new("a", "b__c").model_name());
    /// ```
    pub fn model_name(&self) -> String {
        let plain = format!("{}__{}", self.server, self.tool);
        // The first `__` of a plain name ends the server's: so it says both.
        let is_plain = plain.len() <= LONGEST
            && plain.bytes().all(is_allowed)
            && !self.server.contains("__")
            && !self.server.ends_with('_')
            && !self.server.is_empty()
            && !self.tool.is_empty()
            && !is_hashed(&plain);
        if is_plain {
            return plain;
        }
        let mut hasher = blake3::Hasher::new();
        for part in [&self.server, &self.tool] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let hash = hasher.finalize().to_hex();
        let room = LONGEST - HASHED.len() - DIGITS;
        let fit = plain.chars().map(|c| match u8::try_from(c) {
            Ok(byte) if is_allowed(byte) => c,
            _ => '_',
        });
        let start: String = fit.take(room).collect();
        let digits: String = hash.chars().take(DIGITS).collect();
        format!("{start}{HASHED}{digits}")
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", crate::text::line(&self.server, 128), crate::text::line(&self.tool, 256))
    }
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// True for a name that ends as one with a hash does.
fn is_hashed(name: &str) -> bool {
    let Some((start, digits)) =
        name.len().checked_sub(DIGITS).and_then(|at| name.split_at_checked(at))
    else {
        return false;
    };
    start.ends_with(HASHED) && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_says_server_and_tool_where_it_can() {
        let long = "t".repeat(100);
        for (server, tool, plain) in [
            ("files", "read", true),
            ("files", "_read", true),
            ("my-files", "read.text", false),
            ("a_", "b", false),
            ("a__b", "c", false),
            ("files", long.as_str(), false),
            ("files", "x_h0123456789abcdef", false),
        ] {
            let name = ToolId::new(server, tool).model_name();
            assert_eq!(name == format!("{server}__{tool}"), plain, "{name}");
            assert!(name.len() <= 64 && name.bytes().all(is_allowed), "{name}");
        }
    }

    proptest! {
        /// P44: no two tools have one name, whatever they are called.
        #[test]
        fn different_tools_have_different_names(
            ids in proptest::collection::vec(("[a_가.-]{0,5}|[a-c_]{60,70}", "[a_가.-]{0,5}|[a-c_]{60,70}"), 2..40)
        ) {
            let mut names = BTreeMap::new();
            for (server, tool) in ids {
                let id = ToolId::new(server, tool);
                let name = id.model_name();
                prop_assert!(name.len() <= 64 && name.bytes().all(is_allowed));
                let before = names.insert(name, id.clone());
                prop_assert!(before.is_none_or(|before| before == id));
            }
        }
    }
}
