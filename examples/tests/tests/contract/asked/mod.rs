//! Questions about the two sample contracts, as people ask them.
//!
//! `cargo xtask questions contract [--model] [--encoder FOLDER]` prints the table, and what was not answered rightly.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::path::Path;

use clap::Parser;
use contract::{Book, Expert, Options};
use example_tests::{
    cached,
    questions::{House, Question, ask, meaning, sample, taken},
};
use kit::brain::{self, Brain};

/// How many questions a server's model is asked.
const SAMPLE: usize = 15;

/// The two contracts, the service agreement first.
struct Houses {
    service: House<Expert>,
    lease: House<Expert>,
}

impl Houses {
    async fn open(brain: &Brain) -> Self {
        Self {
            service: house(brain, "용역계약서.md").await,
            lease: house(brain, "임대차계약서.docx").await,
        }
    }

    fn of(&self, sample: Option<&str>) -> &House<Expert> {
        if sample == Some("lease") { &self.lease } else { &self.service }
    }
}

async fn house(brain: &Brain, contract: &str) -> House<Expert> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract/contracts").join(contract);
    let options = Options::parse_from(["contract", "--contract", file.to_str().unwrap()]);
    let options = Options { meaning: meaning(), ..options };
    let book = Book::open(&options).await.unwrap();
    let expert = Expert::new(brain.model.clone(), book, &options).unwrap();
    let graph = expert.graph().unwrap();
    House::new(expert, &graph)
}

fn questions() -> Vec<Question> {
    Question::all(include_str!("questions.tsv"), true)
}

#[tokio::test]
async fn hardly_a_question_is_answered_wrongly_with_confidence() {
    let houses = Houses::open(&brain::offline()).await;
    let report = ask(taken(&questions()), |sample| houses.of(sample)).await;
    report.print_others();
    println!("{report}");
    report.is_careful();
}

#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn a_server_s_model_is_asked_a_sample() {
    let (brain, cached) = cached::chosen("contract").await;
    let houses = Houses::open(&brain).await;
    let report = ask(sample(questions(), SAMPLE), |sample| houses.of(sample)).await;
    report.print_others();
    println!("{report}\n{cached}");
}
