//! Processes that are killed while they run a graph on one file.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says how it went"
)]

use std::env;

use futures::executor::block_on;
use hanok_checkpoint::{Memory, SharedCheckpointer};
use hanok_graph::{
    App, BoxError, Context, Doubt, Durability, END, Graph, NotMade, START, Snapshot,
};
use hanok_sqlite::Sqlite;
use hanok_state::{List, State};
use hanok_testkit::{Kills, Ledger};

const ROUNDS: u64 = 200;

/// How many payments a run makes.
const PAYMENTS: u32 = 6;

/// The file that a child opens, and how it keeps what it does.
const FILE: &str = "HANOK_SQLITE_TEST_FILE";
const DURABILITY: &str = "HANOK_SQLITE_TEST_DURABILITY";

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Order {
    n: u32,
    total: u32,
    #[reduce(append)]
    receipts: List<String>,
}

/// Asks a price, which may be asked twice, and pays it, which may not.
async fn pay(order: Snapshot<Order>, cx: Context<Ledger>) -> Result<OrderUpdate, BoxError> {
    let (n, world) = (order.n, cx.services());
    let call = cx.call("step", "price", "{}").key().to_string();
    let price: u32 = cx
        .step("price", || async move { world.note("price", &call, "asked").map(|()| 10 + n) })
        .await?;
    let bank = async |call: hanok_core::Call| -> Result<String, BoxError> {
        let receipt = format!("receipt of {price}");
        world.note("paid", &call.key().to_string(), &receipt).map_err(NotMade)?;
        Ok(receipt)
    };
    let receipt = cx.once("pay", &format!(r#"{{"amount":{price}}}"#), Doubt::Ask, bank).await?;
    Ok(Order::update().n(n + 1).total(order.total + price).push_receipts(receipt))
}

fn app(store: SharedCheckpointer) -> App<Order, Ledger> {
    let durability = match env::var(DURABILITY).as_deref() {
        Ok("async") => Durability::Async,
        Ok("exit") => Durability::Exit,
        _ => Durability::Sync,
    };
    Graph::<Order, Ledger>::builder("order")
        .node("pay", pay)
        .edge(START, "pay")
        .branch("pay", |order: &Order| if order.n < PAYMENTS { "pay" } else { END }, ["pay", END])
        .build()
        .unwrap()
        .checkpointer(store)
        .durable(durability)
}

const KILLS: Kills<Order> = Kills { child: "child", app, input: Order::update, once: "paid" };

/// This is what a child runs; in a parent it does nothing.
#[test]
fn child() {
    KILLS.child(|| async {
        SharedCheckpointer::new(Sqlite::open(env::var(FILE).unwrap()).await.unwrap())
    });
}

/// B71, P1, P3, P4, P5: two hundred deaths, under every durability.
#[test]
fn killed_runs_end_where_a_quiet_run_ends_and_pay_each_thing_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let store = SharedCheckpointer::new(block_on(Sqlite::open(&file)).unwrap());
    let want = KILLS.quiet(SharedCheckpointer::new(Memory::new()), folder.path());
    assert_eq!(want.ledger.of("paid").len(), PAYMENTS as usize);

    let (mut cut_off, mut doubts) = (0, 0);
    for round in 0..ROUNDS {
        let durability = ["sync", "async", "exit"][(round / 12 % 3) as usize];
        let variables = [(FILE, file.to_str().unwrap()), (DURABILITY, durability)];
        let killed = KILLS.round(round, (&store, folder.path()), &variables, |_| {});
        assert_eq!(killed.state, want.state, "round {round}, {durability}");
        let paid = killed.ledger.of("paid");
        assert_eq!(paid.len(), PAYMENTS as usize, "round {round}, {durability}");
        for (key, receipts) in paid {
            assert_eq!(receipts.len(), 1, "round {round}: {key} was paid more than once");
        }
        // A price may be asked again only by the step that was cut off.
        let prices = killed.ledger.of("price");
        let asked: usize = prices.values().map(Vec::len).sum();
        assert!(prices.len() == PAYMENTS as usize && asked <= PAYMENTS as usize + 1);
        assert!(killed.doubted.len() <= 1, "round {round}: {:?}", killed.doubted);
        cut_off += u32::from(killed.cut_off);
        doubts += killed.doubted.len();
    }
    // The deaths were in the middle.
    assert!(cut_off >= 60, "{cut_off}");
    eprintln!("{cut_off} of {ROUNDS} runs were cut off, {doubts} payments were in doubt");
}
