//! Another choice, tried in a fork: what came before it is taken from the log, and the thread stays as it was.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use hanok_agent::{Choice, ChoiceEntry, ChoiceKind, ChoiceOption, Choices};
use hanok_core::{BoxError, Timestamp};
use hanok_graph::{Context, END, Graph, START, Snapshot, ThreadKey};
use hanok_state::State;
use hanok_supervisor::{Member, MemberInput, MemberOutput};
use hanok_team::{Team, WhatIf, WhatIfError};
use serde_json::json;

use crate::support::{House, Planner, Work, WorkUpdate, team};

/// A team that chooses among `law` and `market`, `law` by itself, and counts its runs.
fn choosing(name: &'static str, runs: Arc<AtomicU32>) -> Member {
    let node = move |work: Snapshot<Work>, _: Context| {
        runs.fetch_add(1, Ordering::Relaxed);
        async move {
            let chosen = work.task.clone();
            Ok::<WorkUpdate, BoxError>(Work::update().text(Some(format!("{chosen} says so"))))
        }
    };
    let graph = Graph::<Work>::builder(name).node("work", node);
    let graph = graph.edge(START, "work").edge("work", END).build().unwrap();
    let input = |input: MemberInput| {
        let chosen = input.instead.unwrap_or_else(|| vec!["law".to_owned()]);
        Work::update().task(chosen.join("+"))
    };
    let output = move |work: Work| {
        let id = format!("choice of {name}: {}", work.task);
        let choice = Choice::new(id, Timestamp(1), ChoiceKind::Tools, name, "?")
            .options([ChoiceOption::new("law"), ChoiceOption::new("market")])
            .chosen(work.task.split('+'));
        let data = json!({"of": work.task});
        MemberOutput::from(work.text).data(name, data).choices([ChoiceEntry::Made(choice)])
    };
    Member::graph(name, format!("Does the {name}"), graph, input, output)
}

struct Tried {
    house: House,
    search: Arc<AtomicU32>,
    prices: Arc<AtomicU32>,
}

async fn tried() -> Tried {
    let planner = Planner::of(&[
        ("search", "search", &[]),
        ("prices", "prices", &[]),
        ("analysis", "analysis", &["search"]),
        ("letter", "letter", &["search"]),
    ]);
    let (search, prices) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let analysis = team("analysis", |task, _| async move { Ok::<_, BoxError>(task) });
    let letter = team("letter", |task, _| async move { Ok::<_, BoxError>(task) });
    let teams = [
        Team::new(choosing("search", search.clone())),
        Team::new(choosing("prices", prices.clone())),
        Team::new(analysis).needs(["search"]),
        Team::new(letter).needs(["search"]).acts(),
    ];
    let house = House::new(planner, teams);
    house.ask("Help me.").await;
    Tried { house, search, prices }
}

fn fork() -> ThreadKey {
    ThreadKey::named("fork").unwrap()
}

/// B128
#[tokio::test]
async fn other_tools_are_tried_and_the_thread_stays() {
    let Tried { house, search, prices } = tried().await;
    let thread = house.thread();
    let before = thread.state(None).await.unwrap().unwrap();
    let end = thread.history(None, 1).await.unwrap()[0].position;
    let what_if = WhatIf::choose("choice of search: law", ["market"]);
    let compared = house.supervisor.what_if(&thread, &fork(), what_if, ()).await.unwrap();

    assert_eq!(compared.differing, ["letter", "search"]);
    assert_eq!(compared.after.results["search"].text.as_deref(), Some("market says so"));
    assert_eq!(compared.before.results["search"].text.as_deref(), Some("law says so"));
    // What the choice did not touch is what it was, and was not done again.
    assert_eq!(compared.after.results["prices"], compared.before.results["prices"]);
    assert_eq!((search.load(Ordering::Relaxed), prices.load(Ordering::Relaxed)), (2, 1));
    // A what-if only reads.
    let letter = &compared.after.results["letter"];
    assert_eq!(letter.error.as_deref(), Some("a what-if only reads"));
    assert!(compared.after.answer.unwrap().contains("market says so"));
    assert_eq!(house.planner.requests(), ["intent", "plan", "answer", "answer"]);

    assert_eq!(thread.state(None).await.unwrap().unwrap(), before);
    assert_eq!(thread.history(None, 1).await.unwrap()[0].position, end);
    let tried = house.app.thread(fork()).state(None).await.unwrap().unwrap();
    let ids: Vec<_> = Choices::of(&tried.choices).iter().map(|(it, _)| it.id.clone()).collect();
    assert!(ids.contains(&"choice of search: market".to_owned()), "{ids:?}");
    assert!(!ids.contains(&"choice of search: law".to_owned()), "{ids:?}");
}

#[tokio::test]
async fn with_effects_all_teams_work() {
    let Tried { house, .. } = tried().await;
    let what_if = WhatIf::choose("choice of search: law", ["market"]).with_effects();
    let compared = house.supervisor.what_if(&house.thread(), &fork(), what_if, ()).await.unwrap();
    assert_eq!(compared.after.results["letter"].error, None);
}

#[tokio::test]
async fn other_teams_are_tried() {
    let Tried { house, search, prices } = tried().await;
    let state = house.thread().state(None).await.unwrap().unwrap();
    let plan = Choices::of(&state.choices).kind(ChoiceKind::Plan);
    let plan = plan.iter().next().unwrap().0.id.clone();
    let what_if = WhatIf::choose(plan, ["prices"]);
    let compared = house.supervisor.what_if(&house.thread(), &fork(), what_if, ()).await.unwrap();
    assert_eq!(compared.after.results.keys().collect::<Vec<_>>(), ["prices"]);
    assert_eq!(compared.differing, ["analysis", "letter", "search"]);
    assert_eq!((search.load(Ordering::Relaxed), prices.load(Ordering::Relaxed)), (1, 1));
}

#[tokio::test]
async fn what_cannot_be_tried_is_said() {
    let Tried { house, .. } = tried().await;
    let thread = house.thread();
    let state = thread.state(None).await.unwrap().unwrap();
    let intent = Choices::of(&state.choices).kind(ChoiceKind::Intent);
    let intent = intent.iter().next().unwrap().0.id.clone();
    let refused = async |what_if| {
        let tried = house.supervisor.what_if(&thread, &fork(), what_if, ()).await;
        let error: WhatIfError = tried.unwrap_err();
        assert!(house.app.thread(fork()).state(None).await.unwrap().is_none());
        error.to_string()
    };
    assert_eq!(refused(WhatIf::choose("no", ["law"])).await, "the last turn has no choice `no`");
    let cook = WhatIf::choose("choice of search: law", ["cook"]);
    assert_eq!(refused(cook).await, "`cook` was none of the options; there were law, market");
    assert!(refused(WhatIf::choose(intent, ["search"])).await.contains("`intent`"));
}
