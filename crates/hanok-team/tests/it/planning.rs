//! The model proposes, and code disposes.

use hanok_agent::Choices;
use hanok_team::Team;
use serde_json::json;

use crate::support::{House, Planner, taking};

fn teams() -> [Team; 3] {
    [
        Team::new(taking("search", 0)),
        Team::new(taking("analysis", 0)).needs(["search"]),
        Team::new(taking("document", 0)).asks(),
    ]
}

/// The steps of a plan, and whether a rule made it.
fn steps(state: &hanok_team::TeamState) -> (Vec<String>, bool) {
    let plan = state.plan.as_ref().unwrap();
    let steps = plan
        .steps
        .iter()
        .map(|step| format!("{} of {} after {:?}", step.id, step.team, step.needs));
    (steps.collect(), plan.by_rules)
}

/// B125, P45
#[tokio::test]
async fn a_plan_that_does_not_hold_goes_back_once() {
    let planner = Planner::of(&[("analysis", "analysis", &[]), ("cook", "cook", &["x"])])
        .plan(&[("search", "search", &[]), ("analysis", "analysis", &["search"])]);
    let house = House::new(planner, teams());
    let state = house.ask("Help me.").await;
    assert_eq!(house.planner.requests(), ["intent", "plan", "plan", "answer"]);
    assert_eq!(
        steps(&state),
        (
            vec![
                "search of search after []".to_owned(),
                "analysis of analysis after [\"search\"]".into()
            ],
            false
        )
    );
    insta::assert_debug_snapshot!(state.plan.unwrap().validation_errors);
}

/// The planner looks at the limit of each of its requests.
#[tokio::test]
async fn no_reply_is_endless() {
    let planner = Planner::of(&[("search", "search", &[])]).limited(300);
    let house = House::with(planner, teams(), |builder| builder.max_tokens(300));
    house.ask("Help me.").await;
    assert_eq!(house.planner.requests(), ["intent", "plan", "answer"]);
}

/// Then a rule plans: the teams whose descriptions fit, and what they need; a fallback in the log, with the confidence of one.
#[tokio::test]
async fn a_model_that_cannot_plan_is_replaced_by_a_rule() {
    let planner = Planner::of(&[("cook", "cook", &[])]);
    let house = House::new(planner, teams());
    let state = house.ask("I want the analysis of it").await;
    assert_eq!(
        steps(&state).0,
        ["search of search after []", "analysis of analysis after [\"search\"]"]
    );
    assert!(steps(&state).1);
    let lines: Vec<_> = Choices::of(&state.choices)
        .iter()
        .map(|(choice, _)| {
            format!("{:?} {:?} {} {:?}", choice.kind, choice.chosen, choice.confidence, choice.by)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    // Words that fit nobody lead to nobody.
    let state = house.ask("과연 그럴까").await;
    assert_eq!(steps(&state).0, [""; 0]);
    assert!(state.answer.is_some());
}

#[tokio::test]
async fn a_question_that_is_nobodys_business_starts_nobody() {
    let intent = json!({"intent": "weather", "confidence": 0.9, "in_scope": false, "parts": [], "reason": "no team knows it"});
    let house = House::new(Planner::default().intent(intent), teams());
    let state = house.ask("Will it rain?").await;
    assert_eq!(house.planner.requests(), ["intent", "answer"]);
    assert_eq!(state.team_results.len(), 0);
    insta::assert_snapshot!(state.answer.unwrap());
}

/// The parts of a compound question, and the words that none of them covers: said in the answer.
#[tokio::test]
async fn what_no_part_covers_is_said() {
    let parts = ["May the rent rise", "what do others pay"];
    let intent = json!({"intent": "rent", "confidence": 0.9, "in_scope": true, "parts": parts, "reason": ""});
    let planner = Planner::of(&[("search", "search", &[])]).intent(intent);
    let house = House::new(planner, teams());
    let state = house.ask("May the rent rise, and what do others pay nearby?").await;
    assert_eq!(state.plan.as_ref().unwrap().uncovered, ["nearby"]);
    assert!(state.answer.unwrap().contains("Words of the question that no part covers: nearby"));
}

/// Only the messages outlive a turn.
#[tokio::test]
async fn a_turn_begins_anew() {
    let house = House::new(Planner::of(&[("search", "search", &[])]), teams());
    house.ask("One?").await;
    let state = house.ask("Two?").await;
    assert_eq!(state.messages.len(), 4);
    assert_eq!((state.team_results.len(), state.choices.len()), (1, 2));
}
