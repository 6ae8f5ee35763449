//! A build whose state is another one.

use hanok_graph::{Doubt, Durability, END, Graph, GraphBuilder, START, Snapshot};
use hanok_simulation::{Effects, Simulation, World};
use hanok_state::{List, Map, State};

use super::{Builder, Scenario, answer, of};
use crate::nodes::{Cx, Part, Ran, S, answered, begin, paid, says, three};

/// The state of all scenarios in version 1.
#[derive(State, Debug, Clone, Default, PartialEq)]
struct Old {
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    map: Map<String, String>,
    number: u32,
    euros: u64,
    #[reduce(nested)]
    part: OldPart,
}

/// The state of all scenarios in its newest version, with a part in version 1.
#[derive(State, Debug, Clone, Default, PartialEq)]
#[state(version = 2)]
struct Middle {
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    map: Map<String, String>,
    n: u32,
    cents: u64,
    #[reduce(nested)]
    part: OldPart,
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct OldPart {
    #[reduce(append)]
    facts: List<String>,
    count: u32,
}

type OldRan = Result<OldUpdate, hanok_graph::BoxError>;
type MiddleRan = Result<MiddleUpdate, hanok_graph::BoxError>;

pub(super) fn all() -> Vec<Scenario> {
    vec![
        of("a deploy", deployed(|it| it)),
        of("a deploy of a part", of_a_part()),
        of("a deploy, stored a little later", deployed(|it| it.durable(Durability::Async))),
        of("a deploy, stored at the end", deployed(|it| it.durable(Durability::Exit))),
    ]
}

/// Three turns, with a deploy in the second.
fn deployed(
    set: fn(Simulation<Old, Effects>) -> Simulation<Old, Effects>,
) -> Simulation<S, Effects> {
    let old = |world: &World| {
        let graph = shape(
            Graph::builder("deployed")
                .node("price", old_price)
                .node("ask", old_ask)
                .node("steps", old_steps)
                .node("pay", old_pay)
                .node("z", old_z),
        );
        Ok((graph.runtime(world.runtime()).retry_budget(u32::MAX).build()?, world.effects()))
    };
    let new = |world: &World| {
        let graph: Builder = Graph::builder("deployed");
        let graph = shape(
            graph
                .node("price", price)
                .node("ask", ask)
                .node("steps", steps)
                .node("pay", pay)
                .node("z", z),
        );
        Ok((graph.runtime(world.runtime()).retry_budget(u32::MAX).build()?, world.effects()))
    };
    let old = set(Simulation::of(old).answer(answer)).input(Old::update().push_log("one"));
    old.deploy(new).input(says("two")).input(says("three"))
}

/// Three turns, with a deploy in the second, of a build in which only the state within is another one.
fn of_a_part() -> Simulation<S, Effects> {
    let middle = |world: &World| {
        let graph = Graph::builder("deployed");
        let graph = graph.node("steps", middle_steps).node("ask", middle_ask);
        let graph = parts(graph.node("z", middle_z)).runtime(world.runtime());
        Ok((graph.retry_budget(u32::MAX).build()?, world.effects()))
    };
    let new = |world: &World| {
        let graph: Builder = Graph::builder("deployed");
        let graph = graph.node("steps", steps).node("ask", ask);
        let graph = parts(graph.node("z", z)).runtime(world.runtime());
        Ok((graph.retry_budget(u32::MAX).build()?, world.effects()))
    };
    let middle = Simulation::of(middle).answer(answer);
    let middle = middle.input(Middle::update().push_log("one"));
    middle.deploy(new).input(says("two")).input(says("three"))
}

fn parts<T: State>(graph: GraphBuilder<T, Effects>) -> GraphBuilder<T, Effects> {
    let graph = graph.edge(START, "ask").edge(START, "steps");
    graph.join(["ask", "steps"], "z").edge("z", END)
}

fn shape<T: State>(graph: GraphBuilder<T, Effects>) -> GraphBuilder<T, Effects> {
    let graph = graph.edge(START, "price").edge(START, "ask").edge(START, "steps");
    let graph = graph.edge(START, "pay");
    graph.join(["price", "ask", "steps", "pay"], "z").edge("z", END)
}

/// The price is another one in each turn.
async fn old_price(state: Snapshot<Old>, cx: Cx) -> OldRan {
    begin(&cx).await;
    Ok(Old::update().push_log("price").euros(u64::from(state.number) + 3))
}

async fn price(state: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    Ok(says("price").cents(100 * (u64::from(state.n) + 3)))
}

async fn old_ask(_: Snapshot<Old>, cx: Cx) -> OldRan {
    let said = answered(&cx).await?;
    Ok(Old::update().insert_map("said", said.clone()).push_log(said))
}

async fn ask(_: Snapshot<S>, cx: Cx) -> Ran {
    let said = answered(&cx).await?;
    Ok(says(said.clone()).insert_map("said", said))
}

async fn old_steps(_: Snapshot<Old>, cx: Cx) -> OldRan {
    Ok(Old::update().part(OldPart::update().facts(three(&cx).await?).count(7u32)))
}

async fn steps(_: Snapshot<S>, cx: Cx) -> Ran {
    Ok(S::update().part(Part::update().known(three(&cx).await?).count("7")))
}

async fn old_pay(_: Snapshot<Old>, cx: Cx) -> OldRan {
    Ok(Old::update().push_log(paid(&cx, Doubt::Ask).await?))
}

async fn pay(_: Snapshot<S>, cx: Cx) -> Ran {
    Ok(says(paid(&cx, Doubt::Ask).await?))
}

async fn old_z(state: Snapshot<Old>, cx: Cx) -> OldRan {
    begin(&cx).await;
    let seen = format!("{} {} {}", state.log.len(), state.part.facts.len(), state.euros * 100);
    Ok(Old::update().push_log(seen).number(state.number + 1))
}

async fn z(state: Snapshot<S>, cx: Cx) -> Ran {
    begin(&cx).await;
    let seen = format!("{} {} {}", state.log.len(), state.part.known.len(), state.cents);
    Ok(says(seen).n(state.n + 1))
}

async fn middle_ask(_: Snapshot<Middle>, cx: Cx) -> MiddleRan {
    let said = answered(&cx).await?;
    Ok(Middle::update().insert_map("said", said.clone()).push_log(said))
}

async fn middle_steps(_: Snapshot<Middle>, cx: Cx) -> MiddleRan {
    Ok(Middle::update().part(OldPart::update().facts(three(&cx).await?).count(7u32)))
}

async fn middle_z(state: Snapshot<Middle>, cx: Cx) -> MiddleRan {
    begin(&cx).await;
    let seen = format!("{} {} {}", state.log.len(), state.part.facts.len(), state.cents);
    Ok(Middle::update().push_log(seen).n(state.n + 1))
}
