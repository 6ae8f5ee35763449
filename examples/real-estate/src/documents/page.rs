//! A document before it is written in a format.

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A heading of this rank, from 1.
    Heading(u8),
    /// A paragraph.
    Paragraph,
    /// An item of a list.
    Item,
}

/// A heading, a paragraph or an item. Its text is plain, in one line, without spaces around it or two of them together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text.
    pub text: String,
}

impl Block {
    /// A block whose text is made plain: white space of any kind is one space.
    #[must_use]
    pub fn new(kind: BlockKind, text: &str) -> Self {
        Self { kind, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

/// A document: blocks in their order.
///
/// Markup is made when it is written, so a text is only ever text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The blocks.
    pub blocks: Vec<Block>,
}
