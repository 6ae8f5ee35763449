//! What is wrong with a team supervisor is said at once, and before it runs.

use hanok_agent::ReactAgent;
use hanok_model::ScriptedModel;
use hanok_state::State;
use hanok_supervisor::Member;
use hanok_team::{Team, TeamSupervisor};
use std::time::Duration;

use crate::support::{Planner, Work, done, taking};

fn faults(teams: Vec<Team>) -> String {
    let builder = TeamSupervisor::builder(Planner::default());
    let builder = teams.into_iter().fold(builder, |builder, team| builder.team(team));
    builder.build().unwrap_err().to_string()
}

#[test]
fn every_fault_of_the_teams_is_said() {
    let (long, described) = ("x".repeat(65), "Does things");
    let agent = |name: &str, description: &str| -> Member {
        ReactAgent::builder(name, description, ScriptedModel::new([])).build().unwrap().into()
    };
    let teams = vec![
        Team::new(Member::graph(long, described, done("long"), |_| Work::update(), |_| "")),
        Team::new(agent("search", "")),
        Team::new(taking("search", 1)).needs(["market"]),
        Team::new(taking("a", 1)).needs(["b"]),
        Team::new(taking("b", 1)).takes_if_there(["a"]).timeout(Duration::ZERO),
    ];
    insta::assert_snapshot!(faults(teams));
    insta::assert_snapshot!(faults(Vec::new()), @r"
    the team supervisor cannot be built
    - it has no teams
    ");
}
