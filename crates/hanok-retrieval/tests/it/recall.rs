//! How well the sample documents are found, with Korean questions as they are asked.
//!
//! `cargo test -p hanok-retrieval --test it recall:: -- --nocapture` prints the tables of the README.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::sync::Arc;

use hanok_documents::{Library, LoadOptions};
use hanok_retrieval::{Hit, MIN_COVERAGE, MemoryIndex, Query, SharedMorphemes, Terms};

const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rag/documents");

struct Question {
    text: &'static str,
    source: &'static str,
    heading: &'static str,
    kind: &'static str,
}

impl Question {
    fn all() -> impl Iterator<Item = Self> {
        include_str!("questions.tsv").lines().filter(|line| !line.starts_with('#')).map(|line| {
            let fields: Vec<_> = line.split('\t').collect();
            let [text, source, heading, kind, held] = fields[..] else {
                panic!("five fields: {line}")
            };
            assert!(["held", "-"].contains(&held), "{line}");
            Self { text, source, heading, kind }
        })
    }

    fn has_answer(&self) -> bool {
        self.source != "-"
    }

    /// The place of the passage that answers, from 1.
    fn rank(&self, hits: &[Hit]) -> Option<usize> {
        let article = format!("{}(", self.heading);
        let answers = |hit: &Hit| {
            let heading = &hit.passage.heading;
            hit.passage.source == self.source
                && (heading.ends_with(self.heading) || heading.contains(&article))
        };
        hits.iter().position(answers).map(|at| at + 1)
    }

    /// The highest coverage of any passage.
    fn coverage(&self, index: &MemoryIndex) -> f32 {
        let hits = index.find(&Query::new(self.text).limit(usize::MAX));
        hits.iter().map(|hit| hit.coverage).fold(0.0, f32::max)
    }
}

fn index(terms: Terms) -> Arc<MemoryIndex> {
    Library::open(LoadOptions::new().terms(terms), DOCUMENTS).unwrap().index()
}

/// Prints a row and returns the recall among three.
fn row(name: &str, questions: &[&Question], find: impl Fn(&str) -> Vec<Hit>) -> f64 {
    let ranks: Vec<_> = questions.iter().map(|asked| asked.rank(&find(asked.text))).collect();
    let share = |n: f64| n / questions.len() as f64;
    let within = |k| share(ranks.iter().flatten().filter(|rank| **rank <= k).count() as f64);
    let mrr = share(ranks.iter().flatten().map(|rank| 1.0 / *rank as f64).sum());
    println!("| {name} | {:.2} | {:.2} | {mrr:.2} |", within(1), within(3));
    within(3)
}

#[test]
fn finds_nine_of_ten_answers_among_three_passages_when_asked_in_their_words() {
    let questions: Vec<_> = Question::all().filter(Question::has_answer).collect();
    let all: Vec<_> = questions.iter().collect();
    assert!(all.len() >= 150);

    println!("| terms | recall@1 | recall@3 | MRR@10 |\n| --- | --- | --- | --- |");
    let dictionary = std::env::var_os("HANOK_TEST_DICTIONARY");
    let dictionary = dictionary.map(|folder| hanok_encoder::Morphology::open(folder).unwrap());
    let dictionary = dictionary.map(|it| Terms::Morphemes(SharedMorphemes::new(it)));
    for terms in [Terms::Words, Terms::Both, Terms::Bigrams].into_iter().chain(dictionary) {
        let name = format!("{terms:?}");
        let index = index(terms);
        row(&name, &all, |text| index.find(&Query::new(text).limit(10)));
    }
    let library = Library::open(LoadOptions::new(), DOCUMENTS).unwrap();
    row("Bigrams, `Library::search`", &all, |text| library.search(text, 10));

    println!("| questions | recall@1 | recall@3 | MRR@10 |\n| --- | --- | --- | --- |");
    let index = index(Terms::default());
    for (kind, least) in [
        ("plain", 0.9),
        ("paraphrase", 0.5),
        ("colloquial", 0.6),
        ("misspelled", 0.6),
        ("mixed", 0.3),
    ] {
        let asked: Vec<_> = all.iter().copied().filter(|asked| asked.kind == kind).collect();
        assert!(asked.len() >= 30, "{kind}");
        let recall = row(kind, &asked, |text| index.find(&Query::new(text).limit(10)));
        assert!(recall >= least, "{kind}: {recall}");
    }
}

#[test]
fn coverage_tells_most_questions_that_the_documents_do_not_answer() {
    let index = index(Terms::default());
    let (answered, unanswered): (Vec<_>, Vec<_>) = Question::all().partition(Question::has_answer);
    let (plain, others): (Vec<_>, Vec<_>) =
        answered.into_iter().partition(|asked| asked.kind == "plain");
    assert!(unanswered.len() >= 30);
    let above = |questions: &[Question], least: f32| {
        let kept = questions.iter().filter(|question| question.coverage(&index) >= least).count();
        kept as f64 / questions.len() as f64
    };

    println!("| coverage at least | plain, kept | other words, kept | unanswered, kept |");
    println!("| --- | --- | --- | --- |");
    for least in [0.1, 0.2, 0.25, 0.3, 0.35, 0.5] {
        let [plain, others, none] =
            [&plain, &others, &unanswered].map(|questions| above(questions, least));
        println!("| {least} | {plain:.2} | {others:.2} | {none:.2} |");
    }
    assert!(above(&plain, MIN_COVERAGE) >= 0.9);
    assert!(above(&others, MIN_COVERAGE) >= 0.5);
    assert!(above(&unanswered, MIN_COVERAGE) <= 0.45);
    assert!(above(&unanswered, 0.5) <= 0.1);
}

#[test]
fn the_leave_policy_is_the_first_hit_with_every_number_of_it() {
    let library = Library::open(LoadOptions::new(), DOCUMENTS).unwrap();
    assert_eq!(library.report().documents, 4);
    assert_eq!(library.report().skipped, []);

    for question in ["회사 휴가 정책 알려줘", "휴가 정책", "연차휴가", "연차 며칠이야?"]
    {
        let hits = library.search(question, 3);
        let first = &hits.first().unwrap_or_else(|| panic!("{question}")).passage;
        assert_eq!(first.source, "인사규정.md", "{question}");
        for fact in
            ["1년 미만 근속: 월 1일", "1년 이상 근속: 연 15일", "3년 이상 근속: 연 20일", "80%"]
        {
            assert!(first.text.contains(fact), "{question}: {fact}");
        }
    }
}
