//! A team begins when the last of what it needs has ended, not when a wave did.

use std::time::Duration;

use hanok_team::{Strategy, Team};
use tokio::time::Instant;

use crate::support::{House, Planner, ends, taking};

/// The seconds that a turn takes.
async fn seconds(planner: Planner, teams: Vec<Team>) -> (u64, Vec<String>, Strategy) {
    let house = House::new(planner, teams);
    let before = Instant::now();
    let state = house.ask("Help me.").await;
    (before.elapsed().as_secs(), ends(&state), state.plan.unwrap().strategy)
}

#[tokio::test(start_paused = true)]
async fn four_searches_take_the_time_of_one() {
    let planner =
        Planner::of(&[("a", "a", &[]), ("b", "b", &[]), ("c", "c", &[]), ("d", "d", &[])]);
    let teams = ["a", "b", "c", "d"].map(|name| Team::new(taking(name, 1)));
    let (took, ends, strategy) = seconds(planner, teams.into()).await;
    assert_eq!((took, ends.len(), strategy), (1, 4, Strategy::Parallel));
}

#[tokio::test(start_paused = true)]
async fn three_that_need_each_other_take_the_time_of_three() {
    let planner = Planner::of(&[
        ("search", "search", &[]),
        ("analysis", "analysis", &["search"]),
        ("document", "document", &["analysis"]),
    ]);
    let teams = vec![
        Team::new(taking("search", 1)),
        Team::new(taking("analysis", 1)).needs(["search"]),
        Team::new(taking("document", 1)).needs(["analysis"]),
    ];
    let (took, ends, strategy) = seconds(planner, teams).await;
    assert_eq!((took, strategy), (3, Strategy::Sequential));
    assert_eq!(
        ends,
        [
            "analysis Completed: analysis did \"do analysis\" after search",
            "document Completed: document did \"do document\" after analysis",
            "search Completed: search did \"do search\"",
        ]
    );
}

/// B124: neither waits for the slow search but the one that needs it: each begins by the end of its own needs.
#[tokio::test(start_paused = true)]
async fn a_team_does_not_wait_for_one_that_it_does_not_need() {
    let planner = Planner::of(&[
        ("slow", "slow", &[]),
        ("quick", "quick", &[]),
        ("analysis", "analysis", &["slow"]),
        ("document", "document", &["quick"]),
    ]);
    let teams = vec![
        Team::new(taking("slow", 10)),
        Team::new(taking("quick", 1)),
        Team::new(taking("analysis", 1)),
        Team::new(taking("document", 1)),
    ];
    let house = House::new(planner, teams);
    let begin = Instant::now();
    let (events, state) = house.watch("Help me.").await;
    assert_eq!(begin.elapsed(), Duration::from_secs(11));
    assert_eq!(state.plan.unwrap().strategy, Strategy::Pipeline);
    let finished: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            hanok_team::TeamEvent::TeamFinished { team, .. } => Some(team.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(finished, ["quick", "document", "slow", "analysis"]);
}

/// What a team takes if it is there is waited for where the plan has it, and only there.
#[tokio::test(start_paused = true)]
async fn what_is_taken_if_it_is_there_is_waited_for() {
    let teams = || {
        vec![
            Team::new(taking("search", 2)),
            Team::new(taking("document", 1)).takes_if_there(["search"]),
        ]
    };
    let both = Planner::of(&[("document", "document", &[]), ("search", "search", &[])]);
    let (took, ends, _) = seconds(both, teams()).await;
    assert_eq!(took, 3);
    assert_eq!(ends[0], "document Completed: document did \"do document\" after search");
    let alone = Planner::of(&[("document", "document", &[])]);
    assert_eq!(seconds(alone, teams()).await.0, 1);
    // Where they would wait for each other, the need holds.
    let crossed =
        Planner::of(&[("document", "document", &[]), ("search", "search", &["document"])]);
    let (took, ends, _) = seconds(crossed, teams()).await;
    assert_eq!((took, ends.len()), (3, 2));
}
