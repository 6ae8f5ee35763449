//! Model servers that do not do what they should.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use chat::{Chat, Options};
use clap::Parser;
use example_tests::program::broken::is_told_in_one_sentence;

#[tokio::test]
async fn a_broken_server_is_told_in_one_sentence() {
    is_told_in_one_sentence("연차는 며칠이야?", async |brain| {
        let chat = Chat::build(&brain, &Options::parse_from(["chat"]), None).await.unwrap();
        let graph = chat.graph().unwrap();
        (chat, graph)
    })
    .await;
}
