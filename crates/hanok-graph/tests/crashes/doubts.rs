//! A call that was announced does not vanish with what made it: a future that is dropped, an error that is swallowed, a handler, a
//! note that leads nowhere.

use std::{pin::pin, sync::Arc};

use futures::future::{Either, select};
use hanok_core::{Call, LostCall};
use hanok_graph::{
    BoxError, Context, Doubt, END, Failure, Graph, GraphBuilder, NodeSettings, Resolution, START,
    Snapshot, Subgraph,
};
use hanok_state::State;
use tokio::sync::Notify;

use crate::asking::{Ledger, S, SUpdate, built, doubted, log, memory, says, thread, work};

/// How a node loses sight of a payment that it began.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Loses {
    /// It drops the future of the call.
    Drops,
    /// It makes a result of the call's error.
    Swallows,
    /// It drops the run of a graph that pays.
    DropsBelow,
    /// It makes a result of the error of a graph that pays.
    SwallowsBelow,
    /// Its error handler answers for the error of a graph that pays.
    Handles,
    /// It runs in a subgraph, and drops the future of the call.
    DropsWithin,
}

const WAYS: [Loses; 6] = [
    Loses::Drops,
    Loses::Swallows,
    Loses::DropsBelow,
    Loses::SwallowsBelow,
    Loses::Handles,
    Loses::DropsWithin,
];

/// Pays, and tells `paid` so. There is no answer while the ledger hangs or fails `pay`. The payment has a note if the ledger fails
/// `noted`.
async fn pay(cx: Context<Ledger>, paid: Arc<Notify>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let receipt = cx.once("pay", "{}", Doubt::Ask, |call| async move {
        let times = match call.noted::<u32>()? {
            Some(times) => times,
            None => ledger.note("paid"),
        };
        if ledger.fails("noted") {
            call.note(&times).await?;
        }
        paid.notify_one();
        if ledger.hangs("pay") {
            std::future::pending::<()>().await;
        }
        if ledger.fails("pay") {
            return Err(BoxError::from("no answer"));
        }
        Ok(format!("receipt {times}"))
    });
    Ok(says(receipt.await?))
}

fn inner(paid: Arc<Notify>) -> Graph<S, Ledger> {
    let pay = move |_: Snapshot<S>, cx: Context<Ledger>| pay(cx, paid.clone());
    built(Graph::builder("inner").node("pay", pay).edge(START, "pay").edge("pay", END))
}

/// The node that loses sight of its payment, before one that only works.
fn losing(way: Loses) -> Graph<S, Ledger> {
    let node = move |_: Snapshot<S>, cx: Context<Ledger>| async move {
        cx.services().note("losing");
        let paid = Arc::new(Notify::new());
        let (inner, services) = (inner(paid.clone()), cx.shared_services());
        let work = pin!(async {
            match way {
                Loses::Drops | Loses::Swallows | Loses::DropsWithin => {
                    pay(cx.clone(), paid.clone()).await
                }
                Loses::DropsBelow | Loses::SwallowsBelow | Loses::Handles => {
                    let ran = cx.run_named("inner", &inner, S::update(), services).await?.done()?;
                    Ok(says(log(&ran).join(" ")))
                }
            }
        });
        let is_patient = matches!(way, Loses::Swallows | Loses::SwallowsBelow | Loses::Handles);
        let ended = match is_patient {
            true => work.await,
            false => match select(work, pin!(paid.notified())).await {
                Either::Left((ended, _)) => ended,
                // What is known already comes before the wait is over.
                Either::Right(((), work)) => match cx.services().hangs("pay") {
                    true => return Ok(says("gave up")),
                    false => work.await,
                },
            },
        };
        match ended {
            Err(_) if way != Loses::Handles => Ok(says("gave up")),
            ended => ended,
        }
    };
    async fn handled(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("handled");
        Ok(says("handled"))
    }
    let graph: GraphBuilder<S, Ledger> = Graph::builder("losing");
    let graph = match way {
        Loses::DropsWithin => {
            let within = Graph::builder("within").node("losing", node);
            let within = built(within.edge(START, "losing").edge("losing", END));
            graph.subgraph("losing", Subgraph::shared(within))
        }
        _ => graph.node("losing", node),
    };
    let graph = graph.configure("losing", NodeSettings::new().on_error(handled, ["after"]));
    built(
        graph.node("after", work).edge(START, "losing").edge("losing", "after").edge("after", END),
    )
}

/// P4: whatever a node makes of a call that it began and knows nothing of, the run asks, and nothing is done before the answer. A note
/// of the call changes nothing: nobody goes on from it.
#[tokio::test(start_paused = true)]
async fn a_call_that_its_node_lost_sight_of_is_asked_about() {
    let settlements = [
        (Resolution::made("by hand").unwrap(), "by hand", 0),
        (Resolution::NotMade, "receipt 2", 1),
        (Resolution::GiveUp, "gave up", 0),
    ];
    for (way, noted) in WAYS.into_iter().flat_map(|way| [(way, &[][..]), (way, &["noted"][..])]) {
        for (resolution, said, more) in settlements.clone() {
            // A failed call that has a note is the handler's, as any other error is; its answer stands once the doubt is settled.
            let handled = u32::from(way == Loses::Handles && !noted.is_empty());
            if (way, &resolution, handled) == (Loses::Handles, &Resolution::GiveUp, 0) {
                continue; // Its handler answers then, which it may.
            }
            let (graph, store, ledger) = (losing(way), memory(), Ledger::default());
            ledger.fail(noted);
            ledger.hang(&["pay"]);
            if matches!(way, Loses::Swallows | Loses::SwallowsBelow | Loses::Handles) {
                ledger.hang(&[]);
                ledger.fail(&[&["pay"], noted].concat());
            }
            let begun = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
            if way != Loses::Handles || handled == 1 {
                doubted(begun);
            }
            for _ in 0..2 {
                let asked = doubted(thread(&graph, &store).resume(ledger.clone()).await);
                assert_eq!(asked.len(), 1, "{way:?}");
                assert_eq!(asked[0].doubt.as_ref().unwrap().tool, "pay", "{way:?}");
            }
            let counts = ledger.counts(["losing", "paid", "handled", "after"]);
            assert_eq!(counts, [1, 1, handled, 0], "{way:?}, {noted:?}");

            ledger.hang(&[]);
            ledger.fail(&[]);
            let asked = doubted(thread(&graph, &store).resume(ledger.clone()).await);
            let on = thread(&graph, &store);
            let ended = on.settle(asked[0].id.clone(), resolution, ledger.clone()).await.unwrap();
            let (said, begun, more) = match handled {
                0 => (said, 2, more),
                _ => ("handled", 1, 0),
            };
            assert_eq!(log(&ended.done().unwrap()), [said, "after"], "{way:?}, {noted:?}");
            let counts = ledger.counts(["losing", "paid", "after"]);
            assert_eq!(counts, [begun, 1 + more, 1], "{way:?}, {noted:?}");
        }
    }
}

/// P4: a run that comes after a crash and takes another way asks about the call that the lost one had noted.
#[tokio::test(start_paused = true)]
async fn a_noted_call_that_the_next_run_does_not_make_is_asked_about() {
    let node = |_: Snapshot<S>, cx: Context<Ledger>| async move {
        match cx.services().note("run") {
            1 => pay(cx.clone(), Arc::default()).await,
            _ => Ok(says("another way")),
        }
    };
    let graph = built(Graph::builder("one").node("run", node).edge(START, "run").edge("run", END));
    let within = built(
        Graph::builder("two")
            .subgraph("one", Subgraph::shared(graph.clone()))
            .edge(START, "one")
            .edge("one", END),
    );
    for graph in [graph, within] {
        let (store, ledger) = (memory(), Ledger::default());
        ledger.fail(&["noted", "pay"]);
        thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
        for _ in 0..2 {
            assert_eq!(doubted(thread(&graph, &store).resume(ledger.clone()).await).len(), 1);
            assert_eq!(ledger.counts(["run", "paid"]), [2, 1]);
        }
        let asked = doubted(thread(&graph, &store).resume(ledger.clone()).await);
        let on = thread(&graph, &store);
        let ended =
            on.settle(asked[0].id.clone(), Resolution::NotMade, ledger.clone()).await.unwrap();
        assert_eq!((log(&ended.done().unwrap()), ledger.of("paid")), (vec!["another way"], 1));
    }
}

/// P4: without a store nobody can answer, and the run is in doubt all the same.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_stored_is_in_doubt_too() {
    for way in [Loses::Drops, Loses::DropsBelow] {
        let (graph, ledger) = (losing(way), Ledger::default());
        ledger.hang(&["pay"]);
        assert_eq!(doubted(graph.invoke(S::update(), ledger.clone()).await).len(), 1, "{way:?}");
        assert_eq!(ledger.counts(["paid", "after"]), [1, 0], "{way:?}");
    }
}

/// P4: a person who was asked about a call that goes on from its note is heeded, however often it was announced before.
#[tokio::test(start_paused = true)]
async fn an_answer_about_a_call_with_a_note_counts() {
    async fn job(ledger: Ledger, call: Call) -> Result<String, BoxError> {
        if call.noted::<u32>()?.is_none() {
            call.note(&ledger.note("begun")).await?;
        }
        match (ledger.fails("line"), ledger.fails("job")) {
            (true, _) => Err("the line broke".into()),
            (_, true) => Err(LostCall("the server knows no such job".into()).into()),
            _ => Ok("done".to_owned()),
        }
    }
    let graph = |doubt: Doubt| {
        let node = move |_: Snapshot<S>, cx: Context<Ledger>| async move {
            let ledger = cx.services().clone();
            let made = cx.once("job", "{}", doubt, |call| job(ledger, call)).await;
            Ok::<_, BoxError>(says(made.unwrap_or_else(|error| match error {
                hanok_graph::StepError::GivenUp { .. } => "given up".to_owned(),
                _ => "no answer".to_owned(),
            })))
        };
        let failing = move |state: Snapshot<S>, cx: Context<Ledger>| {
            let (node, ledger) = (node, cx.services().clone());
            async move {
                let update = node(state, cx).await?;
                match ledger.fails("line") || ledger.fails("job") {
                    true => Err(BoxError::from("it failed")),
                    false => Ok(update),
                }
            }
        };
        built(Graph::builder("job").node("run", failing).edge(START, "run").edge("run", END))
    };
    for rounds in 1..4 {
        for (resolution, said, begun) in [
            (Resolution::made("by hand").unwrap(), "by hand", 1),
            (Resolution::GiveUp, "given up", 1),
            (Resolution::NotMade, "done", 2),
        ] {
            let (graph, store, ledger) = (graph(Doubt::Ask), memory(), Ledger::default());
            ledger.fail(&["line"]);
            thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
            for _ in 1..rounds {
                thread(&graph, &store).resume(ledger.clone()).await.unwrap_err();
            }
            ledger.fail(&["job"]);
            thread(&graph, &store).resume(ledger.clone()).await.unwrap_err();
            ledger.fail(&[]);
            let asked = doubted(thread(&graph, &store).resume(ledger.clone()).await);
            let on = thread(&graph, &store);
            let ended = on.settle(asked[0].id.clone(), resolution, ledger.clone()).await.unwrap();
            assert_eq!(log(&ended.done().unwrap()), [said]);
            assert_eq!(ledger.of("begun"), begun, "{said} after {rounds}");
        }
    }
    // A policy that gives up does so for a lost job as well.
    let (graph, store, ledger) = (graph(Doubt::GiveUp), memory(), Ledger::default());
    ledger.fail(&["line"]);
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    ledger.fail(&["job"]);
    thread(&graph, &store).resume(ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let ended = thread(&graph, &store).resume(ledger.clone()).await.unwrap();
    assert_eq!((log(&ended.done().unwrap()), ledger.of("begun")), (vec!["given up"], 1));
}
