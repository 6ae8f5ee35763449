//! What a model proposes counts where the user said it.

use std::sync::atomic::{AtomicUsize, Ordering};

use hanok_checkpoint::SharedCheckpointer;
use hanok_core::{BoxError, Call, Tenant};
use hanok_graph::{Context, END, Graph, NodeExt, Retry, START, Snapshot};
use hanok_learning::{
    Learner, LongTerm, Memories, Preference, PreferenceProposal, PreferenceProposer, RulesAlone,
    stated_preferences,
};
use hanok_state::{Message, State};

use crate::support::*;

fn proposal(key: &str, value: &str, quote: &str) -> PreferenceProposal {
    let [key, value, quote] = [key, value, quote].map(str::to_owned);
    PreferenceProposal { key, value, quote }
}

/// A model that proposes these and counts how often it is asked.
struct Model<'a>(Vec<PreferenceProposal>, &'a AtomicUsize);

impl PreferenceProposer for Model<'_> {
    async fn propose(&self, _: &Message, _: &Call) -> Result<Vec<PreferenceProposal>, BoxError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        Ok(self.0.clone())
    }
}

/// Runs a turn in which `message` is learned from, which fails after that in its first attempt.
async fn turn(
    threads: &SharedCheckpointer,
    of: LongTerm,
    message: Message,
    proposals: Option<Vec<PreferenceProposal>>,
) -> usize {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    ASKED.store(0, Ordering::SeqCst);
    let node = move |_: Snapshot<Turn>, context: Context| {
        let (of, message, proposals) = (of.clone(), message.clone(), proposals.clone());
        async move {
            let rules = stated_preferences(&message);
            match proposals {
                Some(all) => {
                    let model = Model(all, &ASKED);
                    of.learn_preferences(&context, TOPIC, &message, rules, &model).await?
                }
                None => of.learn_preferences(&context, TOPIC, &message, rules, &RulesAlone).await?,
            };
            match context.attempt() {
                1 => Err(BoxError::from("once more")),
                _ => Ok(Turn::update().done([1])),
            }
        }
    };
    let graph = Graph::<Turn>::builder("turn").node("learn", node.retry(Retry::attempts(2)));
    let graph = graph.edge(START, "learn").edge("learn", END).build().unwrap();
    let thread = graph.checkpointer(threads.clone()).thread(key("t"));
    thread.invoke(Turn::update(), ()).await.unwrap().done().unwrap();
    ASKED.load(Ordering::SeqCst)
}

async fn learned(memories: &Memories, user: &str) -> Vec<String> {
    let all = memories.of(Tenant::default(), user).all::<Preference>(NOW).await.unwrap();
    all.into_iter().map(|one| one.text).collect()
}

/// B133
#[tokio::test(start_paused = true)]
async fn a_proposal_counts_when_its_quote_stands_in_what_the_user_said() {
    let (threads, store) = backends().await.remove(0);
    let memories = memories(&store);
    let learner = Learner::new(consumer(&threads), memories.clone());
    learner.register().await.unwrap();
    let of = |user| LongTerm::new(memories.clone(), Tenant::default(), user);
    let said = Message::user("내 예산은 4억이야. 학교가 가까우면 좋겠어.").with_id("m1");
    let proposals = vec![
        proposal("학교", "가까운 곳", "학교가 가까우면 좋겠어"),
        proposal("반려견", "있음", "강아지를 키워"),
        proposal("층", "고층", ""),
        // The rules come first.
        proposal("예산", "40억", "내 예산은 4억이야"),
        proposal("", "x", "학교"),
        proposal("x", &"가".repeat(1_000), "학교"),
    ];
    let asked = turn(&threads, of(Some("kim")), said.clone(), Some(proposals.clone())).await;
    assert_eq!(asked, 1, "the step is memoised");
    let drained = learner.drain(NOW).await.unwrap();
    assert_eq!((drained.new, drained.refused.len()), (2, 0));
    assert_eq!(learned(&memories, "kim").await, ["예산: 4억", "학교: 가까운 곳"]);

    // Without a model the rules learn; nobody teaches nothing, and is asked nothing.
    turn(&threads, of(Some("lee")), said.clone(), None).await;
    assert_eq!(turn(&threads, of(None), said, Some(proposals.clone())).await, 0);
    assert_eq!(learner.drain(NOW).await.unwrap().new, 1);
    assert_eq!(learned(&memories, "lee").await, ["예산: 4억"]);

    // What was recalled and what a tool returned state nothing, whatever they say and whatever a model makes of them.
    let words = "내 예산은 9억이야. 학교가 가까우면 좋겠어.";
    for message in [
        Message::user(words).with_metadata("kind", "remembered"),
        Message::user(words).with_metadata("kind", "data"),
        Message::user(words).with_tool_call_id("call-1"),
        Message::tool("call-1", words),
        Message::assistant(words),
        Message::system(words),
    ] {
        turn(&threads, of(Some("park")), message, Some(proposals.clone())).await;
    }
    assert_eq!(learner.drain(NOW).await.unwrap().new, 0);
    assert!(learned(&memories, "park").await.is_empty());
}
