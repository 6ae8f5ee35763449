//! Resources of servers.

use rmcp::model;
use serde::{Deserialize, Serialize};

use crate::text::{line, shown};

/// The most bytes of a description.
const LONGEST_DESCRIPTION: usize = 4096;

/// The most bytes of a content.
pub(super) const LONGEST_CONTENT: usize = 256 * 1024;

/// A resource that a server lists. Its texts are the server's, bounded and with hidden characters as escapes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resource {
    /// The address, exactly as the server names it: for [`read_resource`](crate::McpClient::read_resource), not for eyes.
    pub uri: String,
    /// The name.
    pub name: String,
    /// The description; empty where there is none.
    #[serde(default)]
    pub description: String,
    /// The media type, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size in bytes, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A family of resources, whose addresses have parts to fill in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The address with its parts, as RFC 6570 writes them, exactly as the server names it.
    pub uri_template: String,
    /// The name.
    pub name: String,
    /// The description; empty where there is none.
    #[serde(default)]
    pub description: String,
    /// The media type, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// A part of what a resource holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceContent {
    /// The address, in one line with hidden characters as escapes.
    pub uri: String,
    /// The media type, if the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text, of at most 256 KiB and with hidden characters as escapes; `None` for one that is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes of one that is no text, about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
}

impl Resource {
    pub(crate) fn of(listed: &model::Resource) -> Self {
        Self {
            uri: listed.uri.clone(),
            name: line(listed.title.as_deref().unwrap_or(&listed.name), 256),
            description: description(listed.description.as_deref()),
            mime_type: kind(listed.mime_type.as_deref()),
            size: listed.size,
        }
    }
}

impl ResourceTemplate {
    pub(crate) fn of(listed: &model::ResourceTemplate) -> Self {
        Self {
            uri_template: listed.uri_template.clone(),
            name: line(listed.title.as_deref().unwrap_or(&listed.name), 256),
            description: description(listed.description.as_deref()),
            mime_type: kind(listed.mime_type.as_deref()),
        }
    }
}

impl ResourceContent {
    pub(crate) fn of(read: &model::ResourceContents) -> Option<Self> {
        use model::ResourceContents::{BlobResourceContents, TextResourceContents};
        let (uri, mime_type, text, bytes) = match read {
            TextResourceContents { uri, mime_type, text, .. } => {
                (uri, mime_type, Some(shown(text, LONGEST_CONTENT)), None)
            }
            BlobResourceContents { uri, mime_type, blob, .. } => {
                (uri, mime_type, None, Some(blob.len() / 4 * 3))
            }
            _ => return None,
        };
        Some(Self { uri: line(uri, 2048), mime_type: kind(mime_type.as_deref()), text, bytes })
    }
}

pub(super) fn description(text: Option<&str>) -> String {
    shown(text.unwrap_or_default(), LONGEST_DESCRIPTION)
}

fn kind(text: Option<&str>) -> Option<String> {
    text.map(|text| line(text, 128))
}
