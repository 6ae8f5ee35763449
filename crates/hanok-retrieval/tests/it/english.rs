//! How well English passages are found by keywords, with words in their stems and with words as they are written.
//!
//! `cargo test -p hanok-retrieval --test it english:: -- --nocapture` prints the table of the README.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use hanok_retrieval::{Document, MIN_COVERAGE, MemoryIndex, Query, Splitter, Terms};

/// The words of asking, which are left out of a question in either alphabet.
const ASKING: [&str; 27] = [
    "what", "which", "who", "when", "where", "how", "why", "is", "are", "do", "does", "can", "the",
    "a", "an", "of", "to", "in", "for", "me", "tell", "please", "i", "my", "so", "many", "much",
];

fn lines(kind: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("english.tsv").lines().map(|line| line.split('\t').collect());
    lines.filter_map(move |fields: Vec<&str>| match fields[..] {
        [of, name, text] if of == kind => Some((name, text)),
        _ => None,
    })
}

/// `text` letter by letter in another alphabet, where no word has a stem: as if there were no stems.
fn without_stems(text: &str) -> String {
    let words = text.split_inclusive(|c: char| !c.is_alphanumeric()).map(|word| {
        let is_asking = ASKING.contains(&word.trim_end_matches(|c: char| !c.is_alphanumeric()));
        let cyrillic = |c: char| match c.to_ascii_lowercase() {
            c @ 'a'..='z' => char::from_u32(u32::from(c) - 0x61 + 0x430).unwrap(),
            c => c,
        };
        if is_asking { word.to_owned() } else { word.chars().map(cyrillic).collect() }
    });
    words.collect()
}

/// The share of the questions whose passage comes first, of those that reach the coverage of `Library::search`.
fn recall(written: impl Fn(&str) -> String) -> f64 {
    let passages = lines("p")
        .flat_map(|(name, text)| Splitter::default().split(&Document::new(name, written(text))));
    let index = MemoryIndex::new(passages, Terms::default());
    let (mut found, mut all) = (0, 0);
    for (name, question) in lines("q") {
        let query = Query::new(written(&question.to_lowercase())).min_coverage(MIN_COVERAGE);
        let first = index.find(&query).into_iter().next();
        all += 1;
        if first.is_some_and(|hit| hit.passage.source == name) {
            found += 1;
        }
    }
    f64::from(found) / f64::from(all)
}

#[test]
fn stems_find_what_words_as_they_are_written_do_not() {
    let (plain, stems) = (recall(without_stems), recall(str::to_owned));
    println!("| words as they are written | {plain:.2} |\n| stems | {stems:.2} |");
    assert!(plain < 0.7 && stems > 0.85, "{plain} {stems}");
}
