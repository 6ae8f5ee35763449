//! Leases, which the server's clock judges, whatever time the processes think it is.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::time::Duration;

use hanok_checkpoint::{
    AppendId, Checkpointer, Claim, Epoch, Guard, Holder, LEASE, SharedCheckpointer,
};
use hanok_core::{RunId, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
use hanok_postgres::Postgres;
use hanok_state::State;

use crate::support;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    n: u32,
}

async fn work(state: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
    Ok(S::update().n(state.n + 1))
}

/// P10: a holder on another host is dead when the server has heard nothing of it for [`LEASE`], which the first look tells;
/// not before, however wrong its clock or ours is.
#[tokio::test]
async fn a_silent_holder_on_another_host_is_told_by_the_server_at_once() {
    let Some(url) = support::server() else { return };
    let (schema, admin) = (support::schema(), support::admin(&url).await);
    let config = support::config(&url).schema(schema.clone());
    let store: Postgres = support::connect(config).await;
    let graph = Graph::<S>::builder("works").node("work", work).edge(START, "work");
    let graph = graph.edge("work", END).build().unwrap();
    let epoch = Epoch(u64::MAX >> 1);
    for (n, beat) in [0, 1_000, 4_070_908_800_000, i64::MAX as u64].into_iter().enumerate() {
        let thread = support::key(&format!("t{n}"));
        // A process begins to look when the other is at work already.
        let app = graph.checkpointer(SharedCheckpointer::new(store.clone()));
        app.thread(thread.clone()).invoke(S::update(), ()).await.unwrap();
        let head = store.head(&thread).await.unwrap().unwrap();
        let holder = Holder { host: "elsewhere".into(), ..Holder::this_process(1) };
        let claim = Claim { run: RunId(1), holder, epoch, beat: Timestamp(beat) };
        let mut append = support::append(&thread, head.position.0, n as u128 + 1, "begun");
        (append.guard, append.life, append.id) = (Guard::Take(claim), head.life, AppendId(7));
        store.append(&thread, append).await.unwrap();

        assert!(store.silence(&thread, epoch).await.unwrap().unwrap() < LEASE);
        assert_eq!(store.silence(&thread, Epoch(1)).await.unwrap(), None);
        assert_eq!(app.abandoned().await.unwrap(), [], "{beat}");
        let ages = format!("UPDATE {schema}.threads SET beaten = beaten - interval '10 seconds'");
        admin.batch_execute(&ages).await.unwrap();
        assert!(store.silence(&thread, epoch).await.unwrap().unwrap() >= LEASE);
        assert_eq!(app.abandoned().await.unwrap(), std::slice::from_ref(&thread), "{beat}");

        // A sign of life, from whatever clock.
        store.beat(&thread, head.life, epoch, Timestamp(beat)).await.unwrap();
        assert!(store.silence(&thread, epoch).await.unwrap().unwrap() < LEASE);
        assert_eq!(app.abandoned().await.unwrap(), [], "{beat}");
        // A server whose clock was set back has seen no silence.
        let future = format!("UPDATE {schema}.threads SET beaten = beaten + interval '1 hour'");
        admin.batch_execute(&future).await.unwrap();
        assert_eq!(store.silence(&thread, epoch).await.unwrap(), Some(Duration::ZERO));
        store.delete(&thread, None).await.unwrap();
        assert_eq!(store.silence(&thread, epoch).await.unwrap(), None);
    }
}
