//! Tools that block a thread.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
#![allow(clippy::panic, reason = "a tool that panics is one of the cases")]

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    task::Poll,
    thread,
    time::Duration,
};

use hanok_model::{BlockingPool, FnTool, Tool, ToolError};
use hanok_state::Arguments;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock::call;

/// Work that begins, says so, and does not end before it is let go.
struct Stuck {
    began: Sender<String>,
    begins: Receiver<String>,
    held: Arc<Mutex<Vec<Sender<()>>>>,
}

impl Stuck {
    fn new() -> Self {
        let (began, begins) = mpsc::channel();
        Self { began, begins, held: Arc::default() }
    }

    fn work(&self) -> impl FnOnce() -> Result<(), ToolError> + Send + 'static {
        let (began, (hold, held)) = (self.began.clone(), mpsc::channel());
        self.held.lock().unwrap().push(hold);
        move || {
            began.send(thread::current().name().unwrap_or_default().to_owned()).unwrap();
            // It is let go when the other end is gone.
            assert!(held.recv().is_err());
            Ok(())
        }
    }

    /// Starts a call, and abandons it when it has begun.
    async fn leak(&self, pool: &BlockingPool) {
        let mut call = Box::pin(pool.run(self.work()));
        assert!(polled(&mut call).await.is_none());
        assert_eq!(self.begins.recv().unwrap(), "hanok-blocking");
    }

    fn let_go(&self) {
        self.held.lock().unwrap().clear();
    }
}

/// What a future gives when it is polled once.
async fn polled<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    std::future::poll_fn(|cx| match std::pin::Pin::new(&mut *future).poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

async fn until(pool: &BlockingPool, leaked: usize) {
    while pool.leaked() != leaked {
        tokio::task::yield_now().await;
    }
}

#[derive(Deserialize, JsonSchema)]
struct Ask {
    q: String,
}

#[tokio::test]
async fn a_blocking_tool_runs_on_a_thread_of_its_own_with_its_arguments() {
    let tool = FnTool::blocking("name", "Says its thread", |ask: Ask, call| {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        Ok(format!("{} on {thread} as {}", ask.q, call.key()).into())
    })
    .unwrap();
    let given = tool.run(&Arguments::new(r#"{"q":"휴가"}"#), &call()).await.unwrap();
    assert_eq!(given.text, "휴가 on hanok-blocking as test");
    let refused = tool.run(&Arguments::new("{}"), &call()).await.unwrap_err();
    assert!(matches!(refused, ToolError::Arguments(_)), "{refused:?}");
}

/// P18: and the thread that it happened on is used again.
#[tokio::test]
async fn a_panic_stays_inside_its_call() {
    let pool = BlockingPool::new(1, 1);
    for _ in 0..3 {
        let error = pool.run(|| -> Result<(), _> { panic!("a secret") }).await.unwrap_err();
        assert!(matches!(error, ToolError::Panicked), "{error:?}");
    }
    assert_eq!(pool.run(|| Ok(7)).await.unwrap(), 7);
    assert_eq!(pool.leaked(), 0);
}

/// P19: the cap, the refusal, and the way back.
#[tokio::test]
async fn threads_that_never_come_back_are_counted_replaced_and_refused_past_the_cap() {
    let (pool, stuck) = (BlockingPool::new(1, 3), Stuck::new());
    for leaked in 1..=3 {
        // One thread at once: each of these runs because the one before was replaced.
        stuck.leak(&pool).await;
        assert_eq!(pool.leaked(), leaked);
    }
    for _ in 0..2 {
        let refused = pool.run(|| Ok(())).await.unwrap_err();
        assert!(matches!(refused, ToolError::PoolExhausted { leaked: 3 }), "{refused:?}");
    }
    stuck.let_go();
    until(&pool, 0).await;
    assert_eq!(pool.run(|| Ok(7)).await.unwrap(), 7);
}

/// P19: one that returns takes a place again, and those too many end.
#[tokio::test]
async fn there_are_never_more_threads_than_places_and_leaks() {
    let (pool, stuck) = (BlockingPool::new(2, 4), Stuck::new());
    for _ in 0..4 {
        stuck.leak(&pool).await;
    }
    stuck.let_go();
    until(&pool, 0).await;
    // Three calls at once on two places: the third begins when one of the others ends.
    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(pool.run(stuck.work()))).collect();
    for call in &mut calls {
        assert!(polled(call).await.is_none());
    }
    stuck.begins.recv().unwrap();
    stuck.begins.recv().unwrap();
    assert!(stuck.begins.recv_timeout(Duration::from_millis(20)).is_err());
    stuck.let_go();
    for call in calls {
        call.await.unwrap();
    }
    assert!(format!("{pool:?}").contains("live: 2, leaked: 0, queued: 0"), "{pool:?}");
}

/// P19: a call in the queue is not left there when the last thread is gone.
#[tokio::test]
async fn calls_that_wait_for_a_thread_run_on_the_new_one_or_are_refused() {
    let (pool, stuck) = (BlockingPool::new(1, 1), Stuck::new());
    let mut first = Box::pin(pool.run(stuck.work()));
    let mut second = Box::pin(pool.run(stuck.work()));
    let mut third = Box::pin(pool.run(|| Ok(())));
    let mut fourth = Box::pin(pool.run(|| Ok(())));
    for call in [&mut first, &mut second] {
        assert!(polled(call).await.is_none());
    }
    assert!(polled(&mut third).await.is_none());
    assert!(polled(&mut fourth).await.is_none());
    stuck.begins.recv().unwrap();
    // What is given up in the queue was never begun.
    drop(fourth);
    assert_eq!(pool.leaked(), 0);
    drop(first);
    stuck.begins.recv().unwrap();
    drop(second);
    let refused = third.await.unwrap_err();
    assert!(matches!(refused, ToolError::PoolExhausted { leaked: 2 }), "{refused:?}");
    stuck.let_go();
}

/// What a call that is given up in the queue holds may look at the pool when it is dropped.
#[tokio::test]
async fn a_call_that_is_abandoned_in_the_queue_is_dropped_outside_of_the_pool() {
    struct Looks(BlockingPool, Sender<usize>);
    impl Drop for Looks {
        fn drop(&mut self) {
            self.1.send(self.0.leaked()).unwrap();
        }
    }
    let (pool, stuck, (saw, sees)) = (BlockingPool::new(1, 1), Stuck::new(), mpsc::channel());
    let mut first = Box::pin(pool.run(stuck.work()));
    assert!(polled(&mut first).await.is_none());
    stuck.begins.recv().unwrap();
    let looks = Looks(pool.clone(), saw);
    let work = move || {
        drop(looks);
        Ok(())
    };
    let mut second = Box::pin(pool.run(work));
    assert!(polled(&mut second).await.is_none());
    drop(second);
    assert_eq!(sees.recv().unwrap(), 0);
    stuck.let_go();
    first.await.unwrap();
}

#[tokio::test]
async fn the_threads_end_with_the_last_handle() {
    struct Gone(Sender<()>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    thread_local! {
        static GONE: std::cell::RefCell<Option<Gone>> = const { std::cell::RefCell::new(None) };
    }
    let (gone, ends) = mpsc::channel();
    let pool = BlockingPool::default();
    let work = move || {
        GONE.set(Some(Gone(gone)));
        Ok(())
    };
    pool.clone().run(work).await.unwrap();
    assert!(ends.recv_timeout(Duration::from_millis(20)).is_err());
    drop(pool);
    ends.recv_timeout(Duration::from_secs(60)).unwrap();
}
