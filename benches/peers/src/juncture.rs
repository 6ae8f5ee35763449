//! juncture: typed states, at most 64 fields. States are kept by `execute_with_emitter` alone.

use std::sync::Arc;

use juncture_checkpoint::{MemorySaver, SqliteSaver};
use juncture_core::{
    CompiledGraph, RunnableConfig, StateGraph, StreamMode, checkpoint::CheckpointSaver,
    edge::PathMap, node::NodeFnUpdate, stream::EventEmitter,
};
use juncture_derive::State;
use serde::{Deserialize, Serialize};

use crate::{
    REPETITIONS, Result, STEPS, WIDTH,
    course::Course,
    measure::{Cpu, ensure, medians},
    talk::{megabytes, text},
};

pub(crate) fn run(work: &str, rounds: usize) -> Result<Vec<f64>> {
    match work {
        "loop" => looped(rounds),
        "fan-out" => fan_out(rounds),
        "turns" => medians(rounds, async || {
            let [all, _] = turns(&Course::new(50), Arc::new(MemorySaver::new())).await?;
            Ok([all])
        }),
        "turns-500" => {
            medians(rounds, async || turns(&Course::new(500), Arc::new(MemorySaver::new())).await)
        }
        "turns-sqlite" => medians(rounds, async || {
            let folder = tempfile::TempDir::new()?;
            let file = folder.path().join("threads.db");
            let url = format!("sqlite://{}?mode=rwc", file.display());
            let saver = SqliteSaver::from_connection_string(&url).await?;
            let [all, _] = turns(&Course::new(500), Arc::new(saver)).await?;
            Ok([all, megabytes(&file)?])
        }),
        _ => Ok(Vec::new()),
    }
}

fn config() -> RunnableConfig {
    RunnableConfig { recursion_limit: usize::MAX, ..RunnableConfig::new() }
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Count {
    n: u64,
}

fn next(state: &Count) -> &str {
    if state.n < STEPS { "add" } else { "__end__" }
}

fn looped(rounds: usize) -> Result<Vec<f64>> {
    let mut graph = StateGraph::<Count>::new();
    graph.add_node_simple(
        "add",
        NodeFnUpdate(|state: &Count| {
            let n = state.n + 1;
            async move { Ok(CountUpdate { n: Some(n) }) }
        }),
    )?;
    graph.set_entry_point("add");
    let ways = PathMap::from(&[("add", "add"), ("__end__", "__end__")]);
    graph.add_conditional_edges("add", Arc::new(next), ways);
    let graph: CompiledGraph<Count> = graph.compile()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        let came = graph.invoke_async(Count::default(), &config()).await?;
        let took = cpu.micros();
        ensure(came.value.n == STEPS, "the count")?;
        Ok([took / STEPS as f64])
    })
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Items {
    #[reducer(append)]
    items: Vec<u64>,
}

fn fan_out(rounds: usize) -> Result<Vec<f64>> {
    let mut graph = StateGraph::<Items>::new();
    for name in ["src", "join"] {
        let nothing = |_: &Items| async { Ok(ItemsUpdate { items: None }) };
        graph.add_node_simple(name, NodeFnUpdate(nothing))?;
    }
    graph.set_entry_point("src");
    for i in 0..WIDTH {
        let name = format!("n{i:03}");
        let item = move |_: &Items| async move { Ok(ItemsUpdate { items: Some(vec![i]) }) };
        graph.add_node_simple(&name, NodeFnUpdate(item))?;
        graph.add_edge("src", &name);
        graph.add_edge(&name, "join");
    }
    graph.set_finish_point("join");
    let graph: CompiledGraph<Items> = graph.compile()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        for _ in 0..REPETITIONS {
            let came = graph.invoke_async(Items::default(), &config()).await?;
            ensure(came.value.items.len() as u64 == WIDTH, "the items")?;
        }
        Ok([cpu.micros() / f64::from(REPETITIONS)])
    })
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Talk {
    #[reducer(append)]
    messages: Vec<Message>,
    turns: usize,
}

fn go_on(state: &Talk) -> &str {
    if state.messages.len() < 2 * state.turns { "model" } else { "__end__" }
}

async fn turns(course: &Course, saver: Arc<dyn CheckpointSaver>) -> Result<[f64; 2]> {
    let mut graph = StateGraph::<Talk>::new();
    for (name, role) in [("model", "assistant"), ("tool", "user")] {
        let course = course.clone();
        let says = move |state: &Talk| {
            course.said(state.messages.len() + 1);
            let message = Message { role: role.to_owned(), content: text() };
            async move { Ok(TalkUpdate { messages: Some(vec![message]), turns: None }) }
        };
        graph.add_node_simple(name, NodeFnUpdate(says))?;
    }
    graph.set_entry_point("model");
    graph.add_edge("model", "tool");
    let ways = PathMap::from(&[("model", "model"), ("__end__", "__end__")]);
    graph.add_conditional_edges("tool", Arc::new(go_on), ways);
    let graph: CompiledGraph<Talk> = graph.compile_with_checkpointer(Some(saver))?;
    let input = Talk { turns: course.turns, ..Talk::default() };
    // Without an id of a checkpoint its first step fails.
    let config = RunnableConfig {
        thread_id: Some("t".to_owned()),
        checkpoint_id: Some("0".to_owned()),
        ..config()
    };
    let (send, mut events) = tokio::sync::mpsc::channel(256);
    let reading = tokio::spawn(async move { while events.recv().await.is_some() {} });
    course.start();
    let emitter = EventEmitter::new(send, StreamMode::Updates);
    let state = graph.execute_with_emitter(input, &config, emitter).await?;
    let figures = course.figures();
    ensure(state.messages.len() == 2 * course.turns, "the messages")?;
    reading.await?;
    Ok(figures)
}
