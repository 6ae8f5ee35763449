//! A page in Markdown.

use super::page::{BlockKind, Page};

/// What would be markup within a text.
const MARKUP: [char; 11] = ['\\', '`', '*', '_', '<', '>', '[', ']', '|', '#', '~'];

impl Page {
    /// The page in Markdown. Texts are escaped: none of them is markup.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let mut before = None;
        for block in &self.blocks {
            let is_item = block.kind == BlockKind::Item;
            if before.is_some() {
                // Items of one list stand together.
                let is_listed = is_item && before == Some(BlockKind::Item);
                text.push_str(if is_listed { "\n" } else { "\n\n" });
            }
            match block.kind {
                BlockKind::Heading(rank) => {
                    text.push_str(&"#".repeat(usize::from(rank.clamp(1, 6))));
                    text.push(' ');
                }
                BlockKind::Item => text.push_str("- "),
                BlockKind::Paragraph => {}
            }
            text.push_str(&escaped(&block.text));
            before = Some(block.kind);
        }
        text.push('\n');
        text
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if MARKUP.contains(&c) {
            escaped.push('\\');
        }
        // An entity would be another character.
        escaped.push_str(if c == '&' { "&amp;" } else { "" });
        if c != '&' {
            escaped.push(c);
        }
    }
    escaped
}
