//! A decision log as a test: the same inputs to another model, and which choices differ.

use hanok_agent::{ChoiceKind, ChoiceTest, ChosenBy, LeftOut};
use hanok_core::BoxError;
use hanok_graph::Durability;
use hanok_team::Team;
use serde_json::json;

use crate::support::{House, Planner, taking, team};

fn teams() -> Vec<Team> {
    let failing = team("analysis", |_, _| async { Err::<String, BoxError>("no data".into()) });
    vec![Team::new(taking("search", 1)), Team::new(failing), Team::new(taking("prices", 1))]
}

/// Two turns; in each what failed is planned anew.
async fn log() -> House {
    let planner = Planner::of(&[("search", "search", &[]), ("analysis", "analysis", &["search"])])
        .replan(&[("prices", "prices", &[])]);
    let house = House::new(planner, teams());
    house.ask("Help me.").await;
    house.ask("And now?").await;
    house
}

fn listed(test: &ChoiceTest) -> Vec<String> {
    let one = |it: &hanok_agent::ComparedChoice| {
        let chosen = [&it.before, &it.after].map(|it| it.as_ref().map(|it| it.chosen.join("+")));
        format!("{:?} {:?}", it.kind().unwrap(), chosen.map(Option::unwrap_or_default))
    };
    test.compared.iter().map(one).collect()
}

/// B128: all choices of all turns are made again, of what each was made of then, and those that differ are listed with both reasons. No
/// team works, and the thread stays.
#[tokio::test(start_paused = true)]
async fn the_choices_of_a_log_are_made_again_by_another_model() {
    let house = log().await;
    let thread = house.thread();
    let before = (thread.state(None).await.unwrap(), thread.history(None, 1).await.unwrap());
    let requests = house.planner.requests().len();

    // The same model makes the same choices.
    let same = Planner::of(&[("search", "search", &[]), ("analysis", "analysis", &["search"])])
        .replan(&[("prices", "prices", &[])]);
    let same = House::new(same, teams());
    let test = same.supervisor.choose_again(&thread, ()).await.unwrap();
    assert_eq!(
        listed(&test),
        [
            r#"Intent ["help", "help"]"#,
            r#"Plan ["search+analysis", "search+analysis"]"#,
            r#"Replan ["prices", "prices"]"#,
            r#"Intent ["help", "help"]"#,
            r#"Plan ["search+analysis", "search+analysis"]"#,
            r#"Replan ["", ""]"#,
        ]
    );
    assert_eq!((test.differing().count(), &test.left_out[..]), (0, &[][..]));
    assert_eq!(same.planner.requests(), ["intent", "plan", "replan", "intent", "plan", "replan"]);

    // Another one plans without the analysis, and has nothing else to try.
    let other = Planner::of(&[("search", "search", &[])]);
    let other = House::new(other, teams());
    let test = other.supervisor.choose_again(&thread, ()).await.unwrap();
    insta::assert_snapshot!(test, @r#"
    3 of 6 choices differ
    - plan for "Help me.": ["search", "analysis"] by "planner", 0.8: "it takes them"; again: ["search"] by "planner", 0.8: "it takes them"
    - replan for "Help me.": ["prices"] by "planner", 0.8: "it takes them"; again: [] by "planner", 0.8: "it takes them"
    - plan for "And now?": ["search", "analysis"] by "planner", 0.8: "it takes them"; again: ["search"] by "planner", 0.8: "it takes them"
    "#);
    // What each was made of then, and not what there is now.
    let seen = other.planner.request_texts();
    assert!(seen[0].contains("Help me.") && !seen[0].contains("And now?"), "{}", seen[0]);
    assert!(seen[2].contains("no data"), "{}", seen[2]);
    assert!(seen[3].contains("Help me.") && seen[3].contains("And now?"), "{}", seen[3]);

    assert_eq!((thread.state(None).await.unwrap(), thread.history(None, 1).await.unwrap()), before);
    assert_eq!(house.planner.requests().len(), requests);
}

/// B128: a model that finds a question none of the teams' business makes another choice; one that fails makes it by the rule.
#[tokio::test(start_paused = true)]
async fn another_kind_of_choice_is_another_choice() {
    let house = log().await;
    let intent = json!({"intent": "weather", "confidence": 0.4, "in_scope": false, "parts": [], "reason": "no"});
    let other = House::new(Planner::default().intent(intent), teams());
    let test = other.supervisor.choose_again(&house.thread(), ()).await.unwrap();
    let kinds: Vec<_> =
        test.differing().map(|it| (it.kind().unwrap(), it.after.is_some())).collect();
    let turn = [(ChoiceKind::Intent, true), (ChoiceKind::Plan, false), (ChoiceKind::Teams, true)];
    let replan = |after| [(ChoiceKind::Replan, after)];
    assert_eq!(kinds, [&turn[..], &replan(true), &turn[..]].concat());

    let broken = House::new(Planner::default(), teams());
    let test = broken.supervisor.choose_again(&house.thread(), ()).await.unwrap();
    let of_rule = test.compared.iter().filter(|it| {
        it.after.as_ref().is_some_and(|it| matches!(it.by, ChosenBy::Fallback { .. }))
    });
    assert_eq!(of_rule.map(|it| it.kind().unwrap()).collect::<Vec<_>>(), [ChoiceKind::Plan; 2]);
}

/// B128: teams that are described otherwise, and a turn of which the log holds the end alone, are no test, and said.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_asked_again_is_left_out() {
    let house = log().await;
    let fewer =
        House::new(Planner::of(&[("search", "search", &[])]), [Team::new(taking("search", 1))]);
    let test = fewer.supervisor.choose_again(&house.thread(), ()).await.unwrap();
    assert_eq!((test.compared.len(), test.left_out.len()), (0, 6));
    assert!(test.left_out.iter().all(|it| it.reason == LeftOut::OtherInputs), "{test}");

    let house = House::new(Planner::of(&[("search", "search", &[])]), teams());
    let ends = house.thread().durability(Durability::Exit);
    ends.invoke(house.supervisor.ask("Help me."), ()).await.unwrap().done().unwrap();
    let test = house.supervisor.choose_again(&ends, ()).await.unwrap();
    assert_eq!((test.compared.len(), test.left_out.len()), (0, 2), "{test}");
    assert!(test.left_out.iter().all(|it| it.reason == LeftOut::NotHeld), "{test}");
}
