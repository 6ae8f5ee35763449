//! A deploy between a task's stored write and the commit: its sibling waits for a person.

use hanok_graph::RunError;
use hanok_state::{List, Messages};

use super::*;

async fn writes<S: Tree>(_: Snapshot<S>, cx: Context<Ledger>) -> Result<S::Update, BoxError> {
    cx.services().note("writes");
    Ok(S::of(S::Leaf::pending()))
}

/// One node writes while another asks.
fn waiting<S: Tree>() -> Graph<S, Ledger> {
    let graph = Graph::builder("w").node("writes", writes::<S>).node("asks", asks::<S>);
    let graph = graph.edge(START, "writes").edge(START, "asks");
    graph.edge("writes", END).edge("asks", END).build().unwrap()
}

/// Deploys `New` while a write of `Old` is pending; returns the leaf at the end.
async fn deployed<Old: Tree, New: Tree>() -> String {
    let (store, ledger) = (memory(), Ledger::default());
    let old = fresh(&waiting::<Old>(), &store);
    let outcome = old.invoke(Old::of(Old::Leaf::first()), ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome));

    let new = waiting::<New>();
    let thread = fresh(&new, &store);
    // Reading tells nothing of what is pending, and changes nothing.
    let before = kinds(&store).await;
    read(&new, &store).await;
    assert_eq!(kinds(&store).await, before);
    // A person takes their time: the deploy is over before they answer.
    assert!(is_waiting(&thread.resume(ledger.clone()).await.unwrap()));
    let live = thread.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(ledger.of("writes"), 1, "a stored write is not made again");
    assert_eq!(read(&new, &store).await, live, "read again");
    let idle = idle::<New>();
    assert_eq!(turn(&fresh(&idle, &store), New::update()).await, live, "after a restart");
    assert!(thread.log().verify().await.unwrap().unwrap().is_whole());
    format!("{:?}", live.leaf())
}

/// P1, P2: what a task has written before a deploy is part of the super-step after it, in the new build's words, at every
/// depth.
#[tokio::test]
async fn a_pending_write_outlives_a_deploy() {
    macro_rules! case {
        ($build:ident, $want:literal) => {
            assert_eq!(deployed::<base::One, $build::One>().await, $want, "alone");
            assert_eq!(deployed::<base::Two, $build::Two>().await, $want, "nested");
            assert_eq!(deployed::<base::Three, $build::Three>().await, $want, "nested twice");
        };
    }
    case!(renamed, r#"One { known: ["a", "b"], total: 7, by: {"k": 1, "l": 2} }"#);
    case!(
        added,
        r#"One { facts: ["a", "b"], count: 7, by: {"k": 1, "l": 2}, rules: ["be polite"], mood: "calm" }"#
    );
    case!(retyped, r#"One { facts: ["a", "b"], count: "7", by: {"k": 1, "l": 2} }"#);
    case!(recast, r#"One { known: ["a", "b"], cents: 700, by: {"k": 1, "l": 2} }"#);
    case!(removed, r#"One { facts: ["a", "b"], by: {"k": 1, "l": 2} }"#);
}

fn add(value: &u32, write: u32) -> u32 {
    value + write
}

mod euros {
    use super::*;

    #[derive(State, Debug, Clone, Default, PartialEq)]
    pub(super) struct Bill {
        #[reduce(with = add)]
        pub(super) sum: u32,
        #[reduce(append)]
        pub(super) log: List<String>,
        pub(super) messages: Messages,
    }
}

mod cents {
    use super::*;

    fn upgrade(_: u32, fields: &mut hanok_core::Fields) -> Result<(), BoxError> {
        let euros: u32 = fields.take("sum").map_or(Ok(0), |sum| sum.to_stored().decode())?;
        let cents = hanok_core::Stored::encode(&(euros * 100))?;
        Ok(fields.apply("sum", &hanok_core::Change::Set(cents))?)
    }

    #[derive(State, Debug, Clone, Default, PartialEq)]
    #[state(version = 2, upgrade = upgrade)]
    pub(super) struct Bill {
        #[reduce(with = add)]
        pub(super) sum: u32,
        #[reduce(append)]
        #[state(alias = "log")]
        pub(super) lines: List<String>,
        pub(super) messages: Messages,
    }
}

/// What a reducer is given may mean something else to an upgraded build: that write is voided by an entry, and its task runs
/// again. Its siblings' writes stay.
#[tokio::test]
async fn a_write_that_cannot_be_read_in_the_new_schema_is_voided_and_made_again() {
    async fn pays(
        _: Snapshot<euros::Bill>,
        cx: Context<Ledger>,
    ) -> Result<euros::BillUpdate, BoxError> {
        cx.services().note("pays");
        Ok(euros::Bill::update().sum(5).push_log("pays"))
    }
    async fn says(
        _: Snapshot<euros::Bill>,
        cx: Context<Ledger>,
    ) -> Result<euros::BillUpdate, BoxError> {
        cx.services().note("says");
        Ok(euros::Bill::update().message("paid").push_log("says"))
    }
    async fn pays_cents(
        _: Snapshot<cents::Bill>,
        cx: Context<Ledger>,
    ) -> Result<cents::BillUpdate, BoxError> {
        cx.services().note("pays");
        Ok(cents::Bill::update().sum(500).push_lines("pays"))
    }
    async fn never(_: Snapshot<cents::Bill>, _: Context<Ledger>) -> Result<(), BoxError> {
        Err("its write is stored".into())
    }
    let old = Graph::builder("bill").node("pays", pays).node("says", says);
    let old = old.node("wait", asks::<euros::Bill>);
    let old = old.edge(START, "pays").edge(START, "says").edge(START, "wait");
    let old = old.edge("pays", END).edge("says", END).edge("wait", END).build().unwrap();
    let new = Graph::builder("bill").node("pays", pays_cents).node("says", never);
    let new = new
        .node("wait", asks::<cents::Bill>)
        .edge(START, "pays")
        .edge(START, "says")
        .edge(START, "wait");
    let new = new.edge("pays", END).edge("says", END).edge("wait", END).build().unwrap();

    let (store, ledger) = (memory(), Ledger::default());
    let outcome = fresh(&old, &store).invoke(euros::Bill::update().sum(1), ledger.clone()).await;
    assert!(is_waiting(&outcome.unwrap()));
    let live = fresh(&new, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((live.sum, live.messages.len()), (600, 1));
    assert_eq!(live.lines.iter().collect::<Vec<_>>(), ["pays", "says"]);
    assert_eq!((ledger.of("pays"), ledger.of("says")), (2, 1));
    assert_eq!(read(&new, &store).await, live);
    let kinds = kinds(&store).await;
    assert_eq!(kinds.iter().filter(|kind| **kind == "void").count(), 1, "{kinds:?}");
}

/// A reducer's input that only a newer build understands is voided by an older one that goes on with the turn.
#[tokio::test]
async fn a_reducers_input_of_an_unknown_field_is_not_lost_without_a_word() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Plain {
        #[reduce(append)]
        log: List<String>,
    }
    async fn pays(
        _: Snapshot<euros::Bill>,
        _: Context<Ledger>,
    ) -> Result<euros::BillUpdate, BoxError> {
        Ok(euros::Bill::update().sum(5).push_log("newer"))
    }
    async fn plain(_: Snapshot<Plain>, _: Context<Ledger>) -> Result<PlainUpdate, BoxError> {
        Ok(Plain::update().push_log("older"))
    }
    let newer = Graph::builder("bill").node("pays", pays).node("wait", asks::<euros::Bill>);
    let newer = newer.edge(START, "pays").edge(START, "wait").edge("pays", END).edge("wait", END);
    let older = Graph::builder("bill").node("pays", plain).node("wait", asks::<Plain>);
    let older = older.edge(START, "pays").edge(START, "wait").edge("pays", END).edge("wait", END);
    let (newer, older) = (newer.build().unwrap(), older.build().unwrap());

    let (store, ledger) = (memory(), Ledger::default());
    let outcome = fresh(&newer, &store).invoke(euros::Bill::update().sum(1), ledger.clone()).await;
    assert!(is_waiting(&outcome.unwrap()));
    let live = fresh(&older, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(live.log.iter().collect::<Vec<_>>(), ["older"]);
    let state = read(&newer, &store).await;
    assert_eq!((state.sum, state.log.len()), (1, 1));
    assert!(kinds(&store).await.contains(&"void"));
}

/// An upgrade that fails, and a value that cannot be read, are told before an answer is taken: the question stays open, and
/// a build that can read the state goes on with it.
#[tokio::test]
async fn a_deploy_that_cannot_read_the_state_takes_no_answer() {
    mod broken {
        use super::*;

        fn upgrade(_: u32, _: &mut hanok_core::Fields) -> Result<(), BoxError> {
            Err("nobody knows how".into())
        }

        #[derive(State, Debug, Clone, Default, PartialEq)]
        #[state(version = 2, upgrade = upgrade)]
        pub(super) struct One {
            facts: u32,
        }
    }
    let (store, ledger) = (memory(), Ledger::default());
    let good = waiting::<base::One>();
    let first = base::One::of(base::One::first());
    let outcome = fresh(&good, &store).invoke(first, ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome));
    let before = kinds(&store).await;
    let graph = Graph::builder("w").node("asks", asks::<broken::One>).edge(START, "asks");
    let wrong = graph.edge("asks", END).removed("writes", END).build().unwrap();
    let error = fresh(&wrong, &store).reply("yes", ledger.clone()).await.unwrap_err();
    assert!(matches!(error, RunError::Unreadable { .. }), "{error:?}");
    assert_eq!(
        crate::support::chain(&error),
        "thread `default/t`: the state that graph `w` stored does not fit the state of this build / the state was not upgraded from version 1 to 2 / nobody knows how"
    );
    assert_eq!(kinds(&store).await, before, "nothing was stored");
    let state = fresh(&good, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((state.count, ledger.of("writes")), (7, 1));
}

/// An edit between the deploy and the answer keeps what is pending.
#[tokio::test]
async fn an_edit_after_a_deploy_keeps_pending_writes() {
    let (store, ledger) = (memory(), Ledger::default());
    let old = fresh(&waiting::<base::Two>(), &store);
    old.invoke(base::Two::of(base::One::first()), ledger.clone()).await.unwrap();
    let new = fresh(&waiting::<renamed::Two>(), &store);
    new.edit(renamed::Two::of(renamed::One::later())).await.unwrap();
    let live = new.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(live.leaf().known.iter().collect::<Vec<_>>(), ["a", "c", "b"]);
    assert_eq!((live.leaf().total, ledger.of("writes")), (7, 1));
    assert_eq!(read(&waiting::<renamed::Two>(), &store).await, live);
    assert_eq!(
        fields(&store).await,
        r#"{"beside":0,"leaf":{"by":{"k":1,"l":2,"m":3},"known":["a","c","b"],"total":7}}"#
    );
}
