//! The state in which a thread begins.

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{BoxError, Context, END, Graph, Outcome, START, Snapshot};
use hanok_state::{List, Map, Message, Messages, State};

#[derive(State, Debug, Clone, PartialEq)]
struct S {
    mode: String,
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    seen: Map<String, u8>,
    messages: Messages,
    #[reduce(nested)]
    child: Child,
}

#[derive(State, Debug, Clone, PartialEq)]
struct Child {
    #[reduce(append)]
    notes: Vec<u8>,
    n: u8,
}

impl Default for Child {
    fn default() -> Self {
        Self { notes: vec![1], n: 1 }
    }
}

impl Default for S {
    fn default() -> Self {
        Self {
            mode: "idle".into(),
            log: ["default".into()].into_iter().collect(),
            seen: [("default".into(), 1)].into_iter().collect(),
            messages: [Message::system("규칙").with_id("rules")].into_iter().collect(),
            child: Child::default(),
        }
    }
}

async fn write(_: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
    let update = S::update().push_log("written").insert_seen("written", 2);
    Ok(update.message("안녕").child(Child::update().push_notes(2)))
}

fn graph(initial: Option<S>) -> Graph<S> {
    let builder = Graph::<S>::builder("g").node("write", write).edge(START, "write");
    let builder = match initial {
        Some(initial) => builder.initial(initial),
        None => builder,
    };
    builder.edge("write", END).build().unwrap()
}

async fn kept(initial: Option<S>) -> S {
    let app = graph(initial).checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
    let mut last = S::default();
    for _ in 0..2 {
        let outcome = thread.invoke(S::update(), ()).await.unwrap();
        let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
        assert_eq!(thread.state(None).await.unwrap().unwrap(), state, "what the log says");
        last = state;
    }
    last
}

/// What a state begins with is in its log too, under every rule. B14
#[tokio::test]
async fn a_field_keeps_the_default_that_it_began_with() {
    let state = kept(None).await;
    assert_eq!(state.log.iter().collect::<Vec<_>>(), ["default", "written", "written"]);
    assert_eq!(
        state.seen.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
        ["default", "written"]
    );
    assert_eq!(
        state.messages.iter().map(|m| m.text().into_owned()).collect::<Vec<_>>(),
        ["규칙", "안녕", "안녕"]
    );
    assert_eq!((state.child.notes, state.child.n), (vec![1, 2, 2], 1));
}

#[tokio::test]
async fn a_graph_begins_with_the_state_that_it_was_given() {
    let mode = "busy".to_owned();
    let initial = S { mode: mode.clone(), log: List::new(), ..S::default() };
    let state = kept(Some(initial.clone())).await;
    assert_eq!(state.log.iter().collect::<Vec<_>>(), ["written", "written"]);
    let outcome = graph(Some(initial)).invoke(S::update(), ()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
    assert_eq!((state.mode, state.log.len(), state.seen.len()), (mode, 1, 2));
}

/// A subgraph's first values stand in its part of the log: a run that goes on finds them.
#[tokio::test]
async fn a_subgraph_begins_with_its_own_first_state() {
    let inner = graph(Some(S { mode: "inner".into(), ..S::default() }));
    let outer = Graph::<S>::builder("outer")
        .node("call", move |_: Snapshot<S>, cx: Context| {
            let inner = inner.clone();
            async move {
                let outcome = cx.run(&inner, S::update(), ()).await?;
                let Outcome::Done(state) = outcome else { return Err("not done".into()) };
                Ok::<_, BoxError>(S::update().log(state.log.iter().cloned()).mode(state.mode))
            }
        })
        .edge(START, "call")
        .edge("call", END)
        .build()
        .unwrap();
    let app = outer.checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
    let outcome = thread.invoke(S::update(), ()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
    assert_eq!(state.mode, "inner");
    assert_eq!(state.log.iter().collect::<Vec<_>>(), ["default", "default", "written"]);
    assert_eq!(thread.state(None).await.unwrap().unwrap(), state);
}
