//! Questions about the sample documents and what was said, sums and the time, as people ask them.
//!
//! `cargo xtask questions chat [--model] [--encoder FOLDER]` prints the table, and what was not answered rightly.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use chat::{Chat, Options};
use clap::Parser;
use example_tests::{
    cached,
    questions::{House, Question, ask, meaning, sample, taken},
};
use kit::brain::{self, Brain};

/// How many questions a server's model is asked.
const SAMPLE: usize = 15;

async fn house(brain: &Brain) -> House<Chat> {
    let options = Options { meaning: meaning(), ..Options::parse_from(["chat"]) };
    let chat = Chat::build(brain, &options, options.meaning.open().unwrap()).await.unwrap();
    let graph = chat.graph().unwrap();
    House::new(chat, &graph)
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
    let (brain, cached) = cached::chosen("chat").await;
    let house = house(&brain).await;
    let report = ask(sample(questions(), SAMPLE), |_| &house).await;
    report.print_others();
    println!("{report}\n{cached}");
}
