//! Many nodes at once.

use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::{List, State};

use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const WIDTH: u32 = 100;
const REPETITIONS: u32 = if cfg!(test) { 5 } else { 100 };

#[derive(State, Clone, Default)]
struct Items {
    #[reduce(append)]
    items: List<u32>,
}

async fn nothing(_: Snapshot<Items>, _: Context) -> Result<()> {
    Ok(())
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let mut graph = Graph::<Items>::builder("fan-out")
        .node("src", nothing)
        .node("join", nothing)
        .edge(START, "src")
        .edge("join", END);
    for i in 0..WIDTH {
        // By name they are in the order of their numbers.
        let name = format!("n{i:03}");
        let item = move |_: Snapshot<Items>, _: Context| async move {
            Result::<_>::Ok(Items::update().push_items(i))
        };
        graph = graph.node(&name, item).edge("src", &name).edge(&name, "join");
    }
    let graph = graph.build()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        for _ in 0..REPETITIONS {
            let state = graph.invoke(Items::update(), ()).await?.done()?;
            ensure(state.items.iter().copied().eq(0..WIDTH), "the items")?;
        }
        Ok([cpu.micros() / f64::from(REPETITIONS)])
    })
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let cpu = Cpu::start();
        for _ in 0..REPETITIONS {
            let tasks: Vec<_> = (0..WIDTH).map(|i| tokio::spawn(async move { i })).collect();
            let mut items = Vec::new();
            for task in tasks {
                items.push(task.await?);
            }
            ensure(items.iter().copied().eq(0..WIDTH), "the items")?;
        }
        Ok([cpu.micros() / f64::from(REPETITIONS)])
    })
}
