//! Questions about the sample documents, the directory, sums and the time, as people ask them.
//!
//! `cargo xtask questions rag [--model] [--encoder FOLDER]` prints the table, and what was not answered rightly.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use example_tests::{
    cached,
    questions::{House, Question, ask, meaning, sample, taken},
};
use kit::brain::{self, Brain};
use rag::{Office, agents};

/// How many questions a server's model is asked.
const SAMPLE: usize = 15;

async fn house(brain: &Brain) -> House<Office> {
    let tools = agents::Tools::open(None, meaning().open().unwrap()).await.unwrap();
    let office = Office(agents::supervisor(brain, &tools).unwrap());
    let graph = office.0.graph().clone();
    House::new(office, &graph)
}

fn questions() -> Vec<Question> {
    Question::all(include_str!("questions.tsv"), false)
}

#[tokio::test]
async fn hardly_a_question_is_answered_wrongly_with_confidence() {
    let house = house(&brain::offline()).await;
    let report = ask(taken(&questions()), |_| &house).await;
    report.print_others();
    println!("{report}");
    report.is_careful();
}

#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn a_server_s_model_is_asked_a_sample() {
    let (brain, cached) = cached::chosen("rag").await;
    let house = house(&brain).await;
    let report = ask(sample(questions(), SAMPLE), |_| &house).await;
    report.print_others();
    println!("{report}\n{cached}");
}
