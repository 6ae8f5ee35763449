//! Questions about the two sample contracts, and the articles that an answer has to name, with the offline model.
//!
//! `cargo test -p contract --test questions -- --nocapture` prints the table and what was missed.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod support;

use std::collections::BTreeMap;

use clap::Parser;
use contract::{Book, Expert, Options, Origin};
use hanok_model::SharedModel;
use offline::OfflineModel;
use support::Talk;

/// What a question is, and the share of its kind that has to be right.
const KINDS: [(&str, f32); 4] = [("names", 0.9), ("plain", 0.35), ("missing", 1.0), ("scope", 1.0)];

fn folder(name: &str) -> String {
    format!("{}/contracts/{name}", env!("CARGO_MANIFEST_DIR"))
}

async fn talk(contract: &str) -> Talk {
    let file = match contract {
        "lease" => folder("임대차계약서.docx"),
        _ => folder("용역계약서.md"),
    };
    let options = Options::parse_from(["contract", "--contract", &file]);
    let book = Book::open(&options).await.unwrap();
    Talk::with(Expert::new(SharedModel::new(OfflineModel::new()), book, &options).unwrap())
}

#[tokio::test]
async fn answers_name_the_articles_that_they_are_taken_from() {
    let questions = include_str!("questions.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut talks: BTreeMap<&str, Talk> = BTreeMap::new();
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let (mut named, mut cited) = (0, 0);
    for line in questions {
        let columns: Vec<&str> = line.split('\t').collect();
        let [question, contract, kind, wanted] = columns.try_into().unwrap();
        // A question stands for itself unless it says that it goes on.
        if !question.starts_with("그럼") || !talks.contains_key(contract) {
            talks.insert(contract, talk(contract).await);
        }
        let state = talks.get(contract).unwrap().ask(question).await.state;
        let answer = state.answer.unwrap();
        let of = |origin| state.sources.iter().filter(move |it| it.origin == origin);
        let given: Vec<&str> =
            of(Origin::Contract).filter_map(|it| it.article.as_deref()).collect();
        let wanted: Vec<&str> = wanted.split(',').filter(|it| !it.is_empty()).collect();
        let right = match kind {
            "missing" => answer.contains("이 계약서에 없습니다") && given.is_empty(),
            "scope" => state.in_scope == Some(false),
            _ => wanted.iter().all(|it| given.contains(it)),
        };
        if kind == "names" {
            named += wanted.len();
            cited += given.len();
        }
        let count = counts.entry(kind).or_default();
        count.0 += u32::from(right);
        count.1 += 1;
        if !right {
            println!(
                "missed: {question} [{kind}] wants {wanted:?}, has {given:?}: {}",
                answer.replace('\n', " | ")
            );
        }
    }
    println!("| kind | right | of |\n| --- | --- | --- |");
    for (kind, (right, of)) in &counts {
        println!("| {kind} | {right} | {of} |");
    }
    println!("cited {cited} articles where {named} were wanted");
    for (kind, least) in KINDS {
        let (right, of) = counts.get(kind).copied().unwrap_or_default();
        assert!(of > 0 && right as f32 >= least * of as f32, "{kind}: {right} of {of}");
    }
    assert!(cited <= named * 2, "an answer that names everything names nothing");
}
