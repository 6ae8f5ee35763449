//! Every guide says what to add, is in the index, and has programs that are compiled.

use crate::fault::Fault;
use crate::pages;

/// The folder of the guides, and the file that links to each of them.
const GUIDES: &str = "docs/guides/";
pub(super) const INDEX: &str = "README.md";

/// Faults in the guides, each a path and its text, against the text of [`INDEX`].
pub(super) fn check(guides: &[(String, String)], index: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in guides {
        let mut fault = |line, what: &str| faults.push(Fault::new(path, line, what));
        if !index.contains(&format!("]({path})")) {
            fault(1, "no reader gets there, link to it from the guides in `README.md`");
        }
        if !text.lines().take(12).any(|line| line.starts_with("$ cargo add hanok")) {
            fault(1, "a reader does not know what to add, begin with `$ cargo add hanok …`");
        }
        for block in pages::blocks(text) {
            if block.language.is_empty() {
                fault(
                    block.line,
                    "a block without a language is compiled as Rust, say which it is",
                );
            }
            if block.is_rust() && block.language.contains("ignore") {
                fault(block.line, "a program that is not compiled, mend it or write `rust,no_run`");
            }
        }
    }
    faults
}

/// Recognises a guide by its path.
pub(super) fn is_guide(path: &str) -> bool {
    path.starts_with(GUIDES) && path.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_that_adds_nothing_is_not_in_the_index_or_not_compiled_is_found() {
        let index = "The guides: [state](docs/guides/state.md), docs/guides/new.md.\n";
        let fine = "# State\n\n```console\n$ cargo add hanok\n```\n\n```rust\nfn main() {}\n```\n";
        let fences = "```rust,ignore\n```\n\n```\n$ cargo add hanok\n```\n";
        for (path, text, want) in [
            ("docs/guides/state.md", fine, &[][..]),
            ("docs/guides/new.md", "# New\n", &["1: no reader", "1: a reader"]),
            ("docs/guides/state.md", fences, &["1: a program", "4: a block"]),
        ] {
            let faults = check(&[(path.to_owned(), text.to_owned())], index);
            assert_eq!(faults.len(), want.len(), "{faults:?}");
            for (fault, want) in faults.iter().zip(want) {
                assert!(fault.to_string().starts_with(&format!("{path}:{want}")), "{fault}");
            }
        }
        assert!(is_guide("docs/guides/state.md") && !is_guide("docs/guides/state.png"));
    }
}
