//! What summaries stand for, out of the log of a thread: shown, taken back, made anew, and gone where the log was cut.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_checkpoint::{Forks, InMemoryCheckpointer, Keep};
use hanok_core::{Call, ThreadKey};
use hanok_graph::{END, Graph, Runtime, START, Thread};
use hanok_memory::{Compaction, Compactor, ExpandError, Overflow, Remembers, Summary, expand};
use hanok_model::{Exchange, ScriptedModel, TokenCounter};
use hanok_state::{Message, State};

use crate::support::Chat;

fn compactor(model: &ScriptedModel) -> Compactor {
    let policy = Compaction::new().overflow(Overflow::Fold).summaries(2);
    Compactor::new(policy.counter(TokenCounter::estimate()), model.clone()).unwrap()
}

/// A thread on which `turns` messages were said, one a turn.
async fn talked(model: &ScriptedModel, turns: usize) -> Thread<Chat> {
    let graph = Graph::<Chat>::builder("chat")
        .node("memory", compactor(model).node::<Chat, ()>())
        .edge(START, "memory")
        .edge("memory", END)
        .build()
        .unwrap();
    let thread = graph.checkpointer(InMemoryCheckpointer::new());
    let thread = thread.thread(ThreadKey::named("t").unwrap());
    say(&thread, 0..turns).await;
    thread
}

async fn say(thread: &Thread<Chat>, turns: std::ops::Range<usize>) {
    for n in turns {
        let said = format!("{n}: I would like to have {n} days of leave, if that is possible");
        thread.invoke(Chat::update().message(Message::user(said)), ()).await.unwrap();
    }
}

async fn state(thread: &Thread<Chat>) -> Chat {
    thread.state(None).await.unwrap().unwrap()
}

async fn summary(thread: &Thread<Chat>, number: usize) -> Summary {
    state(thread).await.memory.summaries().nth(number).unwrap().clone()
}

/// The numbers of what was said.
fn numbers<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Vec<usize> {
    let number = |message: &Message| message.text().split(':').next().unwrap().parse().unwrap();
    messages.into_iter().map(number).collect()
}

#[tokio::test]
async fn a_summary_shows_what_it_stands_for_also_when_it_was_folded() {
    let model = ScriptedModel::new(["first", "second", "third", "both"].map(Exchange::says));
    let thread = talked(&model, 20).await;
    model.finished().unwrap();
    let texts: Vec<_> = state(&thread).await.memory.summaries().map(|it| it.text.clone()).collect();
    assert_eq!(texts, ["both", "third"]);
    let folded = expand(&thread, &summary(&thread, 0).await).await.unwrap();
    assert_eq!(numbers(&folded.messages), (0..10).collect::<Vec<_>>());
    let third = expand(&thread, &summary(&thread, 1).await).await.unwrap();
    assert_eq!(numbers(&third.messages), (10..15).collect::<Vec<_>>());
    // One that is no part of the memory is none.
    let other = Summary { text: "other".into(), ..third.summary };
    assert!(matches!(expand(&thread, &other).await, Err(ExpandError::NoSuchSummary)));
}

#[tokio::test]
async fn a_summary_is_taken_back_and_the_conversation_stands_as_it_stood() {
    let model = ScriptedModel::new(["first", "second"].map(Exchange::says));
    let thread = talked(&model, 16).await;
    let before = state(&thread).await;
    let expanded = expand(&thread, &summary(&thread, 1).await).await.unwrap();
    let change = expanded.undo(&before);
    let (messages, memory) = change.applied(&before.messages, &before.memory);
    thread.edit(Chat::remember(change)).await.unwrap();
    let after = state(&thread).await;
    assert_eq!(
        (&messages, memory.summaries.len()),
        (&after.messages, after.memory.summaries.len())
    );
    assert_eq!(numbers(after.messages.iter()), (5..16).collect::<Vec<_>>());
    assert_eq!(after.memory.summaries().map(|it| &*it.text).collect::<Vec<_>>(), ["first"]);
    assert_eq!(after.memory.compactions, before.memory.compactions + 1);
}

#[tokio::test]
async fn a_summary_is_made_anew_in_its_place() {
    let model = ScriptedModel::new([
        Exchange::says("first"),
        Exchange::says("Leave was asked for, 0 to 4 days.").contains("[user] 4: I would like"),
        Exchange::says(" "),
        Exchange::says("I would like to have days of leave ".repeat(20)),
    ]);
    let thread = talked(&model, 10).await;
    let before = state(&thread).await;
    let expanded = expand(&thread, &summary(&thread, 0).await).await.unwrap();
    let (rng, call) = (Runtime::default().rng, Call::detached());
    let compactor = compactor(&model);
    let again = || expanded.again(&compactor, &before, &*rng, &call);
    let change = again().await.unwrap();
    thread.edit(Chat::remember(change)).await.unwrap();
    let anew = summary(&thread, 0).await;
    assert_eq!(anew.text, "Leave was asked for, 0 to 4 days.");
    assert_eq!(numbers(&expand(&thread, &anew).await.unwrap().messages), [0, 1, 2, 3, 4]);
    // What is none changes nothing.
    assert!(matches!(again().await, Err(ExpandError::NotApplied(_))));
    assert!(matches!(again().await, Err(ExpandError::NotApplied(_))));
    model.finished().unwrap();
}

#[tokio::test]
async fn where_the_log_was_cut_that_is_said() {
    let model = ScriptedModel::new(["first"].map(Exchange::says));
    let thread = talked(&model, 12).await;
    let first = summary(&thread, 0).await;
    let fork = thread.fork_numbered().await.unwrap();
    assert!(matches!(expand(&fork, &first).await, Err(ExpandError::Pruned)));
    assert_eq!(expand(&thread, &first).await.unwrap().messages.len(), 5);
}

/// Pruning, and an erasure of anything, cut off what a summary stands for: that is said, and the summary stays.
#[tokio::test]
async fn where_the_log_was_pruned_or_erased_that_is_said() {
    for erases in [false, true] {
        let model = ScriptedModel::new(["first", "second"].map(Exchange::says));
        let thread = talked(&model, 12).await;
        let first = summary(&thread, 0).await;
        if erases {
            let last =
                state(&thread).await.messages.iter().last().unwrap().id().unwrap().to_owned();
            let gone = Chat::update().remove_message(last);
            thread.erase(gone, "the officer", Forks::Too).await.unwrap();
        } else {
            assert!(thread.log().prune(Keep::Newest).await.unwrap().is_some());
        }
        let error = expand(&thread, &first).await.unwrap_err();
        assert!(matches!(error, ExpandError::Pruned), "{erases} {error}");
        // A summary that was written since is shown.
        say(&thread, 12..18).await;
        model.finished().unwrap();
        let second = expand(&thread, &summary(&thread, 1).await).await.unwrap();
        assert_eq!(numbers(&second.messages), (5..10).collect::<Vec<_>>());
        assert_eq!(summary(&thread, 0).await, first);
    }
}
