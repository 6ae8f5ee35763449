//! adk-graph: a state of JSON values by channel.

use adk_graph::{
    END, MemoryCheckpointer, START,
    checkpoint::{Checkpointer, SqliteCheckpointer},
    graph::{CompiledGraph, StateGraph},
    node::{ExecutionConfig, NodeContext, NodeOutput},
    state::{State, StateSchema},
};
use serde_json::{Value, json};

use crate::{
    REPETITIONS, Result, STEPS, WIDTH,
    course::Course,
    measure::{Cpu, ensure, medians},
    talk::{megabytes, text},
};

pub(crate) fn run(work: &str, rounds: usize) -> Result<Vec<f64>> {
    match work {
        "loop" => looped(rounds, &["n"], "n"),
        "keys" => {
            let keys: Vec<String> = (0..100).map(|i| format!("k{i:02}")).collect();
            looped(rounds, &keys.iter().map(String::as_str).collect::<Vec<_>>(), "k50")
        }
        "fan-out" => fan_out(rounds),
        "turns" => medians(rounds, async || {
            let [all, _] = turns(&Course::new(50), MemoryCheckpointer::new()).await?;
            Ok([all])
        }),
        "turns-500" => {
            medians(rounds, async || turns(&Course::new(500), MemoryCheckpointer::new()).await)
        }
        "turns-sqlite" => medians(rounds, async || {
            let folder = tempfile::TempDir::new()?;
            let file = folder.path().join("threads.db");
            let url = format!("sqlite://{}?mode=rwc", file.display());
            let [all, _] = turns(&Course::new(500), SqliteCheckpointer::new(&url).await?).await?;
            Ok([all, megabytes(&file)?])
        }),
        _ => Ok(Vec::new()),
    }
}

fn config() -> ExecutionConfig {
    ExecutionConfig::new("t").with_recursion_limit(usize::MAX)
}

fn number(state: &State, key: &str) -> u64 {
    state.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// One node that counts one of the channels.
fn looped(rounds: usize, channels: &[&str], key: &'static str) -> Result<Vec<f64>> {
    let graph = StateGraph::new(StateSchema::simple(channels))
        .add_node_fn("add", move |context: NodeContext| async move {
            Ok(NodeOutput::new().with_update(key, json!(number(&context.state, key) + 1)))
        })
        .add_edge(START, "add")
        .add_conditional_edges(
            "add",
            move |state| if number(state, key) < STEPS { "add" } else { END }.to_owned(),
            [("add", "add"), (END, END)],
        )
        .compile()?
        .with_recursion_limit(usize::MAX);
    let input: State = channels.iter().map(|key| ((*key).to_owned(), json!(0))).collect();
    medians(rounds, async || {
        let (input, cpu) = (input.clone(), Cpu::start());
        let state = graph.invoke(input, config()).await?;
        let took = cpu.micros();
        ensure(number(&state, key) == STEPS, "the count")?;
        Ok([took / STEPS as f64])
    })
}

fn fan_out(rounds: usize) -> Result<Vec<f64>> {
    let nothing = |_: NodeContext| async { Ok(NodeOutput::new()) };
    let schema = StateSchema::builder().list_channel("items").build();
    let mut graph = StateGraph::new(schema)
        .add_node_fn("src", nothing)
        .add_node_fn("join", nothing)
        .add_edge(START, "src")
        .add_edge("join", END);
    for i in 0..WIDTH {
        let name = format!("n{i:03}");
        let item = move |_: NodeContext| async move {
            Ok(NodeOutput::new().with_update("items", json!([i])))
        };
        graph = graph.add_node_fn(&name, item).add_edge("src", &name).add_edge(&name, "join");
    }
    let graph = graph.compile()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        for _ in 0..REPETITIONS {
            let state = graph.invoke(State::new(), config()).await?;
            let items = state.get("items").and_then(Value::as_array).map_or(0, Vec::len);
            ensure(items as u64 == WIDTH, "the items")?;
        }
        Ok([cpu.micros() / f64::from(REPETITIONS)])
    })
}

fn count(state: &State) -> usize {
    state.get("messages").and_then(Value::as_array).map_or(0, Vec::len)
}

async fn turns(course: &Course, store: impl Checkpointer + 'static) -> Result<[f64; 2]> {
    let says = |role: &'static str, course: &Course| {
        let course = course.clone();
        move |context: NodeContext| {
            course.said(count(&context.state) + 1);
            let message = json!([{ "role": role, "content": text() }]);
            async move { Ok(NodeOutput::new().with_update("messages", message)) }
        }
    };
    let last = 2 * course.turns;
    let graph: CompiledGraph =
        StateGraph::new(StateSchema::builder().list_channel("messages").build())
            .add_node_fn("model", says("assistant", course))
            .add_node_fn("tool", says("user", course))
            .add_edge(START, "model")
            .add_edge("model", "tool")
            .add_conditional_edges(
                "tool",
                move |state| if count(state) < last { "model" } else { END }.to_owned(),
                [("model", "model"), (END, END)],
            )
            .compile()?
            .with_recursion_limit(usize::MAX)
            .with_checkpointer(store);
    course.start();
    let state = graph.invoke(State::new(), config()).await?;
    let figures = course.figures();
    ensure(count(&state) == last, "the messages")?;
    Ok(figures)
}
