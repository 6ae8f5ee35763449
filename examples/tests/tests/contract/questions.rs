//! Questions about the two sample contracts, and the articles that an answer has to name, with the offline model.
//!
//! `cargo test -p example-tests --test contract questions:: -- --nocapture` prints the table and what was missed.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;

use clap::Parser;
use contract::{
    Book, Expert, Options,
    questions::{Kind, Question, cited},
};
use hanok_model::SharedModel;
use kit::OfflineModel;

use crate::contract::support::Talk;

/// The share of each kind that has to be right.
const LEAST: [(Kind, f32); 4] =
    [(Kind::Names, 0.9), (Kind::Plain, 0.8), (Kind::Missing, 1.0), (Kind::Scope, 1.0)];

async fn talk(question: &Question) -> Talk {
    let options =
        Options::parse_from(["contract", "--contract", question.file().to_str().unwrap()]);
    let book = Book::open(&options).await.unwrap();
    Talk::with(Expert::new(SharedModel::new(OfflineModel::new()), book, &options).unwrap())
}

#[tokio::test]
async fn answers_name_the_articles_that_they_are_taken_from() {
    let mut counts: BTreeMap<Kind, (u32, u32)> = BTreeMap::new();
    let (mut wanted, mut given) = (0, 0);
    let mut before = None;
    for question in Question::all() {
        let talk = match before.take().filter(|_| question.follows()) {
            Some(talk) => talk,
            None => talk(&question).await,
        };
        let state = talk.ask(question.text).await.state;
        let right = question.is_right(&state);
        let count = counts.entry(question.kind).or_default();
        count.0 += u32::from(right);
        count.1 += 1;
        if question.kind == Kind::Names {
            wanted += question.wanted().count();
            given += cited(&state).len();
        }
        if !right {
            println!("missed: {} [{}], has {:?}", question.text, question.articles, cited(&state));
        }
        before = Some(talk);
    }
    println!("{counts:?}, {given} articles where {wanted} were wanted");
    assert_eq!(counts.get(&Kind::Names).map(|(_, of)| *of), Some(60));
    for (kind, least) in LEAST {
        let (right, of) = counts.get(&kind).copied().unwrap_or_default();
        assert!(of > 0 && right as f32 >= least * of as f32, "{kind:?}: {right} of {of}");
    }
    assert!(given <= wanted * 2, "an answer that names everything names nothing");
}
