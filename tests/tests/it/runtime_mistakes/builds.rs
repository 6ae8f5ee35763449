//! A thread that another build, or another graph, wrote.

use hanok::{
    BoxError, Context, END, Graph, InMemoryCheckpointer, START, SharedCheckpointer, Snapshot,
    State, Thread, ThreadKey,
};

use crate::runtime_mistakes::Page;

/// The state, as three builds have it.
mod now {
    #[derive(hanok::State, Clone, Debug, Default)]
    pub(super) struct Account {
        pub(super) holder: String,
    }
}
mod newer {
    #[derive(hanok::State, Clone, Debug, Default)]
    #[state(version = 2)]
    pub(super) struct Account {
        pub(super) holder: String,
    }
}
mod unfit {
    #[derive(hanok::State, Clone, Debug, Default)]
    pub(super) struct Account {
        pub(super) holder: u64,
    }
}

async fn nothing<S: State>(_: Snapshot<S>, _: Context) -> Result<(), BoxError> {
    Ok(())
}

fn thread<S: State>(store: &SharedCheckpointer, graph: &str, node: &str) -> Thread<S> {
    let graph = Graph::<S>::builder(graph).node(node, nothing::<S>).edge(START, node);
    let graph = graph.edge(node, END).interrupt_before([node]).build().unwrap();
    graph.checkpointer(store.clone()).thread(ThreadKey::named("kim").unwrap())
}

#[tokio::test]
async fn what_another_build_wrote() {
    let mut page = Page::default();
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let written = thread::<now::Account>(&store, "account", "pay");
    written.invoke(now::Account::update().holder("Kim"), ()).await.unwrap();

    let other = thread::<now::Account>(&store, "search", "pay").state(None).await;
    page.tell("a thread of another graph", &other.unwrap_err());
    let unfit = thread::<unfit::Account>(&store, "account", "pay").state(None).await;
    page.tell("a field whose type was changed", &unfit.unwrap_err());
    let gone = thread::<now::Account>(&store, "account", "transfer").resume(()).await;
    page.tell("a node that was renamed", &gone.unwrap_err());

    let newer = thread::<newer::Account>(&store, "account", "pay");
    newer.edit(newer::Account::update().holder("Lee")).await.unwrap();
    let old = thread::<now::Account>(&store, "account", "pay").resume(()).await;
    page.tell("an old build on a newer state", &old.unwrap_err());
    insta::assert_snapshot!(page.0, @r#"
    # a thread of another graph
    HNK-225 thread `default/kim` is of graph `account`, and this is graph `search`; if it had that name once, say `.formerly("account")`
    # a field whose type was changed
    HNK-224 thread `default/kim`: the state that graph `account` stored does not fit the state of this build: field `holder` cannot be read: the stored value "Kim" is no `u64`: a text stands where something else should
    # a node that was renamed
    HNK-222 the graph has changed: the thread waits at `pay`, not in the graph any more; say what became of that with `renamed`, `removed` or `removed_join`
    # an old build on a newer state
    HNK-223 the state was stored in version 2 of its type, and this build has version 1; it takes a build that has version 2
    "#);
}
