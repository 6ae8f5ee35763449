//! The numbers that the tests of a source file claim to hold.
//!
//! A number is in the doc comment of a test (`/// B18`, `/// B23, B24: …`, `/// … and nothing twice. P19`), of a name of which a macro of
//! the file makes a test, or at the head of a file of tests (`//! P1`). Sources are formatted by rustfmt, so they are read line by line.

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

/// The claims of the file at `path`, in the order they are written.
pub(super) fn claims(path: &str, source: &str) -> Vec<Claim> {
    let (mut claims, mut head, mut tests) = (Vec::new(), Vec::new(), 0);
    // The documentation and the attributes above the current line; the indentation of an open block of properties.
    let (mut docs, mut attributes, mut properties) = (Vec::new(), String::new(), None);
    let makes_tests = makes_tests(source);
    let mut claim = |line, test: &str, docs: &[&str]| {
        for mention in docs.iter().flat_map(|doc| mentions(doc)) {
            claims.push(Claim { mention, path: path.to_owned(), line, test: test.to_owned() });
        }
    };
    let mut is_open = false;
    for (number, whole) in (1..).zip(source.lines()) {
        let line = whole.trim_start();
        let indent = whole.len() - line.len();
        if line.starts_with("proptest! {") {
            properties = Some(indent);
        } else if properties == Some(indent) && line.starts_with('}') {
            properties = None;
        }
        if let Some(doc) = line.strip_prefix("//!") {
            head.push((number, doc));
        } else if let Some(doc) = line.strip_prefix("///").filter(|doc| !doc.starts_with('/')) {
            docs.push(doc);
        } else if is_open || line.starts_with("#[") {
            attributes += line;
            is_open = attributes.matches('[').count() > attributes.matches(']').count();
        } else if let Some(name) = function(line) {
            if properties.is_some_and(|outer| indent == outer + 4) || is_test(&attributes) {
                tests += 1;
                claim(number, name, &docs);
            }
            (docs, attributes) = (Vec::new(), String::new());
        } else if !line.is_empty() && !line.starts_with("//") {
            let name = line.trim_end_matches([',', ';', ' ']);
            if makes_tests && !docs.is_empty() && is_name(name) {
                tests += 1;
                claim(number, name, &docs);
            }
            (docs, attributes) = (Vec::new(), String::new());
        }
    }
    // The head of a file of tests: it is in a folder of tests, and has one.
    let is_of_tests = path.split('/').rev().skip(1).any(|folder| folder == "tests");
    if is_of_tests && tests > 0 {
        head.iter().for_each(|(line, doc)| claim(*line, "", &[doc]));
    }
    claims
}

/// The name of the function that begins on `line`.
fn function(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line =
        line.strip_prefix("pub(").and_then(|line| Some(line.split_once(") ")?.1)).unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    Some(line.split(|sign: char| !is_of_name(sign)).next().unwrap_or_default())
}

fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn is_name(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
        && word.chars().all(is_of_name)
}

/// Recognises attributes that make a test: `#[test]`, `#[tokio::test(…)]`, but not `#[cfg(test)]`.
fn is_test(attributes: &str) -> bool {
    attributes.split("#[").any(|attribute| {
        let path = attribute.split(['(', ']', ' ']).next().unwrap_or_default();
        path.rsplit("::").next() == Some("test")
    })
}

/// Recognises a file with a macro that makes a test of a name: `#[test] fn $name`, or the like of it.
fn makes_tests(source: &str) -> bool {
    let before = source.match_indices("fn $").filter_map(|(at, _)| source.get(..at));
    let mut near = before.map(|before| before.lines().rev().take(4).collect::<Vec<_>>());
    source.contains("macro_rules!") && near.any(|lines| lines.iter().any(|line| is_test(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claims as `line test number`, with a `~` before the number of a part.
    fn read(path: &str, source: &str) -> Vec<String> {
        let claims = claims(path, source).into_iter();
        let text = |Claim { mention, line, test, .. }: Claim| {
            let part = if mention.in_part { "~" } else { "" };
            format!("{line} {test} {part}{}", mention.number)
        };
        claims.map(text).collect()
    }

    #[test]
    fn a_number_is_claimed_by_the_test_that_it_documents() {
        for (source, want) in [
            ("/// B18\n#[test]\nfn a() {}", vec!["3 a B18"]),
            ("/// B23: x.\n/// and P1\n#[test]\nfn a() {}", vec!["4 a B23", "4 a P1"]),
            ("#[tokio::test(start_paused = true)]\n/// P19\nasync fn a() {}", vec!["3 a P19"]),
            (
                "/// B1\n#[should_panic(\n    expected = \"x\"\n)]\n#[test]\nfn a() {}",
                vec!["6 a B1"],
            ),
            ("/// B5 in part\n#[test]\npub(crate) fn a() {}", vec!["3 a ~B5"]),
            ("#[test]\nfn a() {\n    /// B1\n    fn inner() {}\n}", vec![]),
            ("#[cfg(test)]\n/// B1\nfn helper() {}", vec![]),
            ("/// B1\nstruct A;\n#[test]\nfn a() {}", vec![]),
            ("/// B1\nfn a() {}\n#[test]\nfn b() {}", vec![]),
            ("// B1\n//// B2\n#[test]\nfn a() {}", vec![]),
        ] {
            assert_eq!(read("crates/x/src/a.rs", source), want, "{source:?}");
        }
    }

    #[test]
    fn a_property_and_a_name_of_which_a_macro_makes_a_test_need_no_attribute() {
        let source = "proptest! {\n    #![proptest_config(x())]\n\n    /// B29\n    fn a(x in 0..1) {\n        let y = {};\n    }\n    /// B30\n    #[test]\n    fn b() {}\n}\n/// B31\nfn c() {}";
        assert_eq!(read("x.rs", source), ["5 a B29", "10 b B30"]);
        let list = "conforms! { $store;\n/// B70\none\n/// P10, B76\ntwo,\n}";
        let makes = "macro_rules! conforms { ($($(#[$doc:meta])* $name:ident)*) => { $(\n#[test]\nfn $name() {})* } }\n";
        let claims = read("x.rs", &format!("{makes}{list}"));
        assert_eq!(claims, ["6 one B70", "8 two P10", "8 two B76"]);
        let none = makes.replace("#[test]\n", "");
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
