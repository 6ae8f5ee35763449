//! An index that is brought up to date is the index that is built anew.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_retrieval::{Document, MemoryIndex, Passage, Query, Splitter, Terms};
use proptest::prelude::*;

fn split(source: &str, text: &str) -> Vec<Passage> {
    Splitter::new().split(&Document::new(source, text))
}

fn rules(days: u32) -> Vec<Passage> {
    let articles = (1..=50).map(|n| {
        let days = if n == 7 { days } else { n };
        format!("## 제{n}조(휴가 {n})\n이 조는 {days}일을 정한다.\n\n")
    });
    split("규정.md", &articles.collect::<String>())
}

#[test]
fn of_an_edited_document_only_the_edited_article_is_read_again() {
    let mut index = MemoryIndex::new(rules(7), Terms::default());
    assert_eq!(index.passages().len(), 50);
    assert_eq!(index.update(rules(7)), 0);
    assert_eq!(index.update(rules(99)), 1);
    let hits = index.find(&Query::new("99일").limit(1));
    assert_eq!(hits.first().unwrap().passage.heading, "제7조(휴가 7)");
    assert_eq!(index.update([]), 0);
    assert!(index.find(&Query::new("휴가")).is_empty());
}

#[test]
fn a_clone_stays_as_it_was() {
    let mut index = MemoryIndex::new(rules(7), Terms::default());
    let old = index.clone();
    index.update(split("b.md", "출장비"));
    assert_eq!(old.find(&Query::new("휴가").limit(100)).len(), 50);
    assert!(index.find(&Query::new("휴가")).is_empty());
}

proptest! {
    #[test]
    fn the_order_of_changes_is_forgotten(
        turns in prop::collection::vec(prop::collection::vec((0..4_usize, 0..6_usize), 0..6), 1..5),
    ) {
        let texts = ["휴가 규정", "연차휴가는 15일", "출장 여비", "annual leave 휴가", "비밀번호", "출장 휴가"];
        let passages = |turn: &[(usize, usize)]| -> Vec<Passage> {
            let each = turn.iter().enumerate();
            each.flat_map(|(at, (source, text))| split(&format!("{at}/{source}.md"), texts[*text])).collect()
        };
        let mut index = MemoryIndex::new([], Terms::Both);
        for turn in &turns {
            index.update(passages(turn));
            let fresh = MemoryIndex::new(passages(turn), Terms::Both);
            prop_assert_eq!(index.passages(), fresh.passages());
            for question in ["휴가", "출장 여비", "annual", "연차 15일 비밀"] {
                let query = Query::new(question).limit(10);
                prop_assert_eq!(index.find(&query), fresh.find(&query));
            }
        }
    }
}
