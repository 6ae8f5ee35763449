//! A block of content as text.

use rmcp::model::{ContentBlock, ResourceContents};

use crate::text::line;

/// The text of a block, or a line for one that is none.
pub(crate) fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => media("image", &image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => media("audio", &audio.mime_type, audio.data.len()),
        ContentBlock::ResourceLink(link) => {
            reference(&link.uri, link.mime_type.as_deref(), Some(&link.name))
        }
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                format!("{}\n{text}", reference(uri, mime_type.as_deref(), None))
            }
            ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                reference(uri, mime_type.as_deref(), None)
            }
            _ => "[a resource of a kind that is not known]".to_owned(),
        },
        _ => "[content of a kind that is not known]".to_owned(),
    }
}

fn media(what: &str, kind: &str, base64: usize) -> String {
    format!("[{what}, {}, about {} bytes]", line(kind, 128), base64 / 4 * 3)
}

/// A resource in one line. It is not fetched: its address is a server's word.
fn reference(uri: &str, kind: Option<&str>, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {}", line(name, 256))).unwrap_or_default();
    let kind = kind.map(|kind| format!(", {}", line(kind, 128))).unwrap_or_default();
    format!("[resource{name} <{}>{kind}]", line(uri, 2048))
}
