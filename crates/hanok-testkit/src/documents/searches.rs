//! Searches of a store by keywords.

use hanok_retrieval::{Document, Query, RetrievalError, Retriever, SharedDocumentStore};

use super::fixture::*;
use crate::block_on;

pub(crate) fn hits_come_best_first_and_no_more_than_asked(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    let text = |n: usize| "휴가 ".repeat(n) + "그 밖의 일을 정한다";
    let documents: Vec<_> = (1..8).map(|n| Document::new(format!("{n}.md"), text(n))).collect();
    shelf.put(&documents);
    let all = shelf.hits(&Query::new("휴가").limit(100));
    assert_eq!(all.len(), 7);
    assert!(all.windows(2).all(|two| two[0].score >= two[1].score));
    for limit in 0..9 {
        let some = shelf.hits(&Query::new("휴가").limit(limit));
        assert_eq!(some, all[..limit.min(7)], "{limit}");
    }
    assert!(all.iter().all(|hit| (0.0..=1.0).contains(&hit.coverage)));
}

pub(crate) fn a_word_is_found_within_a_korean_one(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    shelf.put(&[rule("a.md", 15), Document::new("b.md", "회의실은 3층에 있다.")]);
    assert_eq!(shelf.sources_of(Query::new("휴가")), ["a.md"]);
    assert_eq!(shelf.sources_of(Query::new("회의실은 어디야?")), ["b.md"]);
    let decomposed = "\u{1112}\u{1172}\u{1100}\u{1161}";
    assert_eq!(shelf.sources_of(Query::new(decomposed)), ["a.md"]);
}

pub(crate) fn a_question_without_an_answer_finds_nothing(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    assert_eq!(shelf.hits(&Query::new("휴가")), []);
    shelf.put(&[rule("a.md", 15)]);
    for text in ["weather in Busan", "", " \n", "?!", "🙂"] {
        assert_eq!(shelf.hits(&Query::new(text)), [], "{text:?}");
    }
    assert_eq!(shelf.hits(&Query::new("병가 weather Busan zebra").min_coverage(0.9)), []);
    // A document is no question.
    let refused = block_on(store.search(&Query::new("휴가 ".repeat(20_000))));
    assert!(matches!(refused, Err(RetrievalError::LongQuery { .. })), "{refused:?}");
}

pub(crate) fn a_folder_holds_whole_names_only(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    let sources = ["규정", "규정/a.md", "규정/b/c.md", "규정집.md", "규정집/d.md", "e.md"];
    shelf.put(&sources.map(|source| rule(source, 15)));
    for (folder, want) in [
        ("", &["e.md", "규정", "규정/a.md", "규정/b/c.md", "규정집.md", "규정집/d.md"][..]),
        ("규정", &["규정", "규정/a.md", "규정/b/c.md"]),
        ("규정/", &["규정", "규정/a.md", "규정/b/c.md"]),
        ("규정/b", &["규정/b/c.md"]),
        ("규정/a.md", &["규정/a.md"]),
        ("규", &[]),
        ("%", &[]),
        ("a.md", &[]),
    ] {
        assert_eq!(shelf.sources_of(Query::new("휴가").under(folder)), want, "{folder}");
    }
}

pub(crate) fn every_value_of_a_filter_has_to_hold(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    shelf.put(&[
        rule("a.md", 15).with("team", "hr").with("lang", "ko"),
        rule("b.md", 15).with("team", "hr"),
        rule("c.md", 15).with("team", "sales").with("lang", "ko"),
    ]);
    let ask = || Query::new("휴가");
    assert_eq!(shelf.sources_of(ask().only("team", "hr")), ["a.md", "b.md"]);
    assert_eq!(shelf.sources_of(ask().only("team", "hr").only("lang", "ko")), ["a.md"]);
    assert_eq!(shelf.sources_of(ask().only("lang", "ko").under("c.md")), ["c.md"]);
    assert_eq!(shelf.sources_of(ask().only("team", "")), [""; 0]);
    assert_eq!(shelf.sources_of(ask().only("", "hr")), [""; 0]);
    assert_eq!(shelf.sources_of(ask().only("team", "HR")), [""; 0]);
    // A filter is no ranking: the best three are the best three of what it lets through.
    let few = shelf.hits(&ask().only("team", "sales").limit(1));
    assert_eq!(few[0].passage.source, "c.md");
}

pub(crate) fn equal_passages_are_told_once_when_asked(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    for n in 0..6 {
        shelf.put(&[Document::new(format!("{n}.md"), "연차휴가는 연 15일이다.")]);
    }
    shelf.put(&[Document::new("6.md", " 연차휴가는, 연 15일이다!\n")]);
    shelf.put(&[Document::new("7.md", "연차휴가는 연 16일이다.")]);
    let ask = || Query::new("연차휴가").limit(3);
    assert_eq!(shelf.hits(&ask()).len(), 3);
    let told = shelf.hits(&ask().distinct());
    assert_eq!(told.len(), 2);
    assert_eq!(told.iter().filter(|hit| hit.passage.text.contains("15일")).count(), 1);
}

pub(crate) fn every_sign_in_a_question_or_a_filter_means_itself(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    let signs =
        ["'", "\"", "%", "_", "\\", "*", "(", "[", "{\"match_all\":{}}", "\u{0}", "' OR 1=1 --"];
    shelf.put(&signs.map(|sign| rule(&format!("{}.md", blake(sign)), 15).with("sign", sign)));
    for sign in signs {
        let want = [format!("{}.md", blake(sign))];
        assert_eq!(shelf.sources_of(Query::new("휴가").only("sign", sign)), want, "{sign:?}");
        assert_eq!(shelf.sources_of(Query::new("휴가").only(sign, "x")), [""; 0], "{sign:?}");
        assert_eq!(shelf.sources_of(Query::new("휴가").under(sign)), [""; 0], "{sign:?}");
        let asked = shelf.sources_of(Query::new(format!("{sign} 휴가 {sign}")));
        assert_eq!(asked.len(), signs.len(), "{sign:?}");
        for hard in [format!("{sign}zebra"), sign.repeat(60_000 / sign.len().max(1))] {
            shelf.hits(&Query::new(hard));
        }
    }
}

/// A name for a sign that is fit for a source.
fn blake(sign: &str) -> String {
    sign.bytes().map(|byte| format!("{byte:02x}")).collect()
}
