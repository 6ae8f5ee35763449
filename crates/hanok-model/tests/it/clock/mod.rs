//! A clock that runs on tokio's time, so that a test can pause it.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Timestamp, Token, TokenSink};
use tokio::time::Instant;

#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::default().plus(self.0.elapsed())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A call that nobody watches.
pub(crate) fn call() -> Call {
    Call::new(CallKey::new("test"), Arc::new(TokioClock(Instant::now())))
}

/// Keeps what a model writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watcher(Arc<Mutex<Vec<Token>>>);

impl TokenSink for Watcher {
    fn token(&self, token: Token) {
        self.0.lock().unwrap().push(token);
    }
}

impl Watcher {
    pub(crate) fn tokens(&self) -> Vec<Token> {
        self.0.lock().unwrap().clone()
    }

    /// The call, watched.
    pub(crate) fn watch(&self, call: Call) -> Call {
        call.tokens(Arc::new(self.clone()))
    }
}
