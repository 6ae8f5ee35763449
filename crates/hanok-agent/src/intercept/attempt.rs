//! One of several attempts at a reply.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use hanok_core::{Call, Token, TokenSink};
use hanok_model::{ModelError, ToolError};

/// The errors of a model for which something is done.
pub(super) type ModelErrorFilter = Arc<dyn Fn(&ModelError) -> bool + Send + Sync>;

/// An attempt at a call, which knows whether somebody saw some of it.
pub(super) struct Attempt {
    pub(super) call: Call,
    shown: Option<Arc<WatchedSink>>,
}

struct WatchedSink {
    sink: Arc<dyn TokenSink>,
    any: AtomicBool,
}

impl TokenSink for WatchedSink {
    fn token(&self, token: Token) {
        self.any.store(true, Ordering::SeqCst);
        self.sink.token(token);
    }

    fn call_piece(&self, place: u64, name: &str, arguments: &str) {
        self.any.store(true, Ordering::SeqCst);
        self.sink.call_piece(place, name, arguments);
    }
}

impl Attempt {
    /// An attempt at `call`, with its key: it is a call of the budget.
    pub(super) fn at(call: &Call) -> Self {
        let attempt = call.keyed(call.key().clone());
        let shown = call
            .sink()
            .map(|sink| Arc::new(WatchedSink { sink: sink.clone(), any: AtomicBool::new(false) }));
        let call = match &shown {
            Some(shown) => attempt.tokens(shown.clone()),
            None => attempt,
        };
        Self { call, shown }
    }

    /// Another attempt follows: who saw some of this one takes it back.
    pub(super) fn give_up(self) {
        if let Some(shown) = self.shown.filter(|shown| shown.any.load(Ordering::SeqCst)) {
            shown.sink.token(Token::Retracted);
        }
    }
}

/// True for an error by which a tool's server is down: a failure, a lost answer, a time-out or a lack of threads.
pub(super) fn is_tool_down(error: &ToolError) -> bool {
    use ToolError::{Failed, InDoubt, PoolExhausted, TimedOut};
    matches!(error, Failed(_) | InDoubt(_) | TimedOut { .. } | PoolExhausted { .. })
}

/// Waits, unless the call is asked to stop; tells whether it waited.
pub(super) async fn pause(call: &Call, wait: Duration) -> bool {
    match select(call.stop().cancelled(), call.clock().sleep(wait)).await {
        Either::Left(_) => false,
        Either::Right(_) => true,
    }
}
