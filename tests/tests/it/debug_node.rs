//! What `#[debug_node]` lets pass: every way in which a node can be written, and its run.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok::{
    BoxError, Command, Context, END, Graph, START, SendTo, Sent, Snapshot, State, View, debug_node,
};

#[derive(State, Clone, Default)]
pub(crate) struct Count {
    n: u32,
    log: String,
}

/// What nodes are given, under a name of the program's own.
pub(crate) struct Services {
    step: u32,
}

type Cx = Context<Services>;
type Counted = Snapshot<Count>;
type Written = std::io::Result<CountUpdate>;

#[debug_node]
async fn update(
    count: Snapshot<Count>,
    context: Context<Services>,
) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().n(count.n + context.services().step))
}

#[debug_node]
async fn command(_: Snapshot<Count>, _: Cx) -> Result<Command<Count>, BoxError> {
    Ok(Command::new().update(Count::update().log("command")))
}

#[debug_node]
pub(crate) async fn nothing(_: hanok::Snapshot<Count>, _: Cx) -> Result<(), std::fmt::Error> {
    Ok(())
}

#[debug_node]
async fn aliased(count: Counted, mut _context: Cx) -> Written {
    // A value that is no longer held across the await may be of any type.
    let log = std::rc::Rc::new(format!("{} aliased", count.log)).to_string();
    std::future::ready(()).await;
    Ok(Count::update().log(log))
}

#[tokio::test]
async fn a_node_is_what_it_would_be_without_the_attribute() {
    let graph = Graph::<Count, Services>::builder("count")
        .node("update", update)
        .node("command", command)
        .node("nothing", nothing)
        .node("aliased", aliased)
        .edge(START, "update")
        .edge("update", "command")
        .edge("command", "nothing")
        .edge("nothing", "aliased")
        .edge("aliased", END)
        .build()
        .unwrap();
    let end = graph.invoke(Count::update(), Services { step: 3 }).await.unwrap().done().unwrap();
    assert_eq!((end.n, end.log.as_str()), (3, "command aliased"));
}

#[debug_node]
async fn sent(
    count: Snapshot<Count>,
    by: Sent<u32>,
    _: Context<Services>,
) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().n(count.n + *by))
}

#[derive(View)]
#[view(of = Count)]
struct Log {
    log: String,
}

#[debug_node]
async fn viewed(view: Snapshot<Log>, _: Cx) -> Result<Vec<CountUpdate>, BoxError> {
    Ok(vec![Count::update().log(format!("{} viewed", view.log))])
}

#[tokio::test]
async fn a_node_may_take_what_a_send_gives_and_a_view_and_return_several() {
    let graph = Graph::<Count, Services>::builder("sent")
        .node("sent", sent)
        .node("viewed", viewed)
        .branch(START, |_: &Count| SendTo::new("sent", &7_u32), ["sent"])
        .edge("sent", "viewed")
        .edge("viewed", END)
        .build()
        .unwrap();
    let ended = graph.invoke(Count::update().n(1).log("a"), Services { step: 0 }).await.unwrap();
    let ended = ended.done().unwrap();
    assert_eq!((ended.n, ended.log.as_str()), (8, "a viewed"));
}
