//! As much of Rust's lexical grammar as it takes to tell a doc comment from what looks like one.
//!
//! A test of a parser holds `/// B18` in a string, a commented-out test holds it in a comment; neither says anything.

/// A piece of a source file that the search for claims looks at. Literals and plain comments are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// A line of an outer doc comment, without its slashes.
    Outer(&'s str),
    /// A line of an inner doc comment, without its slashes.
    Inner(&'s str),
    /// A word: an identifier, a keyword or a number.
    Word(&'s str),
    /// Any other sign.
    Sign(char),
}

/// The tokens of `source`, each with its 1-based line. Source that does not compile gives some tokens too.
pub(super) fn tokens(source: &str) -> Vec<(usize, Token<'_>)> {
    let mut lexer = Lexer { rest: source, line: 1 };
    let mut tokens = Vec::new();
    while let Some(first) = lexer.rest.chars().next() {
        let line = lexer.line;
        if let Some(token) = lexer.next(first) {
            tokens.push((line, token));
        }
    }
    tokens
}

struct Lexer<'s> {
    rest: &'s str,
    line: usize,
}

impl<'s> Lexer<'s> {
    /// Takes what begins with `first`: a token, or something that is none.
    fn next(&mut self, first: char) -> Option<Token<'s>> {
        if self.rest.starts_with("//") {
            return self.line_comment();
        }
        if self.rest.starts_with("/*") {
            self.block_comment();
            return None;
        }
        if first == '"' {
            self.string();
            return None;
        }
        if first == '\'' {
            self.quote();
            return None;
        }
        if is_word(first) {
            return self.word();
        }
        self.take(first.len_utf8());
        (!first.is_whitespace()).then_some(Token::Sign(first))
    }

    /// Takes the next `bytes` bytes and counts their lines.
    fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn line_comment(&mut self) -> Option<Token<'s>> {
        let text = self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        // Four slashes are a ruler, not documentation.
        match (text.strip_prefix("///"), text.strip_prefix("//!")) {
            (Some(doc), _) if !doc.starts_with('/') => Some(Token::Outer(doc)),
            (_, Some(doc)) => Some(Token::Inner(doc)),
            _ => None,
        }
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0usize;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
                if depth == 0 {
                    return;
                }
            } else {
                self.take(self.rest.chars().next().map_or(0, char::len_utf8));
            }
        }
    }

    /// A string in which a backslash hides what follows it.
    fn string(&mut self) {
        self.take(1);
        let mut hidden = false;
        let end = self.rest.char_indices().find(|(_, c)| {
            let ends = *c == '"' && !hidden;
            hidden = *c == '\\' && !hidden;
            ends
        });
        self.take(end.map_or(self.rest.len(), |(at, _)| at + 1));
    }

    /// A string that ends with a quote and `hashes` signs of `#`.
    fn raw_string(&mut self, hashes: usize) {
        let end = format!("\"{}", "#".repeat(hashes));
        self.take(hashes + 1);
        self.take(self.rest.find(&end).map_or(self.rest.len(), |at| at + end.len()));
    }

    /// A character, or the quote of a lifetime: `'a'`, `'\n'`, `'"'`, but `'a`.
    fn quote(&mut self) {
        let mut after = self.rest.char_indices().skip(1);
        let escaped = after.next().is_some_and(|(_, c)| c == '\\');
        // What a backslash hides cannot end the character.
        let end = if escaped {
            after.skip(1).find(|(_, c)| *c == '\'')
        } else {
            after.next().filter(|(_, c)| *c == '\'')
        };
        self.take(end.map_or(1, |(at, _)| at + 1));
    }

    /// A word, unless it is the prefix of a string: `r"…"`, `br#"…"#`, `c"…"`.
    fn word(&mut self) -> Option<Token<'s>> {
        let word = self.take(self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()));
        let hashes = self.rest.chars().take_while(|c| *c == '#').count();
        let quoted = self.rest.get(hashes..).is_some_and(|rest| rest.starts_with('"'));
        if quoted && matches!(word, "r" | "br" | "cr") {
            self.raw_string(hashes);
            return None;
        }
        if matches!(word, "b" | "c") && self.rest.starts_with('"') {
            self.string();
            return None;
        }
        Some(Token::Word(word))
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::Token::{Inner, Outer, Sign, Word};
    use super::*;

    #[test]
    fn what_looks_like_documentation_and_is_none_is_passed_over() {
        for (source, want) in [
            ("/// B1\nfn", vec![(1, Outer(" B1")), (2, Word("fn"))]),
            ("//! P1", vec![(1, Inner(" P1"))]),
            ("// B1\n//// B2\n", vec![]),
            ("/* /// B1 /* */ /// B2 */ x", vec![(1, Word("x"))]),
            ("\"/// B1\\\" /// B2\" x", vec![(1, Word("x"))]),
            ("r#\"a\n\" /// B1\n\"# x", vec![(3, Word("x"))]),
            ("br\"\\\" x b\"/// B1\" y", vec![(1, Word("x")), (1, Word("y"))]),
            ("'\"' /// B1", vec![(1, Outer(" B1"))]),
            ("'\\'' '\\u{41}' x", vec![(1, Word("x"))]),
            ("&'a str", vec![(1, Sign('&')), (1, Word("a")), (1, Word("str"))]),
            (
                "r#fn r#type",
                vec![
                    (1, Word("r")),
                    (1, Sign('#')),
                    (1, Word("fn")),
                    (1, Word("r")),
                    (1, Sign('#')),
                    (1, Word("type")),
                ],
            ),
            ("한옥 \"열린 문자열", vec![(1, Word("한옥"))]),
        ] {
            assert_eq!(tokens(source), want, "{source:?}");
        }
    }

    #[test]
    fn a_source_that_ends_anywhere_is_read_to_its_end() {
        let source = "/// B1\n#[test] /* a /* b */ */ fn x() { r##\"\"# 한\"##; '\\''; \"\\\"\" }";
        for end in (0..=source.len()).filter(|end| source.is_char_boundary(*end)) {
            tokens(&source[..end]);
        }
    }
}
