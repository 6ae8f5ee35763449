//! Model servers that do not do what they should.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use clap::Parser;
use contract::{Book, Expert, Options};
use example_tests::program::broken::is_told_in_one_sentence;

#[tokio::test]
async fn a_broken_server_is_told_in_one_sentence() {
    let options = Options::parse_from(["contract"]);
    is_told_in_one_sentence("계약금을 떼이면 어떻게 해?", async |brain| {
        let book = Book::open(&options).await.unwrap();
        let expert = Expert::new(brain.model.clone(), book, &options).unwrap();
        let graph = expert.graph().unwrap();
        (expert, graph)
    })
    .await;
}
