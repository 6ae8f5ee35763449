//! Model servers that do not do what they should.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use example_tests::program::broken::is_told_in_one_sentence;
use rag::{Office, agents};

#[tokio::test]
async fn a_broken_server_is_told_in_one_sentence() {
    let tools = agents::Tools::open(None, None).await.unwrap();
    is_told_in_one_sentence("연차는 며칠이야?", async |brain| {
        let office = Office(agents::supervisor(&brain, &tools).unwrap());
        let graph = office.0.graph().clone();
        (office, graph)
    })
    .await;
}
