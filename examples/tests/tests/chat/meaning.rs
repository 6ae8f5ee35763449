//! A question that shares no word with the passage that answers it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::fs;

use chat::{Chat, Options};
use clap::Parser;
use example_tests::topics::Topics;
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::Outcome;
use hanok_model::SharedEmbedder;
use kit::{Meaning, Talk, brain::offline};

async fn answer(options: &Options, meaning: Option<Meaning>, question: &str) -> String {
    let chat = Chat::build(&offline(), options, meaning).await.unwrap();
    let app = chat.graph().unwrap().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
    let outcome = thread.invoke(chat.ask(question), ()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{question}: {outcome:?}") };
    chat.ended(&state).answer.unwrap_or_default()
}

#[tokio::test]
async fn a_question_is_answered_that_only_meaning_finds() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("등대.md"), "# 등대\n\n## 짐승\n\n짐승은 마당에 묶어 둔다.\n")
        .unwrap();
    fs::write(folder.path().join("항구.md"), "# 항구\n\n## 부두\n\n부두에 등불을 켠다.\n").unwrap();
    let options = Options::parse_from(["chat", "--docs", folder.path().to_str().unwrap()]);
    let question = "댕댕이 데려와도 될까?";

    let by_words = answer(&options, None, question).await;
    assert!(by_words.contains("찾지 못") && !by_words.contains("짐승"), "{by_words}");

    let topics = Topics(&[&["짐승", "댕댕이"], &["부두", "항구"]]);
    let meaning = Meaning::of(SharedEmbedder::new(topics));
    let meant = answer(&options, Some(meaning), question).await;
    assert!(meant.contains("가장 가까운 내용은 짐승입니다"), "{meant}");
    assert!(!meant.contains("부두"), "{meant}");
}
