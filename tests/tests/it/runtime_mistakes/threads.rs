//! Threads: their names, two runs of one, and their past.

use hanok::{
    App, BoxError, Context, END, Graph, InMemoryCheckpointer, Position, START, Snapshot, State,
    Tenant, Thread, ThreadKey, graph::EventId,
};

use crate::runtime_mistakes::Page;

#[derive(State, Clone, Debug, Default)]
struct Count {
    n: u32,
}

async fn add(count: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    tokio::task::yield_now().await;
    Ok(Count::update().n(count.n + 1))
}

fn app() -> App<Count> {
    let graph = Graph::builder("count").node("add", add).node("more", add).edge(START, "add");
    let graph = graph.edge("add", "more").edge("more", END).build().unwrap();
    graph.checkpointer(InMemoryCheckpointer::new())
}

fn thread(app: &App<Count>, name: &str) -> Thread<Count> {
    app.thread(ThreadKey::named(name).unwrap())
}

#[test]
fn the_name_of_a_thread() {
    let mut page = Page::default();
    page.tell("an empty name", &ThreadKey::named("").unwrap_err());
    page.tell("a name with a line break", &ThreadKey::named("a\nb").unwrap_err());
    page.tell("a name that is too long", &ThreadKey::named(&"x".repeat(2_000)).unwrap_err());
    page.tell("an empty tenant", &Tenant::new("").unwrap_err());
    page.tell("an id of an event that is none", &"7".parse::<EventId>().unwrap_err());
    insta::assert_snapshot!(page.0, @r#"
    # an empty name
    the thread's name is empty
    # a name with a line break
    the thread's name holds the control character U+000A at byte 1
    # a name that is too long
    the thread's name has 2000 bytes; at most 256 are allowed
    # an empty tenant
    the tenant's name is empty
    # an id of an event that is none
    `7` is no id of an event: it is LIFE.POSITION.INDEX
    "#);
}

#[tokio::test]
async fn a_thread_and_its_past() {
    let mut page = Page::default();
    let app = app();
    let nothing = thread(&app, "nothing");
    page.tell("a resume of what is not there", &nothing.resume(()).await.unwrap_err());
    page.tell("a reply to what is not there", &nothing.reply(&true, ()).await.unwrap_err());
    page.tell("a rewind of what is not there", &nothing.rewind(Position(1)).await.unwrap_err());

    let one = thread(&app, "one");
    let (first, second) =
        tokio::join!(one.invoke(Count::update(), ()), one.invoke(Count::update(), ()));
    first.unwrap();
    let process = format!("process {}", std::process::id());
    let in_use = second.unwrap_err();
    page.tell("two runs of one thread", &in_use);
    page.0 = page
        .0
        .lines()
        .map(|line| match line.split_once(&process) {
            Some((before, after)) => {
                let after = after.split_once(';').map_or("", |(_, after)| after);
                format!("{before}process PID on HOST;{after}\n")
            }
            None => format!("{line}\n"),
        })
        .collect();

    page.tell("a rewind beyond the end", &one.rewind(Position(99)).await.unwrap_err());
    page.tell("a state beyond the end", &one.state(Some(Position(99))).await.unwrap_err());
    page.tell(
        "a fork beyond the end",
        &one.fork(Some(Position(99)), &ThreadKey::named("new").unwrap()).await.unwrap_err(),
    );
    let two = thread(&app, "two");
    two.invoke(Count::update(), ()).await.unwrap();
    page.tell("a fork onto a thread that is there", &one.fork(None, two.key()).await.unwrap_err());
    page.tell("back by more turns than there are", &one.rewind_turns(7).await.unwrap_err());
    let edit = one.edit_as(Some("mroe"), Count::update().n(1)).await.unwrap_err();
    page.tell("an edit as a node that is misspelt", &edit);
    let edit = nothing.edit(Count::update().n(1)).await;
    if let Err(edit) = edit {
        page.tell("an edit of what is not there", &edit);
    }
    insta::assert_snapshot!(page.0, @r#"
    # a resume of what is not there
    HNK-221 thread `default/nothing` does not exist; check its name, or begin it with `invoke`
    # a reply to what is not there
    HNK-217 thread `default/nothing` asks nothing now; if it should, check its name, or `resume` it
    # a rewind of what is not there
    HNK-221 thread `default/nothing` does not exist; check its name, or begin it with `invoke`
    # two runs of one thread
    HNK-208 thread `default/one` is in use by process PID on HOST; try again later
    # a rewind beyond the end
    HNK-102 thread `default/one` has no position 99; its log ends at 4
    # a state beyond the end
    HNK-102 thread `default/one` has no position 99; its log ends at 4
    # a fork beyond the end
    HNK-102 thread `default/one` has no position 99; its log ends at 4
    # a fork onto a thread that is there
    HNK-104 thread `default/two` exists already; choose another name, or delete it first
    # back by more turns than there are
    HNK-227 thread `default/one` cannot go back 7 turns; it can go back 0
    # an edit as a node that is misspelt
    HNK-219 there is no node `mroe`; there are `add`, `more`; did you mean `more`?
    # an edit of what is not there
    HNK-221 thread `default/nothing` does not exist; check its name, or begin it with `invoke`
    "#);
}
