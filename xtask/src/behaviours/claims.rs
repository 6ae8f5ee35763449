//! Which numbers the tests of a source file claim to hold.
//!
//! A number stands in the doc comment of a test (`/// B18`, `/// B23, B24: …`, `/// … and nothing twice. P19`), of a test
//! that a macro of the file makes of a name, or at the head of a file of tests (`//! P1`).

use super::lex::{Token, tokens};
use super::number::{Mention, mentions};

/// A test, and a number in its documentation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) mention: Mention,
    pub(super) path: String,
    pub(super) line: usize,
    /// The test's name, empty for the head of a file.
    pub(super) test: String,
}

/// What may stand between the attributes of a function and its name.
const QUALIFIERS: [&str; 6] = ["async", "const", "crate", "pub", "super", "unsafe"];

/// The claims of the file at `path`, in the order they are written.
pub(super) fn claims(path: &str, source: &str) -> Vec<Claim> {
    let tokens = tokens(source);
    let mut reader = Reader::new(path, &tokens);
    reader.read();
    reader.claims
}

struct Reader<'s> {
    path: &'s str,
    tokens: &'s [(usize, Token<'s>)],
    at: usize,
    /// The documentation and the attributes that belong to the next item.
    docs: Vec<&'s str>,
    is_test: bool,
    /// How many braces are open, and at which depth a block of properties began.
    depth: usize,
    properties: Option<usize>,
    /// Whether a macro of the file makes tests of names.
    makes_tests: bool,
    tests: usize,
    claims: Vec<Claim>,
}

impl<'s> Reader<'s> {
    fn new(path: &'s str, tokens: &'s [(usize, Token<'s>)]) -> Self {
        Self {
            path,
            tokens,
            at: 0,
            docs: Vec::new(),
            is_test: false,
            depth: 0,
            properties: None,
            makes_tests: makes_tests(tokens),
            tests: 0,
            claims: Vec::new(),
        }
    }

    fn read(&mut self) {
        while let Some((line, token)) = self.peek(0) {
            self.at += 1;
            match token {
                Token::Outer(doc) => self.docs.push(doc),
                Token::Inner(_) => {}
                Token::Sign('#') => self.attribute(),
                Token::Sign('(' | ')') if self.is_test => {}
                Token::Word(word) if QUALIFIERS.contains(&word) => {}
                Token::Word("fn") => {
                    if let Some((_, Token::Word(name))) = self.peek(0)
                        && (self.is_test || self.properties.is_some())
                    {
                        self.test(line, name);
                    }
                    self.forget();
                }
                Token::Word("proptest") if self.signs(['!', '{']) => {
                    self.properties = self.properties.or(Some(self.depth));
                }
                Token::Word(name) => {
                    // A name alone, documented, in a list of names.
                    let listed = matches!(
                        self.peek(0),
                        None | Some((_, Token::Outer(_) | Token::Sign('}' | ',' | ';')))
                    );
                    if self.makes_tests && listed && !self.docs.is_empty() {
                        self.test(line, name);
                    }
                    self.forget();
                }
                Token::Sign(sign) => {
                    self.brace(sign);
                    self.forget();
                }
            }
        }
        self.head();
    }

    fn peek(&self, ahead: usize) -> Option<(usize, Token<'s>)> {
        self.tokens.get(self.at + ahead).copied()
    }

    /// Whether these signs come next.
    fn signs(&self, signs: [char; 2]) -> bool {
        signs
            .iter()
            .enumerate()
            .all(|(ahead, sign)| self.peek(ahead).is_some_and(|next| next.1 == Token::Sign(*sign)))
    }

    fn brace(&mut self, sign: char) {
        match sign {
            '{' => self.depth += 1,
            '}' => {
                self.depth = self.depth.saturating_sub(1);
                self.properties = self.properties.filter(|depth| *depth < self.depth);
            }
            _ => {}
        }
    }

    /// Reads an attribute to its end and notes whether it makes a test: `#[test]`, `#[tokio::test(…)]`, but not
    /// `#[cfg(test)]`.
    fn attribute(&mut self) {
        let inner = matches!(self.peek(0), Some((_, Token::Sign('!'))));
        self.at += usize::from(inner);
        if !matches!(self.peek(0), Some((_, Token::Sign('[')))) {
            return;
        }
        let mut last = None;
        let mut in_path = true;
        let mut open = 0usize;
        while let Some((_, token)) = self.peek(0) {
            self.at += 1;
            match token {
                Token::Sign('[') => open += 1,
                Token::Sign(']') => open -= 1,
                Token::Sign(':') => {}
                Token::Word(word) if in_path => last = Some(word),
                _ => in_path = false,
            }
            if open == 0 {
                break;
            }
        }
        self.is_test |= last == Some("test") && !inner;
    }

    fn test(&mut self, line: usize, name: &str) {
        self.tests += 1;
        for mention in self.docs.iter().flat_map(|doc| mentions(doc)) {
            let (path, test) = (self.path.to_owned(), name.to_owned());
            self.claims.push(Claim { mention, path, line, test });
        }
    }

    fn forget(&mut self) {
        self.docs.clear();
        self.is_test = false;
    }

    /// The claims at the head of a file of tests: it is in a folder of tests, and has one.
    fn head(&mut self) {
        let is_of_tests = self.path.split('/').rev().skip(1).any(|folder| folder == "tests");
        if !is_of_tests || self.tests == 0 {
            return;
        }
        let head = self.tokens.iter().map_while(|(line, token)| match token {
            Token::Inner(doc) => Some((*line, *doc)),
            _ => None,
        });
        for (line, doc) in head {
            for mention in mentions(doc) {
                let (path, test) = (self.path.to_owned(), String::new());
                self.claims.push(Claim { mention, path, line, test });
            }
        }
    }
}

/// How far before its function an attribute that makes a test of it is looked for, in tokens.
const NEAR: usize = 16;

/// Whether the tokens hold `#[test] fn $`, or the like of it, which makes a test of a name.
fn makes_tests(tokens: &[(usize, Token<'_>)]) -> bool {
    tokens.windows(2).enumerate().any(|(at, pair)| {
        let is_template =
            pair.iter().map(|(_, token)| *token).eq([Token::Word("fn"), Token::Sign('$')]);
        let before = tokens.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
        is_template && before.iter().any(|(_, token)| *token == Token::Word("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claims as `line test number`, with a `~` before the number of a part.
    fn read(path: &str, source: &str) -> Vec<String> {
        claims(path, source)
            .iter()
            .map(|Claim { mention, line, test, .. }| {
                let part = if mention.in_part { "~" } else { "" };
                format!("{line} {test} {part}{}", mention.number)
            })
            .collect()
    }

    #[test]
    fn a_number_is_claimed_by_the_test_that_it_documents() {
        for (source, want) in [
            ("/// B18\n#[test]\nfn a() {}", vec!["3 a B18"]),
            (
                "/// B23, B24: x.\n/// and P1\n#[test]\nfn a() {}",
                vec!["4 a B23", "4 a B24", "4 a P1"],
            ),
            ("#[tokio::test(start_paused = true)]\n/// P19\nasync fn a() {}", vec!["3 a P19"]),
            ("/// B1\n#[should_panic(expected = \"]\")]\n#[test]\nfn a() {}", vec!["4 a B1"]),
            ("/// B5 in part\n#[test]\npub(crate) fn a() {}", vec!["3 a ~B5"]),
            ("#[test]\nfn a() {\n    /// B1\n    fn inner() {}\n}", vec![]),
            ("#[cfg(test)]\n/// B1\nfn helper() {}", vec![]),
            ("/// B1\n#[cfg_attr(x, test)]\nfn a() {}", vec![]),
            ("/// B1\nstruct A;\n#[test]\nfn a() {}", vec![]),
            ("/// B1\nfn a() {}\n#[test]\nfn b() {}", vec![]),
            ("// B1\n#[test]\nfn a() {}", vec![]),
            ("const S: &str = \"\n/// B1\n#[test]\nfn a() {}\";", vec![]),
            ("/* /// B1\n#[test]\nfn a() {} */", vec![]),
        ] {
            assert_eq!(read("crates/x/src/a.rs", source), want, "{source:?}");
        }
    }

    #[test]
    fn a_property_needs_no_attribute_inside_its_block() {
        let source = "proptest! {\n    #![proptest_config(x())]\n    /// B29\n    fn a(x in 0..1) { let y = {}; }\n    /// B30\n    #[test]\n    fn b() {}\n}\n/// B31\nfn c() {}";
        assert_eq!(read("x.rs", source), ["4 a B29", "7 b B30"]);
    }

    #[test]
    fn a_name_in_a_list_is_a_test_where_a_macro_makes_it_one() {
        let list = "conforms! { $store;\n/// B70\none\n/// P10, B76\ntwo\n}";
        let makes = "macro_rules! conforms { ($($(#[$doc:meta])* $name:ident)*) => { $(#[test] fn $name() {})* } }\n";
        assert_eq!(
            read("x.rs", &format!("{makes}{list}")),
            ["4 one B70", "6 two P10", "6 two B76"]
        );
        let waits = makes.replace("#[test] fn", "#[tokio::test(start_paused = true)] async fn");
        assert_eq!(read("x.rs", &format!("{waits}{list}")).len(), 3);
        let none = makes.replace("#[test] ", "");
        assert_eq!(read("x.rs", &format!("{none}{list}")), [""; 0]);
    }

    #[test]
    fn the_head_of_a_file_of_tests_claims_and_that_of_a_library_does_not() {
        let source = "//! What P41 says.\n\n#[test]\nfn a() {}";
        assert_eq!(read("crates/x/tests/a.rs", source), ["1  P41"]);
        assert_eq!(read("crates/x/src/lib.rs", source), [""; 0]);
        assert_eq!(read("crates/x/tests/a.rs", "//! P41"), [""; 0]);
    }
}
