//! Replies that are kept.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use hanok_agent::{AgentState, Intercepted, ModelCache, Protocol, ReactAgent};
use hanok_checkpoint::{
    Batch, Batched, CheckpointError, InMemoryCheckpointer, InMemoryStore, Namespaces, Page, Search,
    SharedStore, Store, StoreError, Within,
};
use hanok_core::{
    BoxFuture, Budget, Call, CallKey, Clock, Labels, Meter, Tenant, ThreadKey, Timestamp, Token,
    TokenSink,
};
use hanok_model::{
    ChatModel, ChatReply, ChatRequest, Exchange, Finish, ModelError, ScriptedModel, Usage,
};
use hanok_state::{Message, ToolCall};

use crate::support::{Ledger, tools};

#[derive(Debug, Default)]
struct Seconds(AtomicU64);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::default().plus(Duration::from_secs(self.0.load(Ordering::SeqCst)))
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}

fn call_of(tenant: &str, clock: &Arc<Seconds>) -> Call {
    Call::new(CallKey::new("k"), clock.clone()).tenant_of(Tenant::new(tenant).unwrap())
}

fn says(text: &str) -> Exchange {
    Exchange::says(text).usage(10, 2)
}

/// A question, under ids that differ from run to run.
fn question(text: &str, id: &str) -> ChatRequest {
    let called = ToolCall { id: id.into(), name: "find".into(), arguments: Default::default() };
    ChatRequest::new([
        Message::user(text).with_id(format!("m{id}")).with_metadata("at", id),
        Message::assistant("").with_tool_calls([called]),
        Message::tool(id, "found"),
    ])
}

#[tokio::test]
async fn the_same_request_is_answered_once_and_the_second_reply_costs_nothing() {
    let clock = Arc::new(Seconds::default());
    let script =
        ScriptedModel::new([says("one"), says("two"), says("three"), says("four"), says("five")]);
    let store = SharedStore::new(InMemoryStore::default());
    let cache = || ModelCache::new(store.clone()).ttl(Duration::from_secs(60));
    let model = Intercepted::new(script.clone()).intercept(cache());
    let ask = async |request: ChatRequest, tenant: &str| {
        let meter = Meter::budgeted(
            Budget { model_calls: Some(1), ..Budget::default() },
            Default::default(),
        );
        let call = call_of(tenant, &clock).meter(meter.clone());
        let reply = model.chat(request, &call).await.unwrap();
        (
            reply.message.text().into_owned(),
            reply.cached,
            reply.usage.input_tokens,
            meter.spent().model_calls,
        )
    };
    assert_eq!(ask(question("a", "1"), "acme").await, ("one".into(), false, 10, 1));
    assert_eq!(ask(question("a", "2"), "acme").await, ("one".into(), true, 0, 0));
    // Another tenant, other settings, another question, and another model are others.
    assert_eq!(ask(question("a", "1"), "other").await.0, "two");
    assert_eq!(ask(question("a", "1").temperature(0.5), "acme").await.0, "three");
    assert_eq!(ask(question("b", "1"), "acme").await.0, "four");
    let named =
        Intercepted::new(ScriptedModel::new([says("else")]).named("else")).intercept(cache());
    let reply = named.chat(question("a", "1"), &call_of("acme", &clock)).await.unwrap();
    assert_eq!((reply.message.text().as_ref(), reply.cached), ("else", false));
    // To read it does not lengthen its life.
    clock.0.store(59, Ordering::SeqCst);
    assert!(ask(question("a", "3"), "acme").await.1);
    clock.0.store(61, Ordering::SeqCst);
    assert_eq!(ask(question("a", "3"), "acme").await, ("five".into(), false, 10, 1));
    script.finished().unwrap();

    // Nothing else is in the store.
    let all = Namespaces::new(Tenant::new("acme").unwrap(), Within::All);
    assert_eq!(
        store.namespaces(&all, clock.now()).await.unwrap(),
        [Labels::new(["model-cache"]).unwrap()]
    );
}

#[tokio::test]
async fn a_reply_that_is_not_whole_is_not_cached() {
    let clock = Arc::new(Seconds::default());
    let finished = |text: &str, finish| {
        Exchange::replies(ChatReply::new(Message::assistant(text), "m").finish(finish))
    };
    let called = || {
        let call = ToolCall { id: "x".into(), name: "find".into(), arguments: Default::default() };
        Exchange::calls([call])
    };
    for not_kept in [
        finished("cut", Finish::Length),
        finished("", Finish::Stop),
        finished("no", Finish::Refused),
        finished("kept back", Finish::ContentFilter),
        finished("who knows", Finish::Other),
        Exchange::fails(ModelError::Cancelled),
        called(),
    ] {
        let script = ScriptedModel::new([not_kept, says("whole")]);
        let cached =
            Intercepted::new(script.clone()).intercept(ModelCache::new(InMemoryStore::default()));
        let first = cached.chat(question("a", "1"), &call_of("t", &clock)).await;
        assert!(first.is_err() || !first.unwrap().cached);
        let reply = cached.chat(question("a", "1"), &call_of("t", &clock)).await.unwrap();
        assert_eq!(reply.message.text(), "whole");
        script.finished().unwrap();
    }
    // Calls, where that is chosen.
    let cache = ModelCache::new(InMemoryStore::default()).tool_calls();
    let cached = Intercepted::new(ScriptedModel::new([called()])).intercept(cache);
    for hit in [false, true] {
        let reply = cached.chat(question("a", "1"), &call_of("t", &clock)).await.unwrap();
        assert_eq!((reply.cached, reply.message.tool_calls().len()), (hit, 1));
    }
    // A call of nobody's.
    let script = ScriptedModel::new([says("one"), says("two")]);
    let cached =
        Intercepted::new(script.clone()).intercept(ModelCache::new(InMemoryStore::default()));
    for _ in 0..2 {
        cached
            .chat(question("a", "1"), &Call::new(CallKey::new("k"), clock.clone()))
            .await
            .unwrap();
    }
    script.finished().unwrap();
}

/// Of the same requests at one time one is asked; those who wait are told, or ask for themselves when it failed.
#[tokio::test(start_paused = true)]
async fn the_same_requests_at_one_time_are_one() {
    let clock = Arc::new(Seconds::default());
    let slow = |exchange: Exchange| exchange.delay(Duration::from_secs(1));
    for (script, want_asked) in [
        (vec![slow(says("one"))], 1),
        (
            vec![
                slow(Exchange::fails(ModelError::Cancelled)),
                slow(says("one")),
                slow(says("one")),
                slow(says("one")),
            ],
            4,
        ),
    ] {
        let script = ScriptedModel::new(script);
        let cached =
            Intercepted::new(script.clone()).intercept(ModelCache::new(InMemoryStore::default()));
        let begun = tokio::time::Instant::now();
        let asks = (0..4).map(|n| {
            let (cached, call) = (&cached, call_of("t", &clock));
            async move { cached.chat(question("a", &n.to_string()), &call).await }
        });
        let replies = join_all(asks).await;
        let hits = replies.iter().filter(|reply| reply.as_ref().is_ok_and(|reply| reply.cached));
        assert_eq!((script.requests().len(), hits.count()), (want_asked, 4 - want_asked.min(4)));
        // Those who waited for a failure ask at once, and not one after the other.
        assert!(begun.elapsed() <= Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}

fn gone() -> StoreError {
    StoreError::Storage(CheckpointError::Unavailable { reason: "gone", source: "gone".into() })
}

/// A store that is not there.
#[derive(Debug)]
struct Gone;

impl Store for Gone {
    async fn batch(&self, _: Batch, _: Timestamp) -> Result<Batched, StoreError> {
        Err(gone())
    }

    async fn search(&self, _: &Search, _: Timestamp) -> Result<Page, StoreError> {
        Err(gone())
    }

    async fn namespaces(&self, _: &Namespaces, _: Timestamp) -> Result<Vec<Labels>, StoreError> {
        Err(gone())
    }

    async fn sweep(&self, _: Timestamp, _: usize) -> Result<usize, StoreError> {
        Err(gone())
    }
}

#[derive(Default)]
struct Watcher(Mutex<Vec<Token>>);

impl TokenSink for Watcher {
    fn token(&self, token: Token) {
        self.0.lock().unwrap().push(token);
    }
}

#[tokio::test]
async fn a_store_that_fails_caches_nothing_and_a_watcher_sees_cached_replies() {
    let clock = Arc::new(Seconds::default());
    let script = ScriptedModel::new([says("one"), says("two")]);
    let cached = Intercepted::new(script.clone()).intercept(ModelCache::new(Gone));
    for want in ["one", "two"] {
        let reply = cached.chat(question("a", "1"), &call_of("t", &clock)).await.unwrap();
        assert_eq!(
            (reply.message.text().as_ref(), reply.usage),
            (want, Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() })
        );
    }
    let script = ScriptedModel::new([says("one").pieces(["o", "ne"])]);
    let cached = Intercepted::new(script).intercept(ModelCache::new(InMemoryStore::default()));
    for want in [vec!["o", "ne"], vec!["one"]] {
        let watcher = Arc::new(Watcher::default());
        let call = call_of("t", &clock).tokens(watcher.clone());
        cached.chat(question("a", "1"), &call).await.unwrap();
        let want: Vec<_> = want.into_iter().map(|text| Token::Text(text.into())).collect();
        assert_eq!(*watcher.0.lock().unwrap(), want);
    }
}

/// The tenant of a thread is that of its calls, and a turn says what came from a cache.
#[tokio::test]
async fn agents_of_several_threads_share_replies_within_their_tenant() {
    let cache = ModelCache::new(InMemoryStore::default()).tool_calls();
    let ledger = Ledger::default();
    let find = || {
        let arguments = hanok_state::Arguments::new(r#"{"q":"a"}"#);
        Exchange::calls([ToolCall { id: "x".into(), name: "find".into(), arguments }]).usage(5, 5)
    };
    let model = ScriptedModel::new([find(), says("answer"), find(), says("of other")]);
    let agent = ReactAgent::builder("t", "", model.clone())
        .tools(tools(&ledger))
        .protocol(Protocol::Native)
        .intercept(cache)
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let ask = async |tenant: &str, thread: &str| -> AgentState {
        let key = ThreadKey::new(Tenant::new(tenant).unwrap(), thread).unwrap();
        app.thread(key).invoke(agent.ask("?"), ()).await.unwrap().done().unwrap()
    };
    let first = ask("acme", "1").await.usage;
    assert_eq!(
        (first.cached_replies, first.spent.model_calls, first.spent.input_tokens),
        (0, 2, 15)
    );
    let second = ask("acme", "2").await;
    assert_eq!(second.answer.as_deref(), Some("answer"));
    let usage = &second.usage;
    assert_eq!((usage.cached_replies, usage.spent.model_calls, usage.spent.tokens()), (2, 0, 0));
    // Its tools are called all the same.
    assert_eq!((usage.tools["find"], ledger.lock().unwrap().len()), (1, 2));
    assert_eq!(ask("acme-corp", "1").await.answer.as_deref(), Some("of other"));
    model.finished().unwrap();
}
