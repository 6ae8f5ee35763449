//! Team supervisors under schedules of crashes: no team works twice, and the end is the same.

use hanok_core::{BoxError, Call};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::State;
use hanok_supervisor::{Member, MemberInput, MemberOutput, Team, TeamState, TeamSupervisor};
use hanok_testkit::{Effects, Fault, Simulation, World};

use crate::support::{Planner, Work, WorkUpdate};

/// A team that counts its work in the world, under the key of its call.
fn working(name: &'static str) -> Member<Effects> {
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
    let graph = Graph::<Work, Effects>::builder(name).node("work", work);
    let graph = graph.edge(START, "work").edge("work", END).build().unwrap();
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
    let report = simulation.crash_everywhere(false).unwrap();
    assert!(report.faults[&Fault::Crash] > 60, "{report}");
    simulation.clone().seeds(0..100).run().unwrap();
}
