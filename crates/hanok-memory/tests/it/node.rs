//! Compaction as a node: on a thread that is kept, through crashes and failures.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::sync::Arc;

use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{BoxError, Context, END, EventKind, Graph, Input, START, Snapshot, Thread};
use hanok_memory::{Compaction, Compactor, MemoryEvent, stated_facts};
use hanok_model::{Exchange, ModelError, ScriptedModel};
use hanok_parse::Language;
use hanok_state::{Message, State};

use crate::support::Chat;

/// A memory node, and behind it one that answers.
fn graph(model: &ScriptedModel, fails: Arc<std::sync::atomic::AtomicBool>) -> Graph<Chat> {
    let policy = Compaction::new().language(Language::Korean);
    let compactor = Compactor::new(policy, model.clone()).unwrap().pin(stated_facts);
    let memory = compactor.node::<Chat, ()>();
    // The node dies once behind its work, before its writes are stored.
    let dying = move |state: Snapshot<Chat>, context: Context| {
        let (work, fails) = (memory(state, context), fails.clone());
        async move {
            let update = work.await?;
            match fails.swap(false, std::sync::atomic::Ordering::SeqCst) {
                true => Err(BoxError::from("the machine is gone")),
                false => Ok(update),
            }
        }
    };
    Graph::<Chat>::builder("chat")
        .node("memory", dying)
        .node("answer", |_: Snapshot<Chat>, _: Context| async {
            Ok::<_, BoxError>(Chat::update().message(Message::assistant("네, 알겠습니다. 말씀하신 것을 적어 두었고, 나중에 다시 물어보시면 알려 드리겠습니다.")))
        })
        .edge(START, "memory")
        .edge("memory", "answer")
        .edge("answer", END)
        .build()
        .unwrap()
}

async fn say(thread: &Thread<Chat>, text: &str) -> Result<(Chat, Vec<MemoryEvent>), BoxError> {
    events(thread, Input::New(Chat::update().message(Message::user(text)))).await
}

async fn events(
    thread: &Thread<Chat>,
    input: Input<Chat>,
) -> Result<(Chat, Vec<MemoryEvent>), BoxError> {
    use futures::StreamExt;
    let mut events = thread.stream(input, ());
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom(item) = &event.kind {
            told.extend(item.decode::<MemoryEvent>());
        }
    }
    Ok((events.outcome().await?.done()?, told))
}

fn thread(graph: Graph<Chat>) -> Thread<Chat> {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    graph.checkpointer(SharedCheckpointer::new(InMemoryCheckpointer::new())).thread(key)
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_made_once_though_its_node_dies() {
    let model = ScriptedModel::new([Exchange::says("철수가 인사하고 예산을 말했다.")
        .contains("[user] 내 이름은 철수야")
        .contains("[user] 예산은 1억원이야")]);
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let thread = thread(graph(&model, fails.clone()));
    for text in ["내 이름은 철수야", "예산은 1억원이야", "좋아", "그래"] {
        say(&thread, text).await.unwrap();
    }
    say(&thread, "다섯째").await.unwrap();
    fails.store(true, std::sync::atomic::Ordering::SeqCst);
    say(&thread, "마지막 질문").await.unwrap_err();
    // The reply of the model was stored before the node died: it is not asked again.
    let (chat, told) = events(&thread, Input::Resume).await.unwrap();
    model.finished().unwrap();
    assert_eq!(chat.messages.len(), 6);
    let pinned: Vec<_> = chat.memory.pinned().map(|fact| fact.text.as_str()).collect();
    assert_eq!(pinned, ["내 이름은 철수야", "예산은 1억원이야"]);
    let [MemoryEvent::Compacted { action, before, after, messages: 5, unpinned: 0 }] = &told[..]
    else {
        panic!("{told:?}")
    };
    assert!(action == "summarise" && after < before, "{told:?}");
}

/// B117
#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_leaves_the_conversation_as_it_was() {
    let refused = ModelError::ContentFiltered { source: None };
    for (exchange, want) in [
        (Exchange::fails(refused), "content filter"),
        (Exchange::says("  "), "empty"),
        (Exchange::says("가".repeat(2_000)), "stands for"),
    ] {
        let model = ScriptedModel::new([exchange]);
        let thread = thread(graph(&model, Arc::default()));
        for text in ["하나", "둘", "셋", "넷", "다섯"] {
            say(&thread, text).await.unwrap();
        }
        let (chat, told) = say(&thread, "여섯").await.unwrap();
        model.finished().unwrap();
        assert_eq!((chat.messages.len(), chat.memory.is_empty()), (12, true));
        let [MemoryEvent::Failed { action, reason }] = &told[..] else { panic!("{told:?}") };
        assert!(action == "summarise" && reason.contains(want), "{reason}");
    }
}
