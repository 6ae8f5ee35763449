//! Which answers may be given: in time, in the shape that was asked for, and to what is still open.

#![cfg(feature = "schema")]
use std::time::Duration;

use hanok_core::{AskError, Stored};
use hanok_graph::{
    BoxError, Context, END, Graph, Input, Outcome, Resolution, RunError, START, Snapshot,
};
use hanok_state::State;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::asking::{
    Ledger, S, SUpdate, asked, built, clock, entries, id_of, kinds, log, memory, payloads, says,
    thread, work,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approval {
    approved: bool,
    /// At most so much.
    #[schemars(range(max = 100))]
    amount: u32,
}

async fn approve(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("approve");
    let Approval { approved, amount } = cx.ask("pay?", None).await?;
    Ok(says(format!("{approved} {amount}")))
}

fn one(name: &str, graph: hanok_graph::GraphBuilder<S, Ledger>) -> Graph<S, Ledger> {
    built(graph.node("end", work).edge(START, name).edge(name, "end").edge("end", END))
}

/// B64: an answer that does not fit the schema is refused with what is wrong and where, nothing is saved, and the
/// question stays open; one that fits goes on with the typed value.
#[tokio::test]
async fn an_answer_has_to_fit_its_schema() {
    let graph = one("approve", Graph::builder("approve").node("approve", approve));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let schema: serde_json::Value =
        serde_json::from_str(asking[0].schema.as_deref().unwrap()).unwrap();
    assert_eq!(schema["properties"]["amount"]["maximum"], 100);
    let before = entries(&thread(&graph, &store)).await;
    for (wrong, at) in [
        (json!({"approved": "yes", "amount": 1}), "/approved"),
        (json!({"approved": true, "amount": 101}), "/amount"),
        (json!({"approved": true}), "amount"),
        (json!({"approved": true, "amount": 1, "more": 1}), "more"),
        (json!("yes"), "not of type \"object\""),
        (json!(null), "not of type \"object\""),
    ] {
        let thread = thread(&graph, &store);
        let by_id = thread.answer(asking[0].id.clone(), &wrong, ledger.clone()).await.unwrap_err();
        let bare = thread.reply(&wrong, ledger.clone()).await.unwrap_err();
        for error in [by_id, bare] {
            let RunError::WrongAnswer { id, faults, expected, answer, .. } = error else {
                panic!("another: {error}")
            };
            assert_eq!((id, answer), (asking[0].id.clone(), Stored::encode(&wrong).unwrap()));
            assert!(expected.contains("maximum"), "{expected}");
            assert!(faults.iter().any(|fault| fault.contains(at)), "{wrong}: {faults:?}");
        }
        assert_eq!(entries(&thread).await, before);
        assert_eq!(asked(thread.resume(ledger.clone()).await), asking);
    }
    assert_eq!(ledger.of("approve"), 1);
    let right = json!({"approved": true, "amount": 100});
    let outcome = thread(&graph, &store).reply(&right, ledger.clone()).await;
    assert_eq!(log(&outcome.unwrap().done().unwrap()), ["true 100", "end"]);
    assert_eq!(ledger.of("approve"), 2);
}

/// B63, B64: several answers are given together or not at all.
#[tokio::test]
async fn of_several_answers_one_that_is_wrong_keeps_all_from_being_given() {
    async fn text(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note(cx.node());
        Ok(says(cx.interrupt::<String>("name?").await?))
    }
    let graph = Graph::builder("two").node("approve", approve).node("text", text);
    let graph = graph.edge(START, "approve").edge(START, "text");
    let graph = built(graph.edge("approve", END).edge("text", END));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let (pay, name) = (id_of(&asking, "pay?"), id_of(&asking, "name?"));
    let stored = |value: serde_json::Value| Stored::encode(&value).unwrap();
    let fits = stored(json!({"approved": false, "amount": 0}));
    let nobody = hanok_core::RequestId("nobody".into());
    let before = entries(&thread(&graph, &store)).await;
    for answers in [
        vec![(name.clone(), stored(json!("Kim"))), (pay.clone(), stored(json!(1)))],
        vec![(pay.clone(), fits.clone()), (nobody, stored(json!("Kim")))],
        vec![(name.clone(), stored(json!("Kim"))), (name.clone(), stored(json!("Lee")))],
        vec![],
    ] {
        let given = Input::Answers(answers.clone());
        let error = thread(&graph, &store).run(given, ledger.clone()).await.unwrap_err();
        let typed = match answers.len() {
            0 => matches!(error, RunError::NothingAsked(_)),
            _ => matches!(
                error,
                RunError::WrongAnswer { .. }
                    | RunError::NoSuchRequest(_)
                    | RunError::AlreadyAnswered(_)
            ),
        };
        assert!(typed, "{error}");
        assert_eq!(entries(&thread(&graph, &store)).await, before);
    }
    assert_eq!(ledger.counts(["approve", "text"]), [1, 1]);
    let both = Input::Answers(vec![(name, stored(json!("Kim"))), (pay, fits)]);
    let outcome = thread(&graph, &store).run(both, ledger).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["false 0", "Kim"]);
}

const PATIENCE: Duration = Duration::from_secs(60);

/// Asks with a deadline; without an answer in time it asks somebody else, without one.
async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("patient");
    let deadline = cx.now().plus(PATIENCE);
    let said: String = match cx.interrupt_until("chief?", deadline).await {
        Err(AskError::Expired(_)) => cx.interrupt("deputy?").await?,
        answer => answer?,
    };
    Ok(says(said))
}

/// B63: an answer before the deadline counts, one after it is an error that changes nothing, and a resume tells the node.
#[tokio::test(start_paused = true)]
async fn an_answer_counts_until_its_deadline() {
    let graph = one("patient", Graph::builder("patient").node("patient", patient));
    for late in [false, true] {
        let (store, ledger) = (memory(), Ledger::default());
        let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let deadline = asking[0].deadline.unwrap();
        assert_eq!(deadline, clock::now().plus(PATIENCE));
        let wait = if late { PATIENCE } else { PATIENCE - Duration::from_millis(1) };
        tokio::time::sleep(wait).await;
        if !late {
            let outcome = thread(&graph, &store).reply("in time", ledger.clone()).await.unwrap();
            assert_eq!(log(&outcome.done().unwrap()), ["in time", "end"]);
            continue;
        }
        let mut before = kinds(&thread(&graph, &store)).await;
        let id = asking[0].id.clone();
        // It is stored once as what it is, and decides nothing.
        for _ in 0..2 {
            let error = thread(&graph, &store).answer(id.clone(), "late", ledger.clone()).await;
            assert!(
                matches!(error.unwrap_err(), RunError::Expired { id: of, deadline: at } if of == id && at == deadline)
            );
        }
        before.push("late");
        assert_eq!(kinds(&thread(&graph, &store)).await, before);
        assert_eq!(ledger.of("patient"), 1);

        // Only what is still to be answered is asked.
        let deputy = asked(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!(payloads(&deputy), ["deputy?"]);
        assert_eq!(thread(&graph, &store).views(None).await.unwrap()[0].requests, deputy);
        let error = thread(&graph, &store).answer(id, "later", ledger.clone()).await.unwrap_err();
        assert!(
            matches!(error, RunError::Expired { deadline: at, .. } if at == deadline),
            "{error}"
        );
        assert_eq!(kinds(&thread(&graph, &store)).await.last(), Some(&"late"));
        assert_eq!(asked(thread(&graph, &store).resume(ledger.clone()).await), deputy);
        assert_eq!(ledger.of("patient"), 2);
        tokio::time::sleep(PATIENCE * 100).await;
        let outcome = thread(&graph, &store).reply("the deputy", ledger.clone()).await.unwrap();
        assert_eq!(log(&outcome.done().unwrap()), ["the deputy", "end"]);
    }
}

/// B61, B63: a question whose time is over does not hold up its siblings, and they do not hold it up.
#[tokio::test(start_paused = true)]
async fn an_expired_question_is_told_while_a_sibling_still_waits() {
    async fn until(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("until");
        let deadline = cx.now().plus(PATIENCE);
        match cx.interrupt_until::<String>("until?", deadline).await {
            Err(AskError::Expired(_)) => Ok(says("nobody")),
            answer => Ok(says(answer?)),
        }
    }
    async fn waits(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("waits");
        Ok(says(cx.interrupt::<String>("waits?").await?))
    }
    let graph = Graph::builder("both").node("until", until).node("waits", waits);
    let graph = graph.edge(START, "until").edge(START, "waits");
    let graph = built(graph.edge("until", END).edge("waits", END));
    let (store, ledger) = (memory(), Ledger::default());
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    tokio::time::sleep(PATIENCE).await;
    let left = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(ledger.counts(["until", "waits"]), [2, 1]);
    assert_eq!(payloads(&left), ["waits?"]);
    let state = thread(&graph, &store).reply("now", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["nobody", "now"]);
    assert_eq!(ledger.counts(["until", "waits"]), [2, 2]);
}

/// B63: what the thread went on without is not open any more.
#[tokio::test]
async fn an_answer_to_a_turn_that_is_over_is_stale() {
    let graph = one("approve", Graph::builder("approve").node("approve", approve));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    // A person lets the thread go on in the node's place.
    thread(&graph, &store).edit_as(Some("approve"), says("by hand")).await.unwrap();
    let answer = json!({"approved": true, "amount": 1});
    let id = asking[0].id.clone();
    let error = thread(&graph, &store).answer(id, &answer, ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::Stale(_)), "{error}");
    let outcome = thread(&graph, &store).resume(ledger.clone()).await.unwrap();
    assert_eq!(log(&outcome.done().unwrap()), ["by hand", "end"]);
    assert_eq!(ledger.of("approve"), 1);
}

/// B63, P14: a settlement is no answer to a question, and what a question says may look like one.
#[tokio::test]
async fn what_looks_like_a_settlement_is_an_answer_where_a_question_is_open() {
    async fn text(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("name?").await?))
    }
    let graph = one("text", Graph::builder("text").node("text", text));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let id = asking[0].id.clone();
    let outcome = thread(&graph, &store).settle(id, Resolution::GiveUp, ledger).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("another outcome: {outcome:?}") };
    assert_eq!(log(&state), ["give_up", "end"]);
}
