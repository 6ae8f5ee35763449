//! Team supervisors under schedules of crashes: no team works twice, and the end is the same.

use std::time::Duration;

use hanok_core::{BoxError, Call, Charge, Spent};
use hanok_graph::{Budget, Context, END, Graph, START, Snapshot};
use hanok_simulation::{Effects, Fault, Faults, Simulation, World};
use hanok_state::State;
use hanok_supervisor::{Member, MemberInput, MemberOutput};
use hanok_team::{Team, TeamState, TeamSupervisor};
use hanok_testkit::{is_full, stretch};

use crate::support::{Planner, Work, WorkUpdate};

/// A team that counts its work in the world, under the key of its call.
fn working(name: &'static str) -> Member<Effects> {
    doing(name, false)
}

/// A team that does so, and asks a model before if it `asks`.
fn doing(name: &'static str, asks: bool) -> Member<Effects> {
    async fn ask(_: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
        let call = cx.call("model", "writer", "");
        let ask = || async {
            call.admit(Charge::Model)?;
            call.spend().add(Spent { model_calls: 1, ..Spent::default() });
            Ok::<_, BoxError>(())
        };
        cx.step("ask", ask).await?;
        Ok(Work::update())
    }
    async fn work(state: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
        cx.services().started(&cx);
        let effects = cx.services().clone();
        let text = format!("{} after {}", state.task, state.results.join("+"));
        let arguments = text.clone();
        let made = cx.once("work", &arguments, hanok_graph::Doubt::Ask, |call: Call| async move {
            effects.made(call.key().as_str(), &text);
            Ok::<_, BoxError>(text)
        });
        let made = made.await?;
        Ok(Work::update().text(Some(made)))
    }
    let graph = Graph::<Work, Effects>::builder(name).node("ask", ask).node("work", work);
    let graph = graph.edge(START, if asks { "ask" } else { "work" }).edge("ask", "work");
    let allowed = hanok_graph::NodeSettings::new().allow(hanok_graph::Lint::Unreachable);
    let graph = graph.configure("ask", allowed).edge("work", END).build().unwrap();
    let input = |input: MemberInput| {
        Work::update().task(input.text()).results(input.results.keys().cloned().collect::<Vec<_>>())
    };
    Member::graph(name, "Works", graph, input, |work: Work| MemberOutput::from(work.text))
}

fn supervisor(world: &World) -> Result<TeamSupervisor<Effects>, BoxError> {
    let planner = Planner::of(&[
        ("search", "search", &[]),
        ("market", "market", &[]),
        ("analysis", "analysis", &["search"]),
        ("document", "document", &["market", "analysis"]),
    ]);
    let teams = ["search", "market", "analysis", "document"];
    let builder = TeamSupervisor::builder(planner).runtime(world.runtime());
    let builder =
        teams.iter().fold(builder, |builder, name| builder.team(Team::new(working(name))));
    Ok(builder.build()?)
}

fn simulation() -> Simulation<TeamState, Effects> {
    let question = TeamSupervisor::<Effects>::builder(Planner::default());
    let question = question.team(working("search")).build().unwrap();
    Simulation::of(|world| Ok((supervisor(world)?.graph().clone(), world.effects())))
        .input(question.ask("Help me."))
        .input(question.ask("And now?"))
        .view(|state: &TeamState| {
            let ends = state.team_results.iter();
            let ends: Vec<_> = ends.map(|(id, end)| format!("{id}={:?}", end.text)).collect();
            format!("{} {} {}", state.messages.len(), ends.join(" "), state.choices.len())
        })
}

/// B114, B124: wherever the process dies, once and twice, the turn ends as it would have, and no call is made twice.
#[test]
fn a_plan_goes_on_wherever_the_process_dies() {
    let simulation = simulation();
    let end = simulation.quiet_end(0).unwrap();
    assert_eq!(
        end,
        "4 analysis=Some(\"do analysis after search\") document=Some(\"do document after analysis+market\") \
         market=Some(\"do market after \") search=Some(\"do search after \") 2"
    );
    crashed(&simulation, 60);
}

/// Dies at every append; twice in a row at a sample of pairs, and at all of them where there is time; and under other faults.
fn crashed(simulation: &Simulation<TeamState, Effects>, least: u64) {
    let (is_full, twice) = (is_full(), Faults::none().with(Fault::Crash).most(2));
    let report = simulation.crash_everywhere(is_full).unwrap();
    assert!(report.faults[&Fault::Crash] > least, "{report}");
    let report = simulation.clone().faults(twice).seeds(stretch(0..60)).run().unwrap();
    assert!(report.faults[&Fault::Crash] > if is_full { 30 } else { 1 }, "{report}");
    simulation.clone().seeds(if is_full { 0..10_000 } else { stretch(0..50) }).run().unwrap();
}

/// Supervisors whose second team asks a model, with this many calls in a turn.
fn limited(model_calls: u64) -> Simulation<TeamState, Effects> {
    let teams = [("search", false), ("market", true), ("analysis", true), ("document", false)];
    let build = move |world: &World| {
        let planner = Planner::of(&[
            ("search", "search", &[]),
            ("market", "market", &["search"]),
            ("analysis", "analysis", &["market"]),
            ("document", "document", &["analysis"]),
        ]);
        let builder = TeamSupervisor::builder(planner).runtime(world.runtime());
        let add = |builder: hanok_team::TeamSupervisorBuilder<Effects>, (name, asks)| {
            builder.team(Team::new(doing(name, asks)))
        };
        let supervisor = teams.into_iter().fold(builder, add).build()?;
        Ok((supervisor.graph().clone(), world.effects()))
    };
    let question = TeamSupervisor::<Effects>::builder(Planner::default());
    let question = question.team(working("search")).build().unwrap();
    let budget = Budget { model_calls: Some(model_calls), ..Budget::default() };
    Simulation::of(build)
        .input(question.ask("Help me."))
        .input(question.ask("And now?"))
        .handle(move |thread| thread.budget(budget))
        .view(|state: &TeamState| {
            let ends = state.team_results.iter();
            let ends: Vec<_> = ends.map(|(id, end)| format!("{id} {:?}", end.status)).collect();
            format!(
                "{} {:?} {} {:?}",
                state.messages.len(),
                state.limit,
                ends.join(" "),
                state.answer
            )
        })
}

/// P17, B129: a turn that reaches its limit ends as it would have wherever the process dies, and spends nothing past it.
#[test]
fn a_turn_at_a_limit_ends_the_same_wherever_the_process_dies() {
    for (calls, ends) in [
        (1, "There is no result to answer with."),
        (2, "analysis Skipped document Skipped market Failed search Completed"),
        (3, "analysis Failed document Skipped market Completed search Completed"),
        (4, "analysis Completed document Completed market Completed search Completed"),
    ] {
        let simulation = limited(calls);
        let end = simulation.quiet_end(0).unwrap();
        assert!(end.starts_with("4 Some("), "{end}");
        assert!(end.contains(ends), "{end}");
        // The limits inside of the plan say most.
        match (calls, is_full()) {
            (2, false) | (_, true) => crashed(&simulation, 20),
            _ => drop(simulation.seeds(stretch(0..10)).run().unwrap()),
        }
    }
}

/// P4: a payment that outlives the time of its team is asked about wherever the process dies: nothing is planned in its place, and
/// nothing is paid twice without a word.
#[test]
fn a_payment_that_outlives_its_team_is_asked_about_wherever_the_process_dies() {
    async fn pay(_: Snapshot<Work>, cx: Context<Effects>) -> Result<WorkUpdate, BoxError> {
        cx.services().started(&cx);
        let (effects, runtime) = (cx.services().clone(), cx.runtime().clone());
        let pay = |call: Call| async move {
            let wait = |bits: u64| runtime.clock.sleep(Duration::from_millis(bits & 31));
            wait(runtime.rng.bits()).await;
            effects.made(call.key().as_str(), &"paid");
            wait(runtime.rng.bits()).await;
            Ok::<_, BoxError>("paid".to_owned())
        };
        let paid = cx.once("pay", "{}", hanok_graph::Doubt::Ask, pay).await?;
        Ok(Work::update().text(Some(paid)))
    }
    let member = || {
        let graph = Graph::<Work, Effects>::builder("pay").node("pay", pay);
        let graph = graph.edge(START, "pay").edge("pay", END).build().unwrap();
        let input = |input: MemberInput| Work::update().task(input.text());
        Member::graph("pay", "Pays", graph, input, |work: Work| MemberOutput::from(work.text))
    };
    let team = move || Team::new(member()).timeout(Duration::from_millis(24));
    let simulation = Simulation::of(move |world| {
        let planner = Planner::of(&[("pay", "pay", &[])]).replan(&[("again", "pay", &[])]);
        let supervisor = TeamSupervisor::builder(planner).runtime(world.runtime()).team(team());
        Ok((supervisor.build()?.graph().clone(), world.effects()))
    });
    let question = TeamSupervisor::<Effects>::builder(Planner::default()).team(team());
    let question = question.build().unwrap();
    let simulation = simulation.input(question.ask("Pay.")).any_end();
    simulation.seeds(stretch(0..200)).run().unwrap();
}
