//! A graph that is not the one in which its threads were left.

use hanok_checkpoint::{Checkpointer, Doubt, SharedCheckpointer};
use hanok_graph::{
    BoxError, Context, END, Fault, Graph, GraphBuilder, NodeExt, Outcome, RunError, START, SendTo,
    Snapshot, Target,
};
use hanok_state::State;

use crate::support::{Ledger, S, SUpdate, builder, done, log, memory, nothing, says, thread, work};

/// Pays, once, and asks; says what was answered, as it is called.
async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let ledger = cx.services().clone();
    let paid = async move |_| {
        ledger.note("paid");
        Ok::<_, BoxError>("paid".to_owned())
    };
    cx.once("pay", "{}", Doubt::Ask, paid).await?;
    let said: String = cx.interrupt("well?").await?;
    Ok(says(said))
}

/// `work` and `ask` side by side, then `last`: the names are those of a build.
fn build([work_name, ask_name, last]: [&str; 3]) -> GraphBuilder<S, Ledger> {
    builder()
        .node(work_name, work)
        .node(ask_name, ask)
        .node("more", nothing)
        .node(last, work)
        .edge(START, work_name)
        .edge(START, "more")
        .edge("more", ask_name)
        .join([work_name, ask_name], last)
        .edge(last, END)
}

/// A thread that waits: `work` is done and seen by the join, and `ask` has asked.
async fn waiting(store: &SharedCheckpointer) -> Ledger {
    let (before, ledger) = (build(["work", "ask", "last"]).build().unwrap(), Ledger::default());
    let outcome = thread(&before, store).invoke(S::update(), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)), "{outcome:?}");
    ledger
}

fn missing(outcome: Result<Outcome<S>, RunError>) -> Vec<String> {
    match outcome.unwrap_err() {
        RunError::GraphChanged { missing } => missing,
        other => panic!("{other}"),
    }
}

/// P13: what is missing is named, nothing is lost, and the build that has it goes on.
#[tokio::test(start_paused = true)]
async fn what_a_thread_waits_at_is_named_when_it_is_missing() {
    let store = memory();
    let ledger = waiting(&store).await;
    let head = store.head(&crate::support::key("t")).await.unwrap().unwrap().position;
    let without_ask = build(["work", "confirm", "last"])
        .edge("confirm", END)
        .removed_join("work+ask->last")
        .build()
        .unwrap();
    assert_eq!(missing(thread(&without_ask, &store).reply("yes", ledger.clone()).await), ["ask"]);
    let without_last = build(["work", "ask", "end"]).build().unwrap();
    let outcome = thread(&without_last, &store).resume(ledger.clone()).await;
    insta::assert_snapshot!(outcome.unwrap_err(), @"the graph has changed: the thread waits at `work+ask->last`, not in the graph any more; say what became of that with `renamed`, `removed` or `removed_join`");

    let same = build(["work", "ask", "last"]).build().unwrap();
    assert!(store.head(&crate::support::key("t")).await.unwrap().unwrap().position > head);
    // The answer was kept.
    let state = done(thread(&same, &store).resume(ledger.clone()).await);
    assert_eq!(log(&state), ["work", "yes", "last"]);
    assert_eq!(ledger.of("paid"), 1);
}

/// P13: a node that has another name is gone on with, what it did once is not done again, and a join knows what it has seen.
#[tokio::test(start_paused = true)]
async fn a_thread_that_waits_at_a_renamed_node_goes_on_with_it() {
    let store = memory();
    let ledger = waiting(&store).await;
    let renamed = build(["prepare", "confirm", "finish"])
        .renamed("work", "prepare")
        .renamed("ask", "confirm")
        .renamed("last", "finish")
        .interrupt_after(["confirm"])
        .build()
        .unwrap();
    let thread = thread(&renamed, &store);
    let outcome = thread.reply("yes", ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Breakpoint(_)), "{outcome:?}");
    let state = done(thread.resume(ledger.clone()).await);
    assert_eq!(log(&state), ["work", "yes", "finish"]);
    assert_eq!((ledger.of("paid"), ledger.of("work"), ledger.of("prepare")), (1, 1, 0));
    assert_eq!(thread.state(None).await.unwrap(), Some(state));
}

/// P13: what waits at a node that is gone goes on where the build says, and the question is nobody's any more.
#[tokio::test(start_paused = true)]
async fn a_thread_that_waits_at_a_removed_node_goes_on_behind_it() {
    for (next, want) in [("last", vec!["work", "last"]), (END, vec!["work"])] {
        let store = memory();
        let ledger = waiting(&store).await;
        let removed = builder()
            .node("work", work)
            .node("last", work)
            .edge(START, "work")
            .edge("work", "last")
            .edge("last", END)
            .removed("ask", next)
            .removed_join("work+ask->last")
            .build()
            .unwrap();
        let state = done(thread(&removed, &store).reply("yes", ledger.clone()).await);
        assert_eq!(log(&state), want);
        assert_eq!(ledger.of("paid"), 1);
    }
}

/// P13: what an earlier build sent and deferred leads to the nodes of this one.
#[tokio::test(start_paused = true)]
async fn what_was_scheduled_by_former_names_runs_under_todays() {
    let build = |one: &str, late: &str| {
        let target = one.to_owned();
        let sends =
            move |_: &S| (0..2).map(|n| Target::from(SendTo::new(&target, &n))).collect::<Vec<_>>();
        builder()
            .node(one, work)
            .node(late, work.defer())
            .branch(START, sends, [one])
            .edge(START, late)
            .edge(one, late)
            .edge(late, END)
            .interrupt_before([one])
    };
    let (store, ledger) = (memory(), Ledger::default());
    let before = build("one", "late").build().unwrap();
    let outcome = thread(&before, &store).invoke(S::update(), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Breakpoint(_)), "{outcome:?}");
    let after =
        build("first", "end").renamed("one", "first").renamed("late", "end").build().unwrap();
    let state = done(thread(&after, &store).resume(ledger.clone()).await);
    assert_eq!(log(&state), ["one", "one", "end"]);
}

#[test]
fn what_is_said_to_be_gone_must_be_gone() {
    let graph: Result<Graph<S, Ledger>, _> = build(["work", "ask", "last"])
        .renamed("work", "ask")
        .renamed("old", "nowhere")
        .removed("ask", END)
        .removed("older", "elsewhere")
        .build();
    let faults = graph.unwrap_err().faults;
    assert_eq!(faults.len(), 4, "{faults:?}");
    let still = |fault: &&Fault| matches!(fault, Fault::StillThere { .. });
    assert_eq!(faults.iter().filter(still).count(), 2);
    insta::assert_snapshot!(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), @r"
    renamed: no node `nowhere`; there are `ask`, `last`, `more`, `work`
    removed: no node `elsewhere`; there are `ask`, `last`, `more`, `work`
    renamed: the graph has a node `work`
    removed: the graph has a node `ask`
    ");
}
