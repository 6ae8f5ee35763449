//! The numbers that the tests of a source file claim to hold.
//!
//! A number stands in the doc comment of a test (`/// B18`, `/// B23, B24: …`, `/// … and nothing twice. P19`), of a test
//! that a macro of the file makes of a name, or at the head of a file of tests (`//! P1`).

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprLit, Ident, ItemFn, ItemMacro, Lit, Macro, Meta, Token, Visibility,
};

use super::number::{Mention, mentions};
use crate::result::Result;

/// A test, and a number in its documentation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) mention: Mention,
    pub(super) path: String,
    pub(super) line: usize,
    /// The test's name, empty for the head of a file.
    pub(super) test: String,
}

/// The claims of the file at `path`, in the order they are written.
///
/// # Errors
///
/// A source that mentions a number is no Rust.
pub(super) fn claims(path: &str, source: &str) -> Result<Vec<Claim>> {
    if mentions(source).is_empty() {
        return Ok(Vec::new());
    }
    let file = syn::parse_file(source).map_err(|wrong| {
        format!("{path}:{}: cannot be read as Rust ({wrong})", line(wrong.span()))
    })?;
    let mut templates = Templates::default();
    templates.visit_file(&file);
    let makes_tests = templates.makes_tests;
    let mut reader = Reader { path, makes_tests, tests: 0, claims: Vec::new() };
    reader.visit_file(&file);
    reader.head(&file.attrs);
    Ok(reader.claims)
}

struct Reader<'s> {
    path: &'s str,
    /// True if a macro of the file makes tests of names.
    makes_tests: bool,
    tests: usize,
    claims: Vec<Claim>,
}

impl Reader<'_> {
    fn test(&mut self, line: usize, name: &Ident, attributes: &[Attribute]) {
        self.tests += 1;
        for (_, doc) in docs(attributes) {
            self.claim(line, &name.to_string(), &doc);
        }
    }

    fn claim(&mut self, line: usize, test: &str, doc: &str) {
        for mention in mentions(doc) {
            let (path, test) = (self.path.to_owned(), test.to_owned());
            self.claims.push(Claim { mention, path, line, test });
        }
    }

    /// The claims at the head of a file of tests: it is in a folder of tests, and has one.
    fn head(&mut self, attributes: &[Attribute]) {
        let is_of_tests = self.path.split('/').rev().skip(1).any(|folder| folder == "tests");
        if is_of_tests && self.tests > 0 {
            for (line, doc) in docs(attributes) {
                self.claim(line, "", &doc);
            }
        }
    }

    /// Reads what is in the brackets of a macro: functions, of which all are tests where they are properties, and names.
    fn tokens(&mut self, input: ParseStream<'_>, are_properties: bool) -> syn::Result<()> {
        while !input.is_empty() {
            input.call(Attribute::parse_inner)?;
            let attributes = input.call(Attribute::parse_outer)?;
            input.parse::<Visibility>()?;
            input.parse::<Option<Token![async]>>()?;
            if input.peek(Token![fn]) {
                let line = line(input.parse::<Token![fn]>()?.span);
                if input.peek(Ident::peek_any) {
                    let name = input.call(Ident::parse_any)?;
                    if are_properties || is_test(&attributes) {
                        self.test(line, &name, &attributes);
                    }
                }
            } else if input.peek(Ident::peek_any) {
                let name = input.call(Ident::parse_any)?;
                // A name alone, documented, in a list of names.
                let is_listed = input.is_empty()
                    || input.peek(Token![#])
                    || input.peek(Token![,])
                    || input.peek(Token![;]);
                if self.makes_tests && is_listed && docs(&attributes).next().is_some() {
                    self.test(line(name.span()), &name, &attributes);
                }
            } else if let Ok(TokenTree::Group(group)) = input.parse() {
                self.group(group.stream(), are_properties);
            }
        }
        Ok(())
    }

    fn group(&mut self, tokens: TokenStream, are_properties: bool) {
        // A macro may be given anything; what is no attribute ends the search in its brackets.
        drop((|input: ParseStream<'_>| self.tokens(input, are_properties)).parse2(tokens));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if is_test(&item.attrs) {
            self.test(line(item.sig.fn_token.span), &item.sig.ident, &item.attrs);
        }
        visit::visit_item_fn(self, item);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let are_properties = call.path.segments.last().is_some_and(|it| it.ident == "proptest");
        self.group(call.tokens.clone(), are_properties);
    }
}

fn line(span: Span) -> usize {
    span.start().line
}

/// Recognises attributes that make a test: `#[test]`, `#[tokio::test(…)]`, but not `#[cfg(test)]`.
fn is_test(attributes: &[Attribute]) -> bool {
    let mut names = attributes.iter().filter_map(|attribute| attribute.path().segments.last());
    names.any(|name| name.ident == "test")
}

/// The documentation among the attributes, each line or block with its line.
fn docs(attributes: &[Attribute]) -> impl Iterator<Item = (usize, String)> {
    attributes.iter().filter(|it| it.path().is_ident("doc")).filter_map(|attribute| {
        let Meta::NameValue(doc) = &attribute.meta else { return None };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &doc.value else { return None };
        Some((line(text.span()), text.value()))
    })
}

/// The tokens before a function among which an attribute that makes a test of it is looked for.
const NEAR: usize = 16;

/// Looks for a macro with `#[test] fn $`, or the like of it, which makes a test of a name.
#[derive(Default)]
struct Templates {
    makes_tests: bool,
}

impl<'ast> Visit<'ast> for Templates {
    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        let mut words = Vec::new();
        flatten(item.mac.tokens.clone(), &mut words);
        let is_template = |at: usize| words.get(at..at + 2).is_some_and(|pair| pair == ["fn", "$"]);
        self.makes_tests |= item.ident.is_some()
            && (0..words.len()).filter(|at| is_template(*at)).any(|at| {
                let before = words.get(at.saturating_sub(NEAR)..at).unwrap_or_default();
                before.iter().any(|word| word == "test")
            });
    }
}

/// The words and signs of a macro, without brackets.
fn flatten(tokens: TokenStream, words: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => flatten(group.stream(), words),
            TokenTree::Literal(_) => {}
            other => words.push(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claims as `line test number`, with a `~` before the number of a part.
    fn read(path: &str, source: &str) -> Vec<String> {
        claims(path, source)
            .unwrap()
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
    fn what_looks_like_documentation_and_is_none_claims_nothing() {
        let of_a_test = |before: &str| format!("{before}\n#[test]\nfn a() {{}}");
        for (before, want) in [
            ("/// B1", vec!["3 a B1"]),
            ("/** B1 */", vec!["3 a B1"]),
            ("// B1\n//// B2", vec![]),
            ("/* /// B1 /* */ /// B2 */", vec![]),
            ("const S: &str = \"/// B1\\\" /// B2\";", vec![]),
            ("const S: &str = r#\"a\n\" /// B1\n\"#;", vec![]),
            ("const S: &[u8] = br\"\\\";", vec![]),
            ("const C: char = '\"'; /// B1", vec!["3 a B1"]),
            ("fn r#type() {} /// B1", vec!["3 a B1"]),
        ] {
            assert_eq!(read("x.rs", &of_a_test(before)), want, "{before:?}");
        }
    }

    #[test]
    fn a_source_that_is_no_rust_is_named_with_its_line() {
        let wrong = claims("x.rs", "/// B1\n#[test]\nfn a( {}").unwrap_err().to_string();
        assert!(wrong.starts_with("x.rs:3: cannot be read as Rust ("), "{wrong}");
        assert_eq!(claims("x.rs", "no number, no Rust").unwrap(), []);
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
        let within = format!("macro_rules! all {{ ($($x:tt)*) => {{ {list} }} }}");
        assert_eq!(read("x.rs", &format!("{makes}{within}")).len(), 3);
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
