//! A turn that a limit ends: what there is until then is an answer that says what is missing, and the turn can go on.

use hanok_core::BoxError;
use hanok_graph::{Budget, Outcome};
use hanok_supervisor::Team;

use crate::support::{House, Planner, ends, taking, team};

/// P17: no call past the budget is made, what is done stays, and a larger budget finishes the turn.
#[tokio::test(start_paused = true)]
async fn what_there_is_at_a_limit_is_an_answer() {
    let planner = Planner::of(&[("search", "search", &[]), ("letter", "letter", &["search"])]);
    let letter = team("letter", |_, cx| async move {
        let call = cx.call("model", "writer", "");
        call.admit(hanok_core::Charge::Model)?;
        Ok::<_, BoxError>("Dear landlord".to_owned())
    });
    let house = House::new(planner, [Team::new(taking("search", 1)), Team::new(letter)]);
    // One for the intent, one for the plan; the letter's is refused.
    let budget = Budget { model_calls: Some(2), ..Budget::default() };
    let thread = house.thread().budget(budget);
    let outcome = thread.invoke(house.supervisor.ask("Help me."), ()).await.unwrap();
    let Outcome::LimitReached { which, state } = outcome else { panic!("{outcome:?}") };
    assert_eq!(which.to_string(), "2 model calls");
    let so_far = house.supervisor.so_far(&state, &thread.views(None).await.unwrap());
    assert_eq!(so_far, "search did \"do search\"\n\nNot done (letter): do letter");

    let more = Budget { model_calls: Some(9), ..Budget::default() };
    let state = house.thread().budget(more).resume(()).await.unwrap().done().unwrap();
    assert_eq!(
        ends(&state),
        [
            "letter Completed: Dear landlord after search",
            "search Completed: search did \"do search\"",
        ]
    );
}
