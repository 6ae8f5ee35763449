//! A provider that hangs, and one that answers.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::time::{Duration, Instant};

use hanok_agent::{CircuitBreaker, Intercepted};
use hanok_model::{ChatModel, ModelError};

use crate::server::{STOP, Server, Step, Watcher, ask, head, piece, stream};

/// P20: a provider that accepts and says nothing costs its time-out a few times, and then nothing; the other one is as
/// quick as ever, also while the first is waited for.
#[tokio::test]
async fn a_provider_that_hangs_is_soon_not_asked_and_holds_nobody_up() {
    let silence = Duration::from_secs(1);
    let dead = Server::start(vec![vec![head(), Step::Hang]]).await;
    let alive = Server::start(vec![stream(&[&piece("네"), STOP])]).await;
    let slow = dead.settings().first_token_timeout(silence).max_retries(0).build().unwrap();
    let guarded = |name: &'static str, model| {
        Intercepted::new(model).intercept(CircuitBreaker::of_model(name).failures(2).at_once(4))
    };
    let (dead_model, alive_model) = (guarded("dead", slow), guarded("alive", alive.model()));
    let timed = async |model: &Intercepted| {
        let begun = Instant::now();
        let reply = model.chat(ask(), &Watcher::default().call()).await;
        (begun.elapsed(), reply)
    };
    for _ in 0..2 {
        let (waits, answers) = tokio::join!(timed(&dead_model), timed(&alive_model));
        assert!(matches!(waits.1, Err(ModelError::TimedOut { .. })), "{waits:?}");
        assert!(answers.1.is_ok() && answers.0 < silence.min(waits.0), "{answers:?}");
    }
    for _ in 0..5 {
        let (refused, answers) = tokio::join!(timed(&dead_model), timed(&alive_model));
        assert!(refused.0 < silence, "{refused:?}");
        assert!(
            matches!(&refused.1, Err(ModelError::Unavailable { server, retry_after: Some(_) }) if server == "dead")
        );
        assert!(answers.1.is_ok(), "{answers:?}");
    }
    assert_eq!((dead.received().len(), alive.received().len()), (2, 7));
}
