//! graph-flow: tasks over a shared map. It has no super-steps and no reducers, and keeps the last state of a session alone.

use std::sync::Arc;

use async_trait::async_trait;
use graph_flow::{
    Context, ExecutionStatus, FlowRunner, Graph, GraphBuilder, InMemorySessionStorage, NextAction,
    Session, SessionStorage, Task, TaskResult, fanout::FanOutTask,
};

use crate::{
    REPETITIONS, Result, STEPS, WIDTH,
    course::Course,
    measure::{Cpu, ensure, medians},
    talk::text,
};

pub(crate) fn run(work: &str, rounds: usize) -> Result<Vec<f64>> {
    match work {
        "loop" => looped(rounds, 1),
        "keys" => looped(rounds, 100),
        "fan-out" => fan_out(rounds),
        "turns" => medians(rounds, async || {
            let [all, _] = turns(50).await?;
            Ok([all])
        }),
        "turns-500" => medians(rounds, async || turns(500).await),
        _ => Ok(Vec::new()),
    }
}

/// Counts, and goes on with itself within one call.
struct Add {
    /// Read once, and then kept by the task's own key.
    key: String,
}

#[async_trait]
impl Task for Add {
    fn id(&self) -> &str {
        "add"
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        let n = context.get::<u64>(&self.key).unwrap_or_default() + 1;
        context.set(self.key.as_str(), n)?;
        let next = if n < STEPS { NextAction::ContinueAndExecute } else { NextAction::End };
        Ok(TaskResult::new(None, next))
    }
}

fn looped(rounds: usize, keys: usize) -> Result<Vec<f64>> {
    let key = format!("k{:02}", keys / 2);
    let graph: Graph = GraphBuilder::new("loop")
        .add_task(Arc::new(Add { key: key.clone() }))
        .add_edge("add", "add")
        .build()?;
    medians(rounds, async || {
        let mut session = Session::new_from_task("s".to_owned(), "add");
        for i in 0..keys {
            session.context.set(format!("k{i:02}"), 0)?;
        }
        let cpu = Cpu::start();
        let ended = graph.execute_session(&mut session).await?;
        let took = cpu.micros();
        ensure(matches!(ended.status, ExecutionStatus::Completed), "the end")?;
        ensure(session.context.get::<u64>(&key) == Some(STEPS), "the count")?;
        Ok([took / STEPS as f64])
    })
}

struct Item {
    id: String,
    item: u64,
}

#[async_trait]
impl Task for Item {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        // There is no reducer: each writes a key of its own.
        context.set(self.id.as_str(), self.item)?;
        Ok(TaskResult::new(None, NextAction::Continue))
    }
}

struct Nothing(&'static str, NextAction);

#[async_trait]
impl Task for Nothing {
    fn id(&self) -> &str {
        self.0
    }

    async fn run(&self, _: Context) -> graph_flow::Result<TaskResult> {
        Ok(TaskResult::new(None, self.1.clone()))
    }
}

fn fan_out(rounds: usize) -> Result<Vec<f64>> {
    let item = |item| Arc::new(Item { id: format!("n{item:03}"), item }) as Arc<dyn Task>;
    let all = FanOutTask::new("all", (0..WIDTH).map(item).collect());
    let graph: Graph = GraphBuilder::new("fan-out")
        .add_task(Arc::new(Nothing("src", NextAction::ContinueAndExecute)))
        .add_task(all.with_next_action(NextAction::ContinueAndExecute))
        .add_task(Arc::new(Nothing("join", NextAction::End)))
        .add_edge("src", "all")
        .add_edge("all", "join")
        .set_start_task("src")
        .build()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        for _ in 0..REPETITIONS {
            let mut session = Session::new_from_task("s".to_owned(), "src");
            graph.execute_session(&mut session).await?;
            let written = (0..WIDTH).all(|i| session.context.get(&format!("n{i:03}")) == Some(i));
            ensure(written, "the items")?;
        }
        Ok([cpu.micros() / f64::from(REPETITIONS)])
    })
}

struct Says {
    id: &'static str,
    course: Course,
}

#[async_trait]
impl Task for Says {
    fn id(&self) -> &str {
        self.id
    }

    async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
        match self.id {
            "model" => context.add_assistant_message(text()),
            _ => context.add_user_message(text()),
        }
        let said = context.chat_history_len();
        self.course.said(said);
        let end = said >= 2 * self.course.turns;
        Ok(TaskResult::new(None, if end { NextAction::End } else { NextAction::Continue }))
    }
}

/// The runner saves the session after every task.
async fn turns(turns: usize) -> Result<[f64; 2]> {
    let course = Course::new(turns);
    let task = |id| Arc::new(Says { id, course: course.clone() });
    let graph = GraphBuilder::new("turns")
        .add_task(task("model"))
        .add_task(task("tool"))
        .add_edge("model", "tool")
        .add_edge("tool", "model")
        .build()?;
    let storage = Arc::new(InMemorySessionStorage::new());
    let runner = FlowRunner::new(Arc::new(graph), storage.clone());
    let session = Session::new_from_task("s".to_owned(), "model");
    storage.save(session).await?;
    course.start();
    while !matches!(runner.run("s").await?.status, ExecutionStatus::Completed) {}
    let figures = course.figures();
    let session = storage.get("s").await?.ok_or("the session is gone")?;
    ensure(session.context.chat_history_len() == 2 * turns, "the messages")?;
    Ok(figures)
}
