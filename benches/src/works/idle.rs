//! Threads that nobody runs, and what they take of the memory.

use std::collections::HashMap;

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::{Message, Messages, Role, State};

use super::{thread, turns::BYTES};
use crate::{
    Result,
    measure::{ensure, medians, resident},
};

const THREADS: usize = 10_000;
const TURNS: usize = 5;

#[derive(State, Clone, Default)]
struct Talk {
    messages: Messages,
}

async fn answer(_: Snapshot<Talk>, _: Context) -> Result<TalkUpdate> {
    Ok(Talk::update().message(Message::assistant("a".repeat(BYTES))))
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let graph = Graph::<Talk>::builder("idle")
        .node("answer", answer)
        .edge(START, "answer")
        .edge("answer", END)
        .build()?;
    // What a round fills stays to the end, or the next one would use its memory.
    let mut apps = Vec::new();
    medians(rounds, async || {
        let before = resident()?;
        let app = graph.checkpointer(InMemoryCheckpointer::new());
        for i in 0..THREADS {
            let talk = app.thread(thread(&format!("thread-{i}"))?);
            for turn in 1..=TURNS {
                let message = Message::user("q".repeat(BYTES));
                let state = talk.invoke(Talk::update().message(message), ()).await?.done()?;
                ensure(state.messages.len() == 2 * turn, "the messages")?;
            }
        }
        let each = (resident()? - before) / THREADS as f64;
        apps.push(app);
        Ok([each])
    })
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    let mut stores = Vec::new();
    medians(rounds, async || {
        let before = resident()?;
        let mut threads: HashMap<String, Vec<(Role, String)>> = HashMap::new();
        for i in 0..THREADS {
            let thread = threads.entry(format!("thread-{i}")).or_default();
            for _ in 0..TURNS {
                thread.push((Role::User, "q".repeat(BYTES)));
                thread.push((Role::Assistant, "a".repeat(BYTES)));
            }
            ensure(thread.len() == 2 * TURNS, "the messages")?;
        }
        let each = (resident()? - before) / THREADS as f64;
        stores.push(threads);
        Ok([each])
    })
}
