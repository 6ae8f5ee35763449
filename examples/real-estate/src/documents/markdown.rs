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

#[cfg(test)]
mod tests {
    use super::super::page::{Block, BlockKind, Page};

    #[test]
    fn no_text_is_markup() {
        let blocks = [
            (BlockKind::Heading(2), "a # b"),
            (BlockKind::Paragraph, "**a** _b_ `c` <d> [e](f) \\ | ~~g~~ &lt;  h"),
            (BlockKind::Item, "가"),
            (BlockKind::Item, "나"),
            (BlockKind::Paragraph, "끝"),
        ];
        let blocks = blocks.map(|block| Block::new(block.0, block.1)).to_vec();
        let want = "## a \\# b\n\n\\*\\*a\\*\\* \\_b\\_ \\`c\\` \\<d\\> \\[e\\](f) \\\\ \\| \\~\\~g\\~\\~ &amp;lt; h\n\n- 가\n- 나\n\n끝\n";
        assert_eq!(Page { blocks }.markdown(), want);
        assert_eq!(Page::default().markdown(), "\n");
    }
}
