//! The length of a file: the lines that hold code, without comments, blank lines and tests.

use proc_macro2::{LineColumn, TokenStream, TokenTree};

/// The most lines of code in a file that gives no reason.
pub(super) const LONGEST: usize = 400;

/// The beginning of the line that says why a file is long.
const REASON: &str = "Long:";

/// The number of lines of `text` that hold one of its `tokens` and are in none of the ranges `tests`.
pub(super) fn code_lines(tokens: TokenStream, text: &str, tests: &[(usize, usize)]) -> usize {
    let text: Vec<_> = text.lines().collect();
    let mut lines = Vec::new();
    collect(tokens, &text, &mut lines);
    let is_of_test = |line: &usize| tests.iter().any(|(from, to)| (from..=to).contains(&line));
    lines.into_iter().filter(|line| !is_of_test(line)).count()
}

/// Adds the lines of the tokens, each once: tokens come in the order of their lines.
fn collect(tokens: TokenStream, text: &[&str], lines: &mut Vec<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    let add = |from: usize, to: usize, lines: &mut Vec<usize>| {
        let last = lines.last().copied().unwrap_or_default();
        lines.extend(from.max(last + 1)..=to);
    };
    while let Some(token) = tokens.next() {
        let from = token.span().start();
        match token {
            // A comment of documentation is read as an attribute; where it stands, there is no `#`.
            TokenTree::Punct(sign) if sign.as_char() == '#' && is_comment(from, text) => {
                tokens.next_if(|it| matches!(it, TokenTree::Punct(sign) if sign.as_char() == '!'));
                tokens.next_if(|it| matches!(it, TokenTree::Group(_)));
            }
            TokenTree::Group(group) => {
                add(from.line, from.line, lines);
                collect(group.stream(), text, lines);
                let end = group.span_close().end().line;
                add(end, end, lines);
            }
            TokenTree::Literal(literal) => add(from.line, literal.span().end().line, lines),
            TokenTree::Ident(_) | TokenTree::Punct(_) => add(from.line, from.line, lines),
        }
    }
}

fn is_comment(start: LineColumn, text: &[&str]) -> bool {
    let line = start.line.checked_sub(1).and_then(|index| text.get(index)).unwrap_or(&"");
    line.chars().nth(start.column) == Some('/')
}

/// Looks for a comment at the head of the file that begins a line with `Long:` and says more.
pub(super) fn has_reason(text: &str) -> bool {
    let head = text
        .lines()
        .map(str::trim)
        .take_while(|line| line.is_empty() || line.starts_with("//") || line.starts_with("#!["));
    let mut comments = head.filter_map(|line| line.strip_prefix("//"));
    comments.any(|comment| {
        let comment = comment.trim_start_matches('!').trim();
        comment.strip_prefix(REASON).is_some_and(|reason| !reason.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_are_those_with_a_token() {
        let source = "//! A doc.\n\n// A comment.\n/// A doc.\n#[doc = \"a doc\"]\nfn f() { // code\n    /* none\n    */\n    g(\"two\nlines\")\n}\n\nmod tests {\n}\n";
        let count = |tests: &[_]| code_lines(source.parse().unwrap(), source, tests);
        assert_eq!(count(&[]), 7);
        assert_eq!(count(&[(13, 14)]), 5);
    }

    #[test]
    fn a_reason_stands_at_the_head_and_says_something() {
        for (text, want) in [
            ("//! Parsing.\n//!\n//! Long: one table.\nfn f() {}\n", true),
            ("// Long: one table.\n\n//! Parsing.\n", true),
            ("//! Long:\n", false),
            ("//! Longer: no.\n", false),
            ("fn f() {}\n// Long: too late.\n", false),
        ] {
            assert_eq!(has_reason(text), want, "{text:?}");
        }
    }
}
