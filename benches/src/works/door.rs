//! What a door of JSON costs: an event to one reader, and a conversation that a client sends.

use std::{hint::black_box, sync::Arc};

use futures::StreamExt;
use hanok_core::Token;
use hanok_graph::{
    AnyUpdate, Context, END, EventKind, Graph, InMemoryCheckpointer, Input, Messages, Mode, START,
    Snapshot, State,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::thread;
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const TOKENS: usize = if cfg!(test) { 100 } else { 1000 };
const MESSAGES: usize = 100;
const TIMES: usize = if cfg!(test) { 1 } else { 20 };

/// The tokens that a reader has room for: a faster writer would lose some.
type Room = Arc<Semaphore>;
const ROOM: usize = 64;

#[derive(State, Clone, Default)]
struct Chat {
    messages: Messages,
    tokens: u64,
}

/// Writes a text token by token, each when there is room for it with its reader.
async fn talk(_: Snapshot<Chat>, context: Context<Room>) -> Result<ChatUpdate> {
    let call = context.call("model", "m", "");
    for _ in 0..TOKENS {
        if let Some(sink) = call.sink() {
            sink.token(Token::Text("word ".to_owned()));
        }
        context.services().acquire().await?.forget();
    }
    Ok(Chat::update().tokens(TOKENS as u64))
}

/// A conversation as LangChain's clients send it.
fn conversation() -> Value {
    let message = |n: usize| match n % 2 {
        0 => {
            json!({"type": "human", "id": format!("m{n}"), "content": "How many days of leave do I have left?"})
        }
        _ => json!({
            "type": "ai", "id": format!("m{n}"), "content": "Let me see.",
            "tool_calls": [{"name": "leave", "args": {"year": 2026}, "id": format!("c{n}"), "type": "tool_call"}],
        }),
    };
    json!({"messages": (0..MESSAGES).map(message).collect::<Vec<_>>()})
}

async fn read_tokens(app: &hanok_graph::App<Chat, Room>, follows: bool) -> Result<f64> {
    let quiet = app.thread(thread("quiet")?);
    let thread = app.thread(thread("t")?).modes([Mode::Messages]);
    let cpu = Cpu::start();
    quiet.invoke(Chat::update(), Arc::new(Semaphore::new(TOKENS))).await?;
    let unread = cpu.micros();
    let cpu = Cpu::start();
    let mut follow = if follows { thread.follow(None) } else { quiet.follow(None) };
    let room = Arc::new(Semaphore::new(ROOM));
    let mut events = Some(thread.stream(Input::New(Chat::update()), room.clone()));
    if follows {
        // The run goes on, and the follower is its only reader.
        events = None;
    }
    let mut told = 0;
    loop {
        let event = match &mut events {
            Some(events) => events.next().await,
            None => follow.next().await,
        };
        match event.map(|event| event.kind) {
            Some(EventKind::Token(_)) => {
                told += 1;
                room.add_permits(1);
            }
            Some(EventKind::Ended { .. }) | None => break,
            _ => {}
        }
    }
    let took = cpu.micros();
    ensure(told == TOKENS, "the tokens")?;
    Ok((took - unread) / TOKENS as f64)
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let graph =
        Graph::<Chat, Room>::builder("talk").node("talk", talk).sequence([START, "talk", END]);
    let graph = graph.build()?;
    let conversation = conversation();
    medians(rounds, async || {
        let app = || graph.checkpointer(InMemoryCheckpointer::new());
        let (streamed, followed) =
            (read_tokens(&app(), false).await?, read_tokens(&app(), true).await?);
        let initial = Chat::default();
        let updates: Vec<_> =
            (0..TIMES).map(|_| AnyUpdate::from_json(conversation.clone())).collect();
        let cpu = Cpu::start();
        for update in updates {
            drop(black_box(update.read(&initial)?));
        }
        Ok([streamed, followed, cpu.micros() / TIMES as f64])
    })
}
