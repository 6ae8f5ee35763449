//! Several super-steps that are made from outside at once.

use hanok_checkpoint::{Body, Checkpoint, Frontier, Select};
use hanok_core::{Fields, Namespace};
use hanok_graph::{BoxError, Context, END, EditStep, Graph, RunError, START, Snapshot, Thread};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, built, entries, kinds, log, memory, says, thread, work};

/// `a` writes a message and leads to `b` and `c` together, which join in `d`; `d` leads to `e` when there is much to say.
fn graph() -> Graph<S, Ledger> {
    async fn tell(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note(cx.node());
        Ok(says(cx.node()).message("안녕").n(7))
    }
    let graph = Graph::builder("wide").node("a", tell).node("b", work).node("c", work);
    let graph =
        graph.node("d", work).node("e", work).edge(START, "a").edge("a", "b").edge("a", "c");
    let graph = graph.join(["b", "c"], "d");
    let more = |state: &S| if state.log.iter().count() > 4 { "e" } else { END };
    built(graph.branch("d", more, ["e", END]).edge("e", END))
}

fn steps(input: &str) -> Vec<EditStep<S>> {
    let nodes = |nodes: &[&str]| {
        EditStep::Nodes(nodes.iter().map(|node| (node.to_string(), says(*node))).collect())
    };
    let tells = says("a").message("안녕").n(7);
    vec![
        EditStep::Input(says(input)),
        EditStep::Nodes(vec![("a".to_owned(), tells)]),
        // The order in which they are named does not count.
        nodes(&["c", "b"]),
        nodes(&["d"]),
        nodes(&["e"]),
    ]
}

/// What a history says of its checkpoints, without where and when.
type Told = (u32, &'static str, Vec<String>, Vec<String>, Fields, Frontier);

async fn told(on: &Thread<S, Ledger>) -> Vec<Told> {
    let listed = on.log().checkpoints(Select::all()).await.unwrap();
    let mut told = Vec::new();
    for Checkpoint { position, step, source, nodes, next, .. } in listed {
        let fold = on.log().open(Some(position)).await.unwrap().unwrap().fold;
        let run = fold.run(&Namespace::root()).unwrap().clone();
        let fields = Fields::from_stored(&run.fields.to_stored()).unwrap();
        told.push((step, source.as_str(), nodes, next, fields, run.frontier));
    }
    told
}

/// Messages get ids that derive from the life of their thread, and from where a turn begins, which is another position there.
fn without_ids(told: Vec<Told>) -> Vec<String> {
    let shown = told.into_iter().map(|(step, source, nodes, next, mut fields, frontier)| {
        let messages = fields.take("messages").map(|field| field.to_stored().to_items().unwrap());
        format!(
            "{step} {source} {nodes:?} {next:?} {} {fields:?} {frontier:?}",
            messages.unwrap_or_default().len()
        )
    });
    shown.collect()
}

/// B93: two turns, the second over what the first left, made at once and run: one history.
#[tokio::test]
async fn an_edit_of_several_super_steps_gives_the_history_of_a_run_that_made_them() {
    let (graph, ran, edited, ledger) = (graph(), memory(), memory(), Ledger::default());
    let run = thread(&graph, &ran);
    for input in ["one", "two"] {
        run.invoke(says(input), ledger.clone()).await.unwrap().done().unwrap();
    }
    let edit = thread(&graph, &edited);
    let before = ledger.counts(["a", "b", "c", "d", "e"]);
    let all = [steps("one"), steps("two")].concat();
    let end = edit.edits(all).await.unwrap();
    assert_eq!(without_ids(told(&edit).await), without_ids(told(&run).await));
    assert_eq!(
        edit.state(None).await.unwrap().map(|state| log(&state).join(" ")).as_deref(),
        Some("one a b c d e two a b c d e")
    );
    assert_eq!(entries(&edit).await.last().unwrap().position, end);
    assert_eq!(ledger.counts(["a", "b", "c", "d", "e"]), before, "nothing ran");
    // Both go on alike.
    for on in [&run, &edit] {
        on.invoke(says("three"), ledger.clone()).await.unwrap().done().unwrap();
    }
    assert_eq!(without_ids(told(&edit).await), without_ids(told(&run).await));
}

/// B93: a turn that the edit leaves in the middle is gone on with, and only what is due runs.
#[tokio::test]
async fn a_turn_that_an_edit_leaves_open_is_gone_on_with() {
    let (graph, store, ledger) = (graph(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.edits(steps("in").into_iter().take(3).collect()).await.unwrap();
    assert_eq!(on.views(None).await.unwrap()[0].next, ["d"]);
    let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "a", "b", "c", "d", "e"]);
    assert_eq!(ledger.counts(["a", "b", "c", "d", "e"]), [0, 0, 0, 1, 1]);
    // A step in the middle of a turn needs no input.
    let more = vec![EditStep::Nodes(vec![("a".to_owned(), says("again"))])];
    on.edits(more).await.unwrap();
    assert_eq!(on.views(None).await.unwrap()[0].next, ["b", "c"]);
}

/// B93: it is all or nothing, and one append.
#[tokio::test]
async fn an_edit_that_cannot_be_made_writes_nothing() {
    let (graph, store, ledger) = (graph(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let nodes = |names: &[&str]| {
        EditStep::Nodes(names.iter().map(|name| (name.to_string(), S::update().n(1))).collect())
    };
    let headless = on.edits(vec![nodes(&["a"])]).await;
    assert!(matches!(headless, Err(RunError::NoSuchThread(_))), "{headless:?}");
    on.invoke(says("in"), ledger).await.unwrap();
    let before = entries(&on).await;
    let unknown = on.edits(vec![EditStep::Input(says("x")), nodes(&["nobody"])]).await;
    assert!(matches!(unknown, Err(RunError::NoSuchNode { .. })), "{unknown:?}");
    // `n` is a last value: two of one step cannot both write it.
    let both = on.edits(vec![EditStep::Input(says("x")), nodes(&["b", "c"])]).await;
    assert!(matches!(both, Err(RunError::Reduce { .. })), "{both:?}");
    assert_eq!(entries(&on).await, before);
    on.edits(Vec::new()).await.unwrap();
    assert_eq!(entries(&on).await, before);
    on.edits(vec![EditStep::Input(says("y"))]).await.unwrap();
    assert_eq!(kinds(&on).await[before.len()..], ["begin", "end"]);
}

/// B74, B84: runs are found by what their caller called them, whatever that is.
#[tokio::test]
async fn runs_are_found_by_their_tags() {
    let (graph, store, ledger) = (graph(), memory(), Ledger::default());
    let on = thread(&graph, &store);
    let odd = "' OR 1=1 --/../%_\"\u{1b}[2J$.{a}";
    for (key, value) in [("case", "17"), ("case", "18"), (odd, odd)] {
        let tagged = on.clone().tag(key, value).unwrap();
        tagged.invoke(says(value), ledger.clone()).await.unwrap();
    }
    for (key, value, found) in
        [("case", "17", 5), ("case", "18", 5), (odd, odd, 5), ("case", "1%", 0), ("%", "17", 0)]
    {
        let listed = on.log().checkpoints(Select::all().tag(key, value)).await.unwrap();
        assert_eq!(listed.len(), found, "{key} {value}");
        assert!(listed.iter().all(|it| it.tags.get(key).is_some_and(|tag| tag == value)));
    }
    let of_step = Select::all().steps(2..=2).node("b").tag("case", "18").limit(9);
    let listed = on.log().checkpoints(of_step).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].nodes.join(" "), listed[0].next.join(" ")), ("b c".into(), "d".into()));
    let begins = entries(&on).await.into_iter().filter_map(|entry| match entry.entry.body {
        Body::Begin(begin) => Some(begin.run),
        _ => None,
    });
    let last = begins.last().unwrap();
    assert_eq!(on.log().checkpoints(Select::all().run(last)).await.unwrap().len(), 5);
    assert!(on.clone().tag("x".repeat(257), "").is_err());
    assert!(on.tag("", "x".repeat(256)).is_ok());
}
