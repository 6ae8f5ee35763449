//! Runs that are dropped and taken over by the next run of their process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use hanok_checkpoint::SharedCheckpointer;
use hanok_graph::{BoxError, Context, Durability, END, Graph, START, Snapshot};
use hanok_state::State;

use crate::support;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Ticks {
    n: u32,
}

async fn tick(
    state: Snapshot<Ticks>,
    cx: Context<Arc<AtomicU32>>,
) -> Result<TicksUpdate, BoxError> {
    cx.services().fetch_add(1, Ordering::SeqCst);
    // Here the client may hang up.
    tokio::task::yield_now().await;
    Ok(Ticks::update().n(state.n + 1))
}

/// P10: every reconnect of two hundred takes the thread over at once, whenever its answer is safe.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconnects_take_over_what_was_dropped() {
    let Some(url) = support::server() else { return };
    let graph = Graph::<Ticks, Arc<AtomicU32>>::builder("ticks").recursion_limit(u32::MAX);
    let graph = graph.node("tick", tick).edge(START, "tick");
    let graph = graph.branch("tick", |_: &Ticks| "tick", ["tick", END]).build().unwrap();
    let app = graph.checkpointer(SharedCheckpointer::new(support::store(&url).await));
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let thread = app.thread(support::key(&format!("{durability:?}")));
        let thread = thread.durability(durability).takeover_limit(u32::MAX);
        for reconnect in 0..200 {
            let ticks = Arc::new(AtomicU32::new(0));
            let run = async {
                match reconnect {
                    0 => thread.invoke(Ticks::update(), ticks.clone()).await,
                    _ => thread.resume(ticks.clone()).await,
                }
            };
            let hangs_up = async {
                while ticks.load(Ordering::SeqCst) <= reconnect % 5 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                ended = run => panic!("{durability:?}, {reconnect}: {ended:?}"),
                () = hangs_up => {}
            }
        }
    }
}
