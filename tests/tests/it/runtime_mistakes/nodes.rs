//! A node that does what it may not.

use hanok::{
    BoxError, Command, Context, END, Graph, NodeExt, START, SendTo, Sent, Snapshot, State,
    graph::GraphBuilder,
};

use crate::runtime_mistakes::Page;

#[derive(State, Clone, Debug, Default)]
struct Text {
    text: String,
    go: String,
    #[reduce(messages)]
    messages: hanok::Messages,
}

async fn write(_: Snapshot<Text>, _: Context) -> Result<TextUpdate, BoxError> {
    Ok(Text::update().text("written"))
}

async fn panics(text: Snapshot<Text>, _: Context) -> Result<TextUpdate, BoxError> {
    let first = text.text.chars().next().expect("a text is never empty");
    Ok(Text::update().text(first))
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("the bank is closed until {0}")]
struct Closed(u32);

async fn fails(_: Snapshot<Text>, _: Context) -> Result<TextUpdate, Closed> {
    Err(Closed(9))
}

async fn count(_: Snapshot<Text>, n: Sent<u32>, _: Context) -> Result<TextUpdate, BoxError> {
    Ok(Text::update().text(format!("{}", *n)))
}

async fn goes(_: Snapshot<Text>, _: Context) -> Result<Command<Text>, BoxError> {
    Ok(Command::new().goto("wriet"))
}

async fn removes(_: Snapshot<Text>, _: Context) -> Result<TextUpdate, BoxError> {
    Ok(Text::update().remove_message("m-7"))
}

fn graph() -> GraphBuilder<Text> {
    Graph::builder("text")
}

#[tokio::test]
async fn a_node_that_does_what_it_may_not() {
    let mut page = Page::default();
    let two = graph().node("a", write).node("b", write).edge(START, "a").edge(START, "b");
    let one = |node: &str| graph().edge(START, node).edge(node, END);
    let to_numbers = |text: &Text| SendTo::new("count", &text.text);
    let sent = graph().node("count", count).edge("count", END).branch(START, to_numbers, ["count"]);
    let router = |text: &Text| text.go.clone();
    let routed = graph().node("a", write).edge(START, "a").branch("a", router, ["a", END]);
    let undeclared = graph().node("a", goes.goto(["write"])).node("write", write);
    let undeclared = undeclared.edge(START, "a").edge("write", END);
    let silent = graph().node("a", goes).edge(START, "a").edge("a", END);
    let wide = graph().node("a", write).node("b", write).edge(START, "a").edge(START, "b");
    let slow = |_: Snapshot<Text>, _: Context| async {
        std::future::pending::<()>().await;
        Ok::<_, BoxError>(())
    };
    let slow = slow.timeout(std::time::Duration::from_millis(1));
    for (mistake, graph) in [
        ("two writers and no reducer", two.edge("a", END).edge("b", END)),
        ("a panic", one("a").node("a", panics)),
        ("an error of one's own", one("pay").node("pay", fails)),
        ("a `SendTo` of a wrong type", sent),
        ("a router to a node that is not declared", routed),
        ("a command to a node that is misspelt", undeclared),
        ("a command whose target is not declared", silent),
        ("a node that takes too long", one("slow").node("slow", slow)),
        ("a message removed that is not there", one("a").node("a", removes)),
        ("a super-step with too many tasks", wide.edge("a", END).edge("b", END).max_fan_out(1)),
    ] {
        let input = Text::update().text("").go("b");
        let error = graph.build().unwrap().invoke(input, ()).await.unwrap_err();
        page.tell(mistake, &error);
        let own = mistake == "an error of one's own";
        assert_eq!(error.downcast_ref::<Closed>(), own.then_some(&Closed(9)));
    }

    let forever = graph().node("a", write).edge(START, "a").branch("a", |_: &Text| "a", ["a", END]);
    let forever = forever.recursion_limit(5).build().unwrap();
    let ended = forever.invoke(Text::update(), ()).await.unwrap().done();
    page.tell("an endless loop", &ended.unwrap_err());

    let narrow = one("a").node("a", write).input(["text"]).build().unwrap();
    let refused = narrow.invoke(Text::update().go("b"), ()).await.unwrap_err();
    page.tell("an input to a field that is none", &refused);
    insta::assert_snapshot!(page.0, @r#"
    # two writers and no reducer
    HNK-202 super-step 0 could not be committed: field `text`: written by `a` and `b` in one super-step; give the field a reducer, or let one node write it
    # a panic
    HNK-201 node `a` failed in super-step 0: it panicked: a text is never empty
    # an error of one's own
    HNK-201 node `pay` failed in super-step 0: the bank is closed until 9
    # a `SendTo` of a wrong type
    HNK-201 what leads from START failed in super-step 0: it sends a `alloc::string::String` to `count`, which takes a `u32`
    # a router to a node that is not declared
    HNK-201 node `a` failed in super-step 0: it goes on to `b`; declared are `a`, END; add it to the targets of the branch, or to the node's `.goto([…])`
    # a command to a node that is misspelt
    HNK-201 node `a` failed in super-step 0: it goes on to `wriet`; declared are `write`; did you mean `write`?
    # a command whose target is not declared
    HNK-201 node `a` failed in super-step 0: it goes on to `wriet`; declared are none; add it to the targets of the branch, or to the node's `.goto([…])`
    # a node that takes too long
    HNK-201 node `slow` failed in super-step 0: it took longer than 1ms, its time-out
    # a message removed that is not there
    HNK-202 super-step 0 could not be committed: field `messages`: there is no message `m-7` to remove
    # a super-step with too many tasks
    HNK-204 super-step 0 schedules 2 tasks; the limit is 1: send fewer, or raise `max_fan_out`
    # an endless loop
    the turn reached its limit of 5 super-steps, over all its runs: if that is no endless loop, raise `recursion_limit` of the graph or of the thread, and `resume` it
    # an input to a field that is none
    HNK-205 the input writes `go`; the graph's input is `text`
    "#);
}
