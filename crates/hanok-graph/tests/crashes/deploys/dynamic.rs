//! Deploys of states whose fields are declared at run time.

use hanok_state::{DynamicRule, DynamicSchema, DynamicState, DynamicUpdate};
use serde_json::json;

use super::*;

fn graph(schema: DynamicSchema) -> Graph<DynamicState, Ledger> {
    async fn writes(
        _: Snapshot<DynamicState>,
        cx: Context<Ledger>,
    ) -> Result<DynamicUpdate, BoxError> {
        cx.services().note("writes");
        Ok(DynamicUpdate::new().set("n", 2).set("log", "b").set("topic", "tea"))
    }
    let graph = Graph::builder("dynamic").initial(schema.state().unwrap());
    let graph =
        graph.node("writes", writes).node("asks", asks::<DynamicState>).edge(START, "writes");
    graph.edge(START, "asks").edge("writes", END).edge("asks", END).build().unwrap()
}

fn schema() -> DynamicSchema {
    DynamicSchema::new("s").field("log", DynamicRule::Append).field("topic", DynamicRule::Last)
}

/// A field that a schema of later adds has its default, one that it drops rides along, and pending writes are kept; the sum
/// of a field that is gone is voided and its task runs again.
#[tokio::test]
async fn a_declared_state_outlives_a_change_of_its_schema() {
    let (store, ledger) = (memory(), Ledger::default());
    let old = graph(schema().field("n", DynamicRule::Sum));
    let update = DynamicUpdate::new().set("n", 1).set("log", "a");
    let outcome = fresh(&old, &store).invoke(update, ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome));
    let new = graph(schema().field("n", DynamicRule::Sum).field("tags", DynamicRule::Merge));
    let live = fresh(&new, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    let want = json!({"log": ["a", "b"], "topic": "tea", "n": 3, "tags": {}});
    assert_eq!((live.to_json().unwrap(), ledger.of("writes")), (want.clone(), 1));
    assert_eq!(read(&new, &store).await.to_json().unwrap(), want);

    let outcome = fresh(&new, &store).invoke(DynamicUpdate::new(), ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome));
    let quiet = Graph::builder("dynamic")
        .initial(schema().state().unwrap())
        .node("asks", asks::<DynamicState>);
    let quiet = quiet.edge(START, "asks").edge("asks", END).removed("writes", END);
    let quiet = quiet.build().unwrap();
    let live = fresh(&quiet, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(live.to_json().unwrap(), json!({"log": ["a", "b"], "topic": "tea"}));
    assert_eq!(
        read(&new, &store).await.to_json().unwrap(),
        want,
        "what it does not know is as it was"
    );
    assert!(kinds(&store).await.contains(&"void"));
}
