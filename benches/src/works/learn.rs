//! Long-term memory: what turns taught is taken out of the outbox and folded into records, on disk.

use std::time::Instant;

use hanok_checkpoint::{Consumer, SharedCheckpointer, SharedStore};
use hanok_core::{Tenant, Timestamp};
use hanok_graph::{Context, Durability, END, Graph, START, Snapshot};
use hanok_learning::{
    Actor, Episode, EpisodeReport, Evidence, Learner, Memories, Preference, PreferenceStatement,
    teach,
};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, State};
use tempfile::TempDir;

use super::thread;
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const TURNS: usize = if cfg!(test) { 10 } else { 500 };
/// The pieces of evidence of a turn.
const PIECES: usize = 4;
/// Those who teach.
const USERS: usize = 20;
const TOPIC: &str = "memory";

#[derive(State, Clone, Default)]
struct Turn {
    turn: u64,
}

/// Teaches what the turn is about: three preferences and the answer.
async fn work(state: Snapshot<Turn>, context: Context) -> Result<TurnUpdate> {
    let user = format!("user-{}", state.turn % USERS as u64);
    let said = format!("내 예산은 {}억이야. 마포구에서 전세를 찾고 있어.", state.turn);
    let message = Message::user(&*said).with_id(format!("m{}", state.turn));
    let turn = message.id().unwrap_or_default();
    for (key, value) in [
        ("예산", format!("{}억", state.turn)),
        ("지역", "마포구".to_owned()),
        ("거래", "전세".to_owned()),
    ] {
        let statement = PreferenceStatement::new(key, &value, &said, &message)?;
        let evidence = Evidence::new(&context, key, &user, Actor::User, turn, statement);
        teach::<Preference, _>(&context, TOPIC, &evidence)?;
    }
    let report =
        EpisodeReport::new(&said, "세 곳이 있습니다. 값은 3억 8천만원부터입니다.").team("search");
    let evidence = Evidence::new(&context, "answer", &user, Actor::Automatic, turn, report);
    teach::<Episode, _>(&context, TOPIC, &evidence)?;
    Ok(Turn::update())
}

/// Pieces that are learned in a second of CPU time, and in one of the clock on the wall.
pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let folder = TempDir::new()?;
        let sqlite = Sqlite::open(folder.path().join("threads.db")).await?;
        let threads = SharedCheckpointer::new(sqlite.clone());
        let memories = Memories::new(SharedStore::new(sqlite));
        let memories = memories.kind::<Preference>().kind::<Episode>();
        let consumer = Consumer::new(threads.clone(), "learner", TOPIC);
        let learner = Learner::new(consumer, memories.clone());
        learner.register().await?;
        let graph = Graph::<Turn>::builder("learn").node("work", work);
        let graph = graph.edge(START, "work").edge("work", END).build()?;
        let app = graph.checkpointer(threads).durable(Durability::Exit);
        for turn in 0..TURNS {
            let talk = app.thread(thread(&format!("t{}", turn % 50))?);
            talk.invoke(Turn::update().turn(turn as u64), ()).await?.done()?;
        }
        let (cpu, wall) = (Cpu::start(), Instant::now());
        let drained = learner.drain(Timestamp(1)).await?;
        let (cpu, wall) = (cpu.seconds(), wall.elapsed().as_secs_f64());
        let all = TURNS * PIECES;
        ensure(drained.new == all && drained.refused.is_empty(), "what was learned")?;
        let of_user = memories.of(Tenant::default(), "user-0");
        let records = of_user.all::<Preference>(Timestamp(1)).await?;
        ensure(records.len() == 3, "the records")?;
        Ok([all as f64 / cpu, all as f64 / wall])
    })
}
