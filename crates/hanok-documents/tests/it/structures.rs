//! Whatever stands in whatever: every word of a document is read, once.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::{cell::Cell, fs};

use crate::options;
use hanok_documents::Library;
use proptest::prelude::*;

use crate::samples::packed;

/// An element by its number, and what stands in it; or a word.
#[derive(Debug, Clone)]
enum Node {
    Word,
    Element(usize, Vec<Node>),
}

fn node() -> impl Strategy<Value = Node> {
    Just(Node::Word).prop_recursive(7, 60, 5, |inner| {
        (0..100_usize, prop::collection::vec(inner, 0..5))
            .prop_map(|(name, children)| Node::Element(name, children))
    })
}

/// The markup of `nodes`. `word` makes that of a word; of the elements that `ends` names, some are never closed.
fn markup(
    nodes: &[Node],
    names: &[&str],
    open: &[&str],
    words: &Cell<usize>,
    word: &dyn Fn(usize) -> String,
) -> String {
    let each = nodes.iter().map(|node| match node {
        Node::Word => {
            words.set(words.get() + 1);
            word(words.get())
        }
        Node::Element(number, children) => {
            let name = names[number % names.len()];
            let inner = markup(children, names, open, words, word);
            let unclosed = open.contains(&name) && number % 3 == 0;
            let end = if unclosed { String::new() } else { format!("</{name}>") };
            format!("<{name}>{inner}{end}")
        }
    });
    each.collect()
}

fn text(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    let library = Library::open(options(), folder.path()).unwrap();
    assert!(library.report().documents == 1, "{:?}", library.report().skipped);
    library.documents().next().unwrap().text.clone()
}

const WORD: [&str; 9] = ["p", "r", "tbl", "tr", "tc", "txbxContent", "hyperlink", "ins", "sdt"];
const HANGUL: [&str; 10] =
    ["p", "run", "tbl", "tr", "tc", "subList", "footNote", "endNote", "drawText", "ctrl"];
const PAGE: [&str; 16] = [
    "div", "p", "table", "tr", "td", "th", "li", "ul", "ol", "h2", "b", "pre", "section", "dl",
    "a", "tbody",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_word_is_read_once(nodes in prop::collection::vec(node(), 1..5)) {
        let in_text = |n: usize| format!("<t>w{n}x </t>");
        let words = Cell::new(0);
        let xml = |names: &[&str]| {
            words.set(0);
            format!("<x>{}<t>end</t></x>", markup(&nodes, names, &[], &words, &in_text))
        };
        let docx = packed(&[("word/document.xml", xml(&WORD))]);
        let hwpx = packed(&[("Contents/section0.xml", xml(&HANGUL))]);
        words.set(0);
        let page = markup(&nodes, &PAGE, &PAGE, &words, &|n| format!("w{n}x "));
        let html = format!("{page} end").into_bytes();
        for (name, bytes) in [("a.docx", docx), ("a.hwpx", hwpx), ("a.html", html)] {
            let text = text(name, &bytes);
            for n in 1..=words.get() {
                let times = text.matches(&format!("w{n}x")).count();
                prop_assert_eq!(times, 1, "w{} of {}: {}", n, name, text);
            }
        }
    }
}
