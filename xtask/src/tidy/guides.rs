//! Every guide says what to add, and is found: what is printed for a reader to copy has to work, and to be in the index.

use std::collections::BTreeSet;

use crate::fault::Fault;

/// The folder of the guides.
const GUIDES: &str = "docs/guides/";

/// Within so many lines a guide says what to add.
const BEGINNING: usize = 12;

/// By so many different lines the guides add `hanok`: each is a build of its own.
const LINES: usize = 5;

/// The file that links to each of them.
pub(super) const INDEX: &str = "README.md";

/// Faults in the guides, each a path and its text, against the text of [`INDEX`].
pub(super) fn check(guides: &[(String, String)], index: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut lines = BTreeSet::new();
    for (path, text) in guides {
        if !index.contains(&format!("]({path})")) {
            let what = format!("no reader gets there, link to it from the guides in `{INDEX}`");
            faults.push(Fault::new(path, 1, what));
        }
        match text.lines().take(BEGINNING).find(|line| line.starts_with("$ cargo add hanok")) {
            Some(line) => drop(lines.insert(line)),
            None => {
                let what = "a reader does not know what to add, begin with `$ cargo add hanok …`";
                faults.push(Fault::new(path, 1, what));
            }
        }
        if lines.len() > LINES {
            let what = "the guides add `hanok` in too many ways, take the line of another guide";
            faults.push(Fault::new(path, 1, what));
        }
        for (line, language) in fences(text) {
            let mut words = language.split(',').map(str::trim);
            if words.next() == Some("rust") && words.any(|word| word == "ignore") {
                let what = "a program that is not compiled, mend it or write `rust,no_run`";
                faults.push(Fault::new(path, line, what));
            }
            if language.is_empty() {
                let what = "a block without a language is compiled as Rust, say which it is";
                faults.push(Fault::new(path, line, what));
            }
        }
    }
    faults
}

/// Recognises a guide by its path.
pub(super) fn is_guide(path: &str) -> bool {
    path.starts_with(GUIDES) && path.ends_with(".md")
}

/// The lines that open a block of code, with what they call it.
fn fences(text: &str) -> Vec<(usize, &str)> {
    let mut is_open = false;
    let mut fences = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        is_open = !is_open;
        if is_open {
            fences.push((index + 1, language.trim()));
        }
    }
    fences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guide_that_adds_nothing_or_is_not_in_the_index_is_found() {
        let index = "The guides: [state](docs/guides/state.md), docs/guides/new.md.\n";
        let fine = "# State\n\n```console\n$ cargo add hanok\n```\n\n```rust\nfn main() {}\n```\n\n```python\nx = 1\n```\n";
        for (path, text, want) in [
            ("docs/guides/state.md", fine, vec![]),
            ("docs/guides/state.md", "$ cargo add hanok -F x\n```rust,no_run\n```\n", vec![]),
            (
                "docs/guides/new.md",
                "# New\n",
                vec![
                    "docs/guides/new.md:1: no reader gets there, link to it from the guides in `README.md`",
                    "docs/guides/new.md:1: a reader does not know what to add, begin with `$ cargo add hanok …`",
                ],
            ),
            (
                "docs/guides/state.md",
                "```rust,ignore\n```\n\n```\n$ cargo add hanok\n```\n",
                vec![
                    "docs/guides/state.md:1: a program that is not compiled, mend it or write `rust,no_run`",
                    "docs/guides/state.md:4: a block without a language is compiled as Rust, say which it is",
                ],
            ),
        ] {
            let faults = check(&[(path.to_owned(), text.to_owned())], index);
            assert_eq!(
                faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
                want,
                "{text:?}"
            );
        }
    }

    #[test]
    fn guides_are_the_markdown_files_of_their_folder() {
        for (path, is) in [
            ("docs/guides/state.md", true),
            ("docs/guides/deep/state.md", true),
            ("docs/guides/state.png", false),
            ("docs/behaviours.md", false),
        ] {
            assert_eq!(is_guide(path), is, "{path}");
        }
    }
}
