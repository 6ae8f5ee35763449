//! Text that is shown and calls nothing: quotations, comments, rows of tables, fences in fences.

/// What is being shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shown {
    /// Up to a close mark, which was not found before this byte; or to the end of the line.
    Span { close: &'static str, from: usize, in_line: bool },
    /// A fence of more than three signs, or of tildes, up to one that is as long; and how many of its like are open.
    Block { sign: u8, len: usize, depth: usize },
    /// Fences in a fence: how many are open.
    Nested(usize),
}

/// What closes each quotation mark.
pub(crate) const QUOTES: [(&str, &str); 16] = [
    ("`", "`"),
    ("\"", "\""),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("「", "」"),
    ("『", "』"),
    ("《", "》"),
    ("〈", "〉"),
    ("«", "»"),
    ("„", "“"),
    ("„", "”"),
    ("‹", "›"),
    ("＂", "＂"),
    ("〝", "〞"),
    ("｢", "｣"),
];
