//! What waits below a task: a node that calls a subgraph in which a person is asked; a turn that was drained; and calls that
//! must not be repeated where nothing is stored.

use std::time::Duration;

use hanok_core::{AskError, Cancellation};
use hanok_graph::{
    BoxError, Context, Doubt, END, Graph, Outcome, Persistence, START, Snapshot, StepError,
};
use hanok_state::State as _;

use crate::asking::{Ledger, S, SUpdate, asked, built, id_of, log, memory, says, thread, work};

fn inner(name: &str) -> Graph<S, Ledger> {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let name = cx.services().note("inner");
        assert!(name > 0);
        let question = format!("{}?", cx.node());
        Ok(says(cx.interrupt::<String>(&question).await?))
    }
    built(Graph::builder(name).node(name, ask).edge(START, name).edge(name, END))
}

/// B61: of two nodes whose subgraphs ask, only the one whose question was answered is started again.
#[tokio::test]
async fn a_node_whose_subgraph_still_waits_is_not_started_again() {
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note(cx.node());
        let graph = inner(&format!("{}-inner", cx.node()));
        let services = cx.services().clone();
        let ended = cx.run(&graph, S::update(), services).await?.done()?;
        Ok(says(log(&ended).concat()))
    }
    let graph = built(
        Graph::builder("outer")
            .node("a", calls)
            .node("b", calls)
            .edge(START, "a")
            .edge(START, "b")
            .edge("a", END)
            .edge("b", END),
    );
    let (store, ledger) = (memory(), Ledger::default());
    let requests = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(ledger.counts(["a", "b", "inner"]), [1, 1, 2]);

    let first = id_of(&requests, "a-inner?");
    let left = asked(thread(&graph, &store).answer(first, "yes", ledger.clone()).await);
    assert_eq!(left.len(), 1);
    assert_eq!(ledger.counts(["a", "b", "inner"]), [2, 1, 3]);

    // Nothing new is known: nobody is started.
    let again = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(again, left);
    assert_eq!(ledger.counts(["a", "b", "inner"]), [2, 1, 3]);

    let second = id_of(&requests, "b-inner?");
    let state = thread(&graph, &store).answer(second, "no", ledger.clone()).await.unwrap();
    assert_eq!(log(&state.done().unwrap()), ["yes", "no"]);
    assert_eq!(ledger.counts(["a", "b", "inner"]), [2, 2, 4]);
}

/// P25: a turn that was drained is finished before a new input's begins; nothing of it is dropped.
#[tokio::test]
async fn a_drained_turn_is_finished_before_the_next() {
    async fn drains(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("drains");
        Ok(says("drains"))
    }
    let graph = built(
        Graph::builder("drained")
            .node("first", drains)
            .node("second", work)
            .edge(START, "first")
            .edge("first", "second")
            .edge("second", END),
    );
    let (store, ledger) = (memory(), Ledger::default());
    let drain = Cancellation::default();
    drain.cancel();
    let draining = thread(&graph, &store).drain(drain);
    let outcome = draining.invoke(says("one"), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Drained(_)), "{outcome:?}");
    let next = thread(&graph, &store).invoke(says("two"), ledger.clone()).await.unwrap();
    assert_eq!(log(&next.done().unwrap()), ["one", "drains", "second", "two", "drains", "second"]);
}

/// P4: where nothing is stored, a call that must not be repeated is refused and not made, if the thread could repeat it.
#[tokio::test]
async fn a_subgraph_that_stores_nothing_makes_no_call_that_must_not_be_repeated() {
    async fn pays(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let paid: Result<u32, StepError> = cx
            .once("pay", "{}", Doubt::Ask, |_| async move { Ok::<_, BoxError>(ledger.note("pay")) })
            .await;
        Ok(says(match paid {
            Ok(_) => "paid".to_owned(),
            Err(StepError::NotKept { tool }) => format!("not {tool}"),
            Err(error) => return Err(error.into()),
        }))
    }
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph =
            built(Graph::builder("pays").node("pays", pays).edge(START, "pays").edge("pays", END));
        let services = cx.services().clone();
        let ended = cx.run_as(Persistence::None, &graph, S::update(), services).await?.done()?;
        Ok(says(log(&ended).concat()))
    }
    let graph =
        built(Graph::builder("outer").node("calls", calls).edge(START, "calls").edge("calls", END));
    let ledger = Ledger::default();
    let kept = thread(&graph, &memory()).invoke(S::update(), ledger.clone()).await.unwrap();
    assert_eq!((log(&kept.done().unwrap()), ledger.of("pay")), (vec!["not pay"], 0));
    // Without a store nothing is ever run again.
    let once = graph.invoke(S::update(), ledger.clone()).await.unwrap();
    assert_eq!((log(&once.done().unwrap()), ledger.of("pay")), (vec!["paid"], 1));
}

/// B61, B63: a question of a subgraph is given up at its deadline as any other: the node that called the graph is started again for it, and
/// not before.
#[tokio::test(start_paused = true)]
async fn a_question_below_is_given_up_at_its_deadline() {
    async fn patient(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("patient");
        let deadline = cx.now().plus(Duration::from_secs(60));
        match cx.interrupt_until::<String>("well?", deadline).await {
            Err(AskError::Expired(_)) => Ok(says("nobody")),
            answer => Ok(says(answer?)),
        }
    }
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("inner").node("patient", patient).edge(START, "patient");
        let graph = built(graph.edge("patient", END));
        let ended = cx.run(&graph, S::update(), cx.services().clone()).await?.done()?;
        Ok(says(log(&ended).concat()))
    }
    let graph = Graph::builder("outer").node("a", calls).node("ask", ask_for_ever);
    let graph = graph.edge(START, "a").edge(START, "ask").edge("a", END).edge("ask", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let both = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!((both.len(), ledger.of("patient")), (2, 1));
    tokio::time::advance(Duration::from_secs(59)).await;
    let again = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!((again.len(), ledger.of("patient")), (2, 1));
    tokio::time::advance(Duration::from_secs(2)).await;
    let left = asked(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!((left.len(), ledger.of("patient")), (1, 2));
    let state = thread(&graph, &store).reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["nobody", "yes"]);
}

async fn ask_for_ever(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(says(cx.interrupt::<String>("and you?").await?))
}
