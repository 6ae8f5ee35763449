//! Questions of servers to a person.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_agent::Decision;
use hanok_checkpoint::Checkpointer;
use hanok_graph::Outcome;
use hanok_mcp::{Elicitation, ElicitationAnswer, ElicitationMode, Elicitor, McpError, ServerError};
use hanok_model::ToolError;
use hanok_testkit::Dying;
use serde_json::{Value, json};

use crate::{
    durable::{answered, key, memory, thread},
    program::tool,
    support::{AT_LAST, World, tool_of},
};

fn accept(content: Value) -> ElicitationAnswer {
    ElicitationAnswer::accept(content)
}

/// The decision that fills a form.
fn filled(content: Value) -> Decision {
    accept(content).into()
}

fn modern(tools: &[&str]) -> World {
    let tools: Vec<_> = tools.iter().map(|name| tool(name, "")).collect();
    World::new().server("shop", "modern", &tools)
}

/// B138: the run ends with the question; days later another process, over another connection, goes on with the answer. No time-out
/// runs meanwhile.
#[tokio::test]
async fn a_question_ends_the_run_and_is_answered_days_later_by_another_process() {
    let (world, store) = (modern(&["book"]), memory());
    let client = world.approved().await;
    let first = thread(&store).invoke(Default::default(), tool_of(&client, "shop__book")).await;
    let Ok(Outcome::Interrupted(open)) = first else { panic!("{first:?}") };
    let seats = Elicitation::of(&open[0]).unwrap();
    assert_eq!((seats.server.as_str(), seats.tool.as_deref()), ("shop", Some("book")));
    assert_eq!(seats.message, "How many seats?");
    let ElicitationMode::Form { schema } = &seats.mode else { panic!("{seats:?}") };
    assert_eq!(schema["properties"]["seats"]["type"], "integer");
    client.close().await;
    drop(client);

    world.clock.advance(Duration::from_secs(3 * 24 * 3600));
    let client = world.builder().connect().await.unwrap();
    let book = tool_of(&client, "shop__book");
    // What does not fit the form leaves the question open.
    let waiting = thread(&store);
    let (unfit, fit) = (filled(json!({"seats": "two"})), filled(json!({"seats": 2})));
    waiting.answer(open[0].id.clone(), &unfit, book.clone()).await.unwrap_err();
    let second = waiting.answer(open[0].id.clone(), &fit, book.clone()).await;
    let Ok(Outcome::Interrupted(open)) = second else { panic!("{second:?}") };
    let nights = Elicitation::of(&open[0]).unwrap();
    assert_eq!(nights.message, "How many nights?");

    world.clock.advance(Duration::from_secs(3 * 24 * 3600));
    let third =
        thread(&store).answer(open[0].id.clone(), &filled(json!({"nights": 3})), book).await;
    assert_eq!(third.unwrap().done().unwrap().text, "booked second 2 3");
    // One call with one key: the first, that with the seats, that with the nights.
    let ledger = world.ledger("shop");
    let calls: std::collections::BTreeSet<_> = ledger[..3].iter().collect();
    assert!(
        calls.len() == 1 && ledger.len() == 4 && ledger[3].starts_with("booked "),
        "{ledger:?}"
    );
}

#[tokio::test]
async fn a_person_may_decline_or_pass_over_a_question() {
    for (answer, want) in [
        (ElicitationAnswer::Decline, "not booked: \"decline\""),
        (ElicitationAnswer::Cancel, "not booked: \"cancel\""),
    ] {
        let (world, store) = (modern(&["book"]), memory());
        let client = world.approved().await;
        thread(&store).invoke(Default::default(), tool_of(&client, "shop__book")).await.unwrap();
        assert_eq!(answered(&store, &client, "shop__book", &answer).await, want);
    }
}

/// Outside of a graph nobody can be asked: the server is told so, and says what it makes of it.
#[tokio::test]
async fn a_call_that_can_ask_nobody_cancels_the_question() {
    let world = modern(&["book"]);
    let client = world.approved().await;
    assert_eq!(
        world.run(&client, "shop__book", "k").await,
        Ok("not booked: \"cancel\"".to_owned())
    );
}

/// P44: nobody is asked for a secret, for words of a model, or for ever.
#[tokio::test]
async fn a_question_that_nobody_is_to_answer_is_a_typed_error() {
    type Is = fn(&ServerError) -> bool;
    let cases: [(&str, Is); 4] = [
        (
            "wants-secret",
            |error| matches!(error, ServerError::SecretAsked { field } if field == "password"),
        ),
        ("wants-model", |error| matches!(error, ServerError::InputRequired)),
        ("wants-much", |error| matches!(error, ServerError::TooManyQuestions { limit: 16 })),
        ("endless", |error| matches!(error, ServerError::EndlessQuestions { limit: 10 })),
    ];
    let world = modern(&["wants-secret", "wants-model", "wants-much", "endless"]);
    let client = world.approved().await;
    for (name, is) in cases {
        let error = world.run_tool(&tool_of(&client, &format!("shop__{name}")), "k").await;
        let error = error.unwrap_err();
        let Some(McpError::Server { source, .. }) = McpError::of(&error) else {
            panic!("{error:?}")
        };
        assert!(is(source), "{name}: {source:?}");
    }
    // In a graph nobody is shown it, either.
    let store = memory();
    let run =
        thread(&store).invoke(Default::default(), tool_of(&client, "shop__wants-secret")).await;
    assert!(run.is_err(), "{run:?}");
    assert!(!matches!(
        thread(&store).resume(tool_of(&client, "shop__wants-secret")).await,
        Ok(Outcome::Interrupted(_))
    ));
}

/// An address is shown and nothing opens it; folders there are none.
#[tokio::test]
async fn an_address_is_shown_to_the_person_who_decides() {
    let (world, store) = (modern(&["wants-visit"]), memory());
    let client = world.approved().await;
    let visit = tool_of(&client, "shop__wants-visit");
    let run = thread(&store).invoke(Default::default(), visit.clone()).await;
    let Ok(Outcome::Interrupted(open)) = run else { panic!("{run:?}") };
    let question = Elicitation::of(&open[0]).unwrap();
    assert_eq!(question.mode, ElicitationMode::Url { url: "http://127.0.0.1:9/pay".to_owned() });
    let answer = Decision::Approve;
    let done = thread(&store).answer(open[0].id.clone(), &answer, visit).await.unwrap().done();
    assert_eq!(done.unwrap().text, r#"{"folders":{"roots":[]},"visit":{"action":"accept"}}"#);
}

/// B138, P4, P44: the process dies at every append, before and after it is stored. What a person was asked is asked once more or is
/// known, and the booking is made once or is in doubt.
#[tokio::test]
async fn a_call_with_questions_survives_a_crash_at_every_append() {
    let answer = accept(json!({"seats": 2}));
    let decision = Decision::from(answer.clone());
    let mut ends = Vec::new();
    let world = modern(&["confirm"]);
    let client = world.approved().await;
    for at in 1..30 {
        let mut is_over = false;
        for is_stored in [false, true] {
            let (store, ledger) = (memory(), world.ledger("shop").len());
            let dying = Dying::at(store.clone(), at - 1, is_stored);
            let confirm = tool_of(&client, "shop__confirm");
            let run = thread(&dying.shared()).invoke(Default::default(), confirm.clone()).await;
            if let Ok(Outcome::Interrupted(open)) = run {
                let answering = thread(&dying.shared());
                let _ = answering.answer(open[0].id.clone(), &decision, confirm).await;
            }
            is_over |= !dying.is_dead();
            dying.after_death(&key()).await.unwrap();
            if !dying.is_dead() || store.head(&key()).await.unwrap().is_none() {
                continue;
            }
            let end = answered(&store, &client, "shop__confirm", &answer).await;
            let end = match end.as_str() {
                r#"confirmed {"action":"accept","content":{"seats":2}}"# => "confirmed",
                end if end.ends_with("and its result is lost") => "lost",
                end => end,
            };
            let calls = world.ledger("shop").split_off(ledger);
            let confirmed = calls.iter().filter(|call| call.starts_with("confirmed")).count();
            let when = if is_stored { "after" } else { "before" };
            ends.push(format!("{when} append {at}: {end}, {confirmed}"));
        }
        if is_over {
            break;
        }
    }
    // Append 3 is the note of the question, 7 the mark that the answers leave for the server, 8 the result.
    let want = [
        "after append 1: confirmed, 1",
        "before append 2: confirmed, 1",
        "after append 2: in doubt, 0",
        "before append 3: in doubt, 0",
        "after append 3: confirmed, 1",
        "before append 4: confirmed, 1",
        "after append 4: confirmed, 1",
        "before append 5: confirmed, 1",
        "after append 5: confirmed, 1",
        "before append 6: confirmed, 1",
        "after append 6: confirmed, 1",
        "before append 7: confirmed, 1",
        "after append 7: lost, 0",
        "before append 8: lost, 1",
        "after append 8: confirmed, 1",
        "before append 9: confirmed, 1",
        "after append 9: confirmed, 1",
    ];
    assert_eq!(ends, want);
}

/// P4: a call that was made with the answers and whose result is lost is not made again.
#[tokio::test]
async fn answers_are_sent_once_where_a_call_must_not_be_repeated() {
    let world = modern(&["confirm"]);
    let client = world.approved().await;
    let arguments = r#"{"text":"die"}"#.into();
    let confirm = tool_of(&client, "shop__confirm");
    let call = world.call("k");
    let made = hanok_model::Tool::run(&confirm, &arguments, &call);
    let error = tokio::time::timeout(AT_LAST, made).await.unwrap().unwrap_err();
    assert!(matches!(error, ToolError::InDoubt(_)), "{error:?}");
    let ledger = world.ledger("shop");
    assert_eq!(ledger, ["confirm k", "confirm k", "confirmed k"]);
}

/// Somebody who answers as soon as a test lets them.
#[derive(Debug, Clone)]
struct Desk {
    asked: Arc<Mutex<Vec<Elicitation>>>,
    answer: Option<ElicitationAnswer>,
    go: Arc<tokio::sync::Notify>,
}

impl Desk {
    fn new(answer: Option<ElicitationAnswer>) -> Self {
        Self { asked: Arc::default(), answer, go: Arc::default() }
    }
}

impl Elicitor for Desk {
    async fn elicit(&self, question: &Elicitation) -> ElicitationAnswer {
        self.asked.lock().unwrap().push(question.clone());
        self.go.notified().await;
        match &self.answer {
            Some(answer) => answer.clone(),
            None => std::future::pending().await,
        }
    }
}

async fn until_asked(desk: &Desk) {
    let asked = async {
        while desk.asked.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AT_LAST, asked).await.unwrap();
}

/// A server of the old lifecycle waits within the call; the time of the call does not run while the person thinks.
#[tokio::test]
async fn a_person_who_is_there_is_asked_at_once_and_may_think() {
    let world =
        World::new().server_with("shop", "old", &[tool("wonder", "")], json!({"timeout": 9}));
    let desk = Desk::new(Some(accept(json!({"seats": 2}))));
    let client = world.builder().elicitor(desk.clone()).connect().await.unwrap();
    client.approve(&client.pending()).unwrap();
    let (wonder, call) = (tool_of(&client, "shop__wonder"), world.call("k"));
    let calling =
        tokio::spawn(async move { hanok_model::Tool::run(&wonder, &"{}".into(), &call).await });
    until_asked(&desk).await;
    // Many times the time of the call.
    for _ in 0..10 {
        world.clock.advance(Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!calling.is_finished());
    desk.go.notify_one();
    let made = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap();
    assert_eq!(made.unwrap().text, "told \"accept\"");
    assert_eq!(desk.asked.lock().unwrap()[0].message, "How many\\u{1b}[2J seats?");
}

/// A server of an older version is told of questions only where somebody answers them within the call.
#[tokio::test]
async fn a_server_of_an_older_version_is_told_of_questions_only_where_somebody_answers() {
    for desk in [Some(Desk::new(None)), None] {
        let world = World::new().server("shop", "old", &[tool("wonder", "")]);
        let builder = world.builder();
        let builder = match &desk {
            Some(desk) => builder.elicitor(desk.clone()),
            None => builder,
        };
        drop(builder.connect().await.unwrap());
        let said = std::fs::read_to_string(world.path("shop.pid.capabilities")).unwrap();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["elicitation"].is_object(), desk.is_some(), "{said}");
    }
}

/// After 120 s the question is cancelled, and the model is told; so it is where nobody can be asked, or the answer does not fit.
#[tokio::test]
async fn a_question_without_an_answer_at_once_is_cancelled_and_the_model_is_told() {
    let unfit = Desk::new(Some(accept(json!({"seats": "two"}))));
    for (desk, passes, reason) in [
        (None, false, "nobody can be asked at once"),
        (Some(Desk::new(None)), true, "nobody answered within 120 s"),
        (Some(unfit), false, "the answer does not fit the form"),
    ] {
        let world = World::new().server("shop", "old", &[tool("wonder", "")]);
        let builder = world.builder();
        let builder = match &desk {
            Some(desk) => builder.elicitor(desk.clone()),
            None => builder,
        };
        let client = builder.connect().await.unwrap();
        client.approve(&client.pending()).unwrap();
        let (wonder, call) = (tool_of(&client, "shop__wonder"), world.call("k"));
        let calling =
            tokio::spawn(async move { hanok_model::Tool::run(&wonder, &"{}".into(), &call).await });
        if let Some(desk) = &desk {
            until_asked(desk).await;
            desk.go.notify_one();
        }
        let passing = async {
            while passes && !calling.is_finished() {
                world.clock.advance(Duration::from_secs(1));
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(AT_LAST, passing).await.unwrap();
        let made = tokio::time::timeout(AT_LAST, calling).await.unwrap().unwrap().unwrap();
        let want = format!(
            "told \"cancel\"\n[the server asked a person: \u{201c}How many\\u{{1b}}[2J seats?\u{201d}; {reason}]"
        );
        assert_eq!(made.text, want);
    }
}
