//! A call on the machine's own time.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Timestamp};

/// The machine's clock.
#[derive(Debug)]
struct Real;

impl Clock for Real {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

pub(crate) fn call() -> Call {
    Call::new(CallKey::new("test"), Arc::new(Real))
}
