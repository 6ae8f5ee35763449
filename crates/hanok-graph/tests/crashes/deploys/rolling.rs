//! Two builds that take turns on one thread.

use futures::StreamExt;
use hanok_graph::{EventKind, Input};

use super::*;

fn add(value: &u32, write: u32) -> u32 {
    value + write
}

/// Builds of one version that know different fields take turns without writing the state anew; each keeps what the other
/// knows, at every depth, and a turn costs what it says.
#[tokio::test]
async fn two_builds_in_turn_write_no_state_anew() {
    let store = memory();
    let (old, new) = (idle::<base::Three>(), idle::<added::Three>());
    turn(&fresh(&old, &store), base::Three::of(base::One::first())).await;
    let mut sizes = Vec::new();
    for _ in 0..5 {
        turn(&fresh(&new, &store), added::Three::of(added::One::later())).await;
        turn(&fresh(&old, &store), base::Three::of(base::One::later())).await;
        sizes.push(fresh(&old, &store).log().open(None).await.unwrap().unwrap().sizes.1);
    }
    let state = read(&new, &store).await;
    let rules = ["be polite", "be brief", "be brief", "be brief", "be brief", "be brief"];
    assert_eq!(state.leaf().rules.iter().collect::<Vec<_>>(), rules);
    assert_eq!(state.leaf().facts.len(), 11);
    assert_eq!(turn(&fresh(&new, &store), added::Three::update()).await, state);
    let kinds = kinds(&store).await;
    let of = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!((of("extend"), of("rebase")), (1, 0), "{kinds:?}");
    let grown: Vec<_> = sizes.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(grown.windows(2).all(|pair| pair[0].abs_diff(pair[1]) < 16), "{grown:?}");
}

/// What an older build writes whole keeps what only the newer one knows, and so does a write of the newer one that the older
/// one commits.
#[tokio::test]
async fn what_only_the_newer_build_knows_stays_through_writes_of_the_older_one() {
    fn waiting<S: Tree>() -> Graph<S, Ledger> {
        async fn writes<S: Tree>(
            _: Snapshot<S>,
            cx: Context<Ledger>,
        ) -> Result<S::Update, BoxError> {
            cx.services().note("writes");
            Ok(S::of(S::Leaf::later()))
        }
        let graph = Graph::builder("w").node("writes", writes::<S>).node("asks", asks::<S>);
        let graph = graph.edge(START, "writes").edge(START, "asks");
        graph.edge("writes", END).edge("asks", END).build().unwrap()
    }
    let store = memory();
    let ledger = Ledger::default();
    let update = added::Two::of(added::One::update().mood("happy"));
    let newer = fresh(&waiting::<added::Two>(), &store);
    assert!(is_waiting(&newer.invoke(update, ledger.clone()).await.unwrap()));

    let older = fresh(&waiting::<base::Two>(), &store);
    older.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(ledger.of("writes"), 1);
    let state = read(&idle::<added::Two>(), &store).await;
    assert_eq!(state.leaf().mood, "happy");
    assert_eq!(state.leaf().rules.iter().collect::<Vec<_>>(), ["be polite", "be brief"]);

    // In the process of before, which knows what it committed.
    let whole = base::Two::update().overwrite_leaf(base::One::default());
    assert!(is_waiting(&older.invoke(whole.clone(), ledger.clone()).await.unwrap()));
    older.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    let state = read(&idle::<added::Two>(), &store).await;
    assert_eq!(state.leaf().rules.iter().collect::<Vec<_>>(), ["be polite", "be brief"]);

    let older = fresh(&idle::<base::Two>(), &store);
    turn(&older, whole).await;
    turn(&older, base::Two::of(base::One::first())).await;
    let state = read(&idle::<added::Two>(), &store).await;
    assert_eq!((state.leaf().mood.as_str(), state.leaf().rules.len()), ("happy", 2));
    assert_eq!(state.leaf().facts.iter().collect::<Vec<_>>(), ["a"]);
    assert_eq!(turn(&fresh(&idle::<added::Two>(), &store), added::Two::update()).await, state);
}

/// A field that is stored and that a build of the same version does not know is told to whoever observes the run, with its
/// place; a build of another version has removed it, and nothing is told.
#[tokio::test]
async fn an_unknown_field_of_the_same_version_is_told() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    #[state(version = 2)]
    struct Second {
        beside: u32,
    }
    async fn unknown<S: State>(store: &SharedCheckpointer) -> Vec<String> {
        let mut events =
            fresh(&idle::<S>(), store).stream(Input::New(S::update()), Ledger::default());
        let mut names = Vec::new();
        while let Some(event) = events.next().await {
            if let EventKind::UnknownFields { fields } = event.kind {
                names.extend(fields);
            }
        }
        events.outcome().await.unwrap().done().unwrap();
        names
    }
    let store = memory();
    turn(&fresh(&idle::<added::Three>(), &store), added::Three::of(added::One::first())).await;
    assert_eq!(unknown::<added::Three>(&store).await, [""; 0]);
    assert_eq!(
        unknown::<base::Three>(&store).await,
        ["middle.leaf.mood", "middle.leaf.rules"],
        "fields of nested states with those around them"
    );
    assert_eq!(unknown::<Second>(&store).await, [""; 0]);
}

/// What one of several tasks of an older build writes whole, and what a reducer of its makes of a write of the newer one,
/// leave what only the newer one knows.
#[tokio::test]
async fn a_wide_super_step_of_an_older_build_keeps_what_it_does_not_know() {
    mod newer {
        use super::*;

        #[derive(State, Debug, Clone, Default, PartialEq)]
        pub(super) struct Inner {
            #[reduce(with = add)]
            pub(super) sum: u32,
            pub(super) mood: String,
        }

        #[derive(State, Debug, Clone, Default, PartialEq)]
        pub(super) struct Outer {
            #[reduce(nested)]
            pub(super) inner: Inner,
        }
    }
    mod older {
        use super::*;

        #[derive(State, Debug, Clone, Default, PartialEq)]
        pub(super) struct Inner {
            #[reduce(with = add)]
            pub(super) sum: u32,
        }

        #[derive(State, Debug, Clone, Default, PartialEq)]
        pub(super) struct Outer {
            #[reduce(nested)]
            pub(super) inner: Inner,
        }
    }
    use newer::Outer as Newer;
    use older::Outer as Older;

    async fn writes(
        _: Snapshot<Newer>,
        _: Context<Ledger>,
    ) -> Result<newer::OuterUpdate, BoxError> {
        Ok(Newer::update().inner(newer::Inner::update().sum(5).mood("happy")))
    }
    async fn never(_: Snapshot<Older>, _: Context<Ledger>) -> Result<(), BoxError> {
        Err("its write is stored".into())
    }
    async fn whole(_: Snapshot<Older>, _: Context<Ledger>) -> Result<older::OuterUpdate, BoxError> {
        Ok(Older::update().overwrite_inner(older::Inner { sum: 100 }))
    }
    async fn idles(_: Snapshot<Older>, _: Context<Ledger>) -> Result<(), BoxError> {
        Ok(())
    }
    let graph = Graph::builder("w").node("writes", writes).node("asks", asks::<Newer>);
    let graph = graph.edge(START, "writes").edge(START, "asks").edge("writes", END);
    let newer = graph.edge("asks", END).build().unwrap();
    let graph = Graph::builder("w").node("writes", never).node("asks", asks::<Older>);
    let graph = graph.edge(START, "writes").edge(START, "asks").edge("writes", END);
    let older = graph.edge("asks", END).build().unwrap();

    let (store, ledger) = (memory(), Ledger::default());
    let first = Newer::update().inner(newer::Inner::update().sum(1));
    assert!(is_waiting(&fresh(&newer, &store).invoke(first, ledger.clone()).await.unwrap()));
    let live = fresh(&older, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(live.inner.sum, 6);
    let inner = read(&newer, &store).await.inner;
    assert_eq!((inner.sum, inner.mood.as_str()), (6, "happy"));

    let graph = Graph::builder("w").node("whole", whole).node("idles", idles);
    let graph = graph.edge(START, "whole").edge(START, "idles").edge("whole", END);
    let wide = graph.edge("idles", END).build().unwrap();
    turn(&fresh(&wide, &store), Older::update()).await;
    let inner = read(&newer, &store).await.inner;
    assert_eq!((inner.sum, inner.mood.as_str()), (100, "happy"));
}
