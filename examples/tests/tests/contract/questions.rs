//! Questions about the two sample contracts, and the articles that an answer has to name.
//!
//! `cargo test -p example-tests --test documents contract::questions:: -- --nocapture` prints the table and what was missed; with
//! `--ignored`, of the model of `OPENAI_BASE_URL`.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{collections::BTreeMap, path::Path};

use clap::Parser;
use contract::{Book, ContractState, Expert, Options, Origin};
use example_tests::cached;
use hanok_model::SharedModel;
use kit::brain;

use crate::contract::support::Talk;

/// What kind of question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// It names an article or its title.
    Names,
    /// It names neither.
    Plain,
    /// It names an article that is not there.
    Missing,
    /// It is about something else.
    Scope,
}

/// A question about a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: &'static str,
    /// The file of its contract, among the samples.
    pub(crate) contract: &'static str,
    pub(crate) kind: Kind,
    /// The articles that an answer has to name: `5,7의2`.
    pub(crate) articles: &'static str,
}

impl Question {
    /// Every question, in an order in which those that go on from another stand behind it.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let lines = include_str!("questions.tsv").lines();
        lines.filter(|line| !line.starts_with('#')).map(|line| {
            let [text, contract, kind, articles] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("four fields: {line}")
            };
            let contract = match contract {
                "service" => "contracts/용역계약서.md",
                "lease" => "contracts/임대차계약서.docx",
                _ => panic!("no such contract: {line}"),
            };
            let kind = match kind {
                "names" => Kind::Names,
                "plain" => Kind::Plain,
                "missing" => Kind::Missing,
                "scope" => Kind::Scope,
                _ => panic!("no such kind: {line}"),
            };
            Self { text, contract, kind, articles }
        })
    }

    /// Whether it goes on from the one before.
    fn follows(&self) -> bool {
        self.text.starts_with("그럼")
    }

    /// The articles that an answer has to name.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = &'static str> {
        self.articles.split(',').filter(|article| !article.is_empty())
    }

    /// Whether a turn that ended in `state` is right.
    fn is_right(&self, state: &ContractState) -> bool {
        let given = cited(state);
        match self.kind {
            Kind::Names | Kind::Plain => self.wanted().all(|article| given.contains(&article)),
            Kind::Missing => {
                let answer = state.answer.as_deref().unwrap_or_default();
                answer.contains("이 계약서에 없습니다") && given.is_empty()
            }
            Kind::Scope => state.in_scope == Some(false),
        }
    }
}

/// The articles of the contract that an answer was taken from.
fn cited(state: &ContractState) -> Vec<&str> {
    let of_contract = state.sources.iter().filter(|it| it.origin == Origin::Contract);
    of_contract.filter_map(|it| it.article.as_deref()).collect()
}

async fn talk(question: &Question, model: SharedModel) -> Talk {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract").join(question.contract);
    let options = Options::parse_from(["contract", "--contract", file.to_str().unwrap()]);
    let book = Book::open(&options).await.unwrap();
    Talk::with(Expert::new(model, book, &options).unwrap())
}

/// How many of each kind are answered rightly, and of how many; and how many articles are named where how many are wanted.
async fn asked(model: SharedModel) -> (BTreeMap<Kind, (u32, u32)>, usize, usize) {
    let mut counts: BTreeMap<Kind, (u32, u32)> = BTreeMap::new();
    let (mut wanted, mut given) = (0, 0);
    let mut before = None;
    for question in Question::all() {
        let talk = match before.take().filter(|_| question.follows()) {
            Some(talk) => talk,
            None => talk(&question, model.clone()).await,
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
    (counts, given, wanted)
}

/// The share of each kind that has to be right.
const LEAST: [(Kind, f32); 4] =
    [(Kind::Names, 0.9), (Kind::Plain, 0.8), (Kind::Missing, 1.0), (Kind::Scope, 1.0)];

#[tokio::test]
async fn answers_name_the_articles_that_they_are_taken_from() {
    let (counts, given, wanted) = asked(brain::offline().model).await;
    assert_eq!(counts.get(&Kind::Names).map(|(_, of)| *of), Some(60));
    for (kind, least) in LEAST {
        let (right, of) = counts.get(&kind).copied().unwrap_or_default();
        assert!(of > 0 && right as f32 >= least * of as f32, "{kind:?}: {right} of {of}");
    }
    assert!(given <= wanted * 2, "an answer that names everything names nothing");
}

#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn a_server_s_model_names_what_it_names() {
    let (brain, cached) = cached::chosen("contract-articles").await;
    asked(brain.model).await;
    println!("{cached}");
}
