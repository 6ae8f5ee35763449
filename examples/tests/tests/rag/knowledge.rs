//! What a model reads of a search in the documents.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{sync::Arc, time::Duration};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Effect, Timestamp};
use hanok_model::Tool;
use hanok_retrieval::{Document, MemoryIndex, SharedRetriever, Splitter, Terms};
use hanok_state::Arguments;
use rag::agents::search_knowledge_base;

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn search(documents: &[(&str, &str)], query: &str) -> String {
    let passages: Vec<_> = documents
        .iter()
        .flat_map(|(source, text)| Splitter::new().split(&Document::new(source, text)))
        .collect();
    let index = SharedRetriever::new(MemoryIndex::new(passages, Terms::default()));
    let tool = search_knowledge_base(index).unwrap();
    assert_eq!((tool.spec().name(), tool.effect()), ("search_knowledge_base", Effect::Pure));
    assert_eq!(tool.spec().only_text_parameter(), Some("query"));
    let call = Call::new(CallKey::new("test"), Arc::new(Stopped));
    let arguments = Arguments::from_value(
        &[("query", query)].into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    );
    tool.run(&arguments.unwrap(), &call).await.unwrap().text
}

#[tokio::test]
async fn passages_come_with_their_headings_and_sources() {
    let documents = [
        ("등대.md", "# 등대\n\n## 불빛\n\n불은 해 질 때 켠다."),
        ("항구.md", "# 항구\n\n배가 쉰다."),
    ];
    assert_eq!(
        search(&documents, "불은 언제 켜?").await,
        "문서 검색 결과\n\n제목: 등대 > 불빛\n내용: # 등대\n\n## 불빛\n\n불은 해 질 때 켠다.\n출처: 등대.md"
    );
}

#[tokio::test]
async fn nothing_found_is_one_sentence_that_repeats_little() {
    let documents = [("등대.md", "불은 해 질 때 켠다.")];
    assert_eq!(
        search(&documents, "비행기 시간표").await,
        "문서에서 `비행기 시간표`에 대한 내용을 찾지 못했습니다."
    );
    assert!(search(&documents, &"비행기 ".repeat(6_000)).await.chars().count() < 200);
}

#[tokio::test]
async fn a_search_shows_five_passages_and_no_endless_one() {
    let long = "가나다라마바사 ".repeat(1_000);
    let documents: Vec<(String, String)> =
        (0..9).map(|n| (format!("{n}.md"), format!("등대 {n}\n\n{long}"))).collect();
    let documents: Vec<_> = documents.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let found = search(&documents, "가나다라마바사").await;
    assert_eq!(found.matches("출처: ").count(), 5);
    assert!(found.chars().count() < 5 * 2_100, "{}", found.chars().count());
}
