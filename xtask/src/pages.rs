//! The blocks of code of a page in Markdown.

/// A block between two fences.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block<'p> {
    /// The line of the fence that opens it.
    pub(crate) line: usize,
    /// What follows the fence: `rust,no_run`, `console`.
    pub(crate) language: &'p str,
    pub(crate) lines: Vec<&'p str>,
}

impl Block<'_> {
    pub(crate) fn is_rust(&self) -> bool {
        self.language.split(',').next() == Some("rust")
    }
}

/// The blocks of a page, in their order.
pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open) = (Vec::new(), None);
    for (line, number) in page.lines().zip(1..) {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(Block { lines, .. }), None) => lines.push(line),
            (None, Some(language)) => {
                open = Some(Block { line: number, language: language.trim(), lines: Vec::new() });
            }
            (None, None) => {}
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_another_language_opens_nothing() {
        let page = "# A\n```rust,no_run\n# use a;\nfn main() {}\n```\n  ```console\n$ a\n```\n";
        let rust =
            Block { line: 2, language: "rust,no_run", lines: vec!["# use a;", "fn main() {}"] };
        let console = Block { line: 6, language: "console", lines: vec!["$ a"] };
        assert!(rust.is_rust() && !console.is_rust());
        assert_eq!(blocks(page), [rust, console]);
    }
}
