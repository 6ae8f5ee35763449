//! A turn that reaches a limit ends with what there is, in the thread, and says what is missing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_core::{BoxError, Charge, Limit, Spent};
use hanok_graph::{Budget, Doubt, Outcome, Resolution};
use hanok_team::{Team, TeamState};

use crate::support::{House, Planner, ends, taking, team};

/// A team that asks a model once, for 100 tokens.
fn asking(name: &'static str) -> hanok_supervisor::Member {
    team(name, move |_, cx| async move {
        let call = cx.call("model", "writer", "");
        call.admit(Charge::Model)?;
        call.spend().add(Spent { model_calls: 1, input_tokens: 100, ..Spent::default() });
        Ok::<_, BoxError>(format!("{name} wrote"))
    })
}

async fn ask_team(planner: Planner, teams: Vec<Team>, budget: Budget) -> (House, TeamState) {
    let house = House::new(planner, teams);
    let thread = house.thread().budget(budget);
    let state = thread.invoke(house.supervisor.ask("Help me."), ()).await.unwrap();
    // What an answer says is what the thread holds.
    let state = state.done().unwrap();
    let last = state.messages.last().map(|message| message.text().into_owned());
    assert_eq!(last, state.answer);
    assert_eq!(thread.state(None).await.unwrap().unwrap(), state);
    (house, state)
}

/// P17, B129: no call past the budget is made, what is done stays, and the answer names the limit and what is missing. Nothing is planned
/// anew, and no team begins any more.
#[tokio::test(start_paused = true)]
async fn a_turn_at_a_limit_answers_with_what_there_is() {
    let plan: &[(&str, &str, &[&str])] = &[
        ("search", "search", &[]),
        ("letter", "letter", &["search"]),
        ("prices", "prices", &["letter"]),
        ("slow", "slow", &[]),
        ("after", "prices", &["slow"]),
    ];
    let teams = || {
        vec![
            Team::new(taking("search", 1)),
            Team::new(asking("letter")),
            Team::new(taking("prices", 1)),
            Team::new(taking("slow", 9)),
        ]
    };
    // One for the intent, one for the plan; the letter's is refused.
    let budget = Budget { model_calls: Some(2), ..Budget::default() };
    let (house, state) = ask_team(Planner::of(plan), teams(), budget).await;
    assert_eq!(state.limit.as_deref(), Some("2 model calls"));
    assert_eq!(house.planner.requests(), ["intent", "plan"]);
    assert_eq!(
        ends(&state),
        [
            "after Skipped: the turn has reached its limit of 2 model calls",
            "letter Failed: the turn has reached its limit of 2 model calls",
            "prices Skipped: step `letter`, which it needs, has no result",
            "search Completed: search did \"do search\"",
            // It had begun before.
            "slow Completed: slow did \"do slow\"",
        ]
    );
    insta::assert_snapshot!(state.answer.unwrap(), @r#"
    search did "do search"

    slow did "do slow"

    The turn ended with what there is, at its limit of 2 model calls.
    Not done (letter): do letter (the turn has reached its limit of 2 model calls)
    Not done (prices): do prices (step `letter`, which it needs, has no result)
    Not done (prices): do after (the turn has reached its limit of 2 model calls)
    Sources: the files of search; the files of slow
    "#);

    // The next turn begins with nothing spent and no limit reached.
    let state = house.thread().invoke(house.supervisor.ask("And now?"), ()).await.unwrap();
    let state = state.done().unwrap();
    assert_eq!(state.limit, None);
    assert!(ends(&state).iter().all(|end| end.contains("Completed")), "{:?}", ends(&state));
}

/// P17, B129: wherever in a turn a limit is reached, and whichever it is.
#[tokio::test(start_paused = true)]
async fn every_limit_ends_a_turn_with_an_answer() {
    let budget = Budget::default();
    let time = Duration::from_secs(5);
    for (budget, limit, done, requests) in [
        (Budget { model_calls: Some(0), ..budget }, "0 model calls", 0, 0),
        (Budget { model_calls: Some(1), ..budget }, "1 model call", 0, 1),
        (Budget { model_calls: Some(2), ..budget }, "2 model calls", 0, 2),
        // The answer alone is missing.
        (Budget { model_calls: Some(3), ..budget }, "3 model calls", 2, 2),
        // The call that passes the limit is the last one.
        (Budget { tokens: Some(50), ..budget }, "50 tokens", 1, 2),
        (Budget { time: Some(time), ..budget }, "5s of work", 1, 2),
    ] {
        let planner = Planner::of(&[("ask", "ask", &[]), ("slow", "slow", &["ask"])]);
        let teams = vec![Team::new(asking("ask")), Team::new(taking("slow", 9))];
        let begun = tokio::time::Instant::now();
        let (house, state) = ask_team(planner, teams, budget).await;
        assert_eq!(state.limit.as_deref(), Some(limit));
        let is_done = |end: &&String| end.contains("Completed");
        assert_eq!(ends(&state).iter().filter(is_done).count(), done, "{:?}", ends(&state));
        assert_eq!(house.planner.requests().len(), requests, "{limit}");
        let answer = state.answer.unwrap();
        assert!(answer.contains(&format!("at its limit of {limit}.")), "{answer}");
        // Without a plan there is nothing to be done: the words of the question name no team.
        assert_eq!(answer.contains("Not done"), requests == 2 && done < 2, "{answer}");
        if budget.time.is_some() {
            assert_eq!(begun.elapsed(), time);
        }
    }
}

/// B129: a model that does not heed a stop is not waited for past the time of the turn.
#[tokio::test(start_paused = true)]
async fn a_model_that_hangs_is_left_when_the_time_is_over() {
    let planner = Planner::of(&[("search", "search", &[])]).hanging();
    let budget = Budget { time: Some(Duration::from_secs(3)), ..Budget::default() };
    let begun = tokio::time::Instant::now();
    let (_, state) = ask_team(planner, vec![Team::new(taking("search", 1))], budget).await;
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    assert_eq!(state.limit, Some(Limit::Time(Duration::from_secs(3)).to_string()));
    assert_eq!(ends(&state), [""; 0]);
    assert!(state.answer.unwrap().contains("at its limit of 3s of work."));
}

/// P4: a payment under way when the time of its team, or of the turn, is over is in doubt. Nothing is planned anew, and nothing is paid
/// twice, before a person has said what became of it.
#[tokio::test(start_paused = true)]
async fn a_payment_that_outlives_a_limit_is_in_doubt() {
    let second = Duration::from_secs(1);
    for (of_team, budget) in [
        (second, Budget::default()),
        (second * 60, Budget { time: Some(second), ..Budget::default() }),
    ] {
        let paid = Arc::new(AtomicU32::new(0));
        let pay = {
            let paid = paid.clone();
            team("pay", move |_, cx| {
                let paid = paid.clone();
                async move {
                    let pay = |_| async move {
                        match paid.fetch_add(1, Ordering::SeqCst) {
                            0 => std::future::pending().await,
                            _ => Ok::<_, BoxError>("paid twice".to_owned()),
                        }
                    };
                    Ok::<_, BoxError>(cx.once("pay", "{}", Doubt::Ask, pay).await?)
                }
            })
        };
        let planner = Planner::of(&[("pay", "pay", &[])]).replan(&[("again", "pay", &[])]);
        let house = House::new(planner, [Team::new(pay).timeout(of_team)]);
        let thread = house.thread().budget(budget);
        let outcome = thread.invoke(house.supervisor.ask("Pay."), ()).await.unwrap();
        assert!(matches!(outcome, Outcome::InDoubt(_)), "{outcome:?}");
        let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
        assert_eq!((asked.len(), paid.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(house.planner.requests(), ["intent", "plan"]);
        let made = Resolution::made("paid by hand").unwrap();
        let thread = house.thread();
        let state = thread.settle(asked[0].id.clone(), made, ()).await.unwrap().done().unwrap();
        assert_eq!(
            (ends(&state), paid.load(Ordering::SeqCst)),
            (vec!["pay Completed: paid by hand".into()], 1)
        );
    }
}
