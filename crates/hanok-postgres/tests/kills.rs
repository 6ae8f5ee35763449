//! Processes that are killed while they run a graph, with and without their server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says how it went"
)]

mod support;

use std::env;

use hanok_checkpoint::{Memory, SharedCheckpointer};
use hanok_graph::{App, BoxError, Context, Doubt, END, Graph, NotMade, START, Snapshot};
use hanok_postgres::Postgres;
use hanok_state::{List, State};
use hanok_testkit::{Kills, Ledger, block_on};
use postgres_for_tests::{Installation, Server, Stop};
use support::{config, given, schema};

const ROUNDS: u64 = 50;

/// How many payments a run makes.
const PAYMENTS: u32 = 6;

/// Where a child's threads are.
const URL: &str = "HANOK_POSTGRES_TEST_URL";
const SCHEMA: &str = "HANOK_POSTGRES_TEST_SCHEMA";

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
    Graph::<Order, Ledger>::builder("order")
        .node("pay", pay)
        .edge(START, "pay")
        .branch("pay", |order: &Order| if order.n < PAYMENTS { "pay" } else { END }, ["pay", END])
        .build()
        .unwrap()
        .checkpointer(store)
}

const KILLS: Kills<Order> = Kills { child: "child", app, input: Order::update, once: "paid" };

/// This is what a child runs; in a parent it does nothing.
#[test]
fn child() {
    KILLS.child(|| async {
        let config = config(&env::var(URL).unwrap()).schema(env::var(SCHEMA).unwrap());
        SharedCheckpointer::new(Postgres::connect(config).await.unwrap())
    });
}

/// P1, P3, P4, P5, P9: fifty deaths, ten of them with the server.
#[test]
fn killed_runs_end_where_a_quiet_run_ends_and_pay_each_thing_once() {
    let Some(installation) = given(Installation::newest()) else { return };
    let server = Server::start(&installation, &[]).unwrap();
    let (url, schema) = (server.url("postgres"), schema());
    let folder = tempfile::tempdir().unwrap();
    let want = KILLS.quiet(SharedCheckpointer::new(Memory::new()), folder.path());
    assert_eq!(want.ledger.of("paid").len(), PAYMENTS as usize);

    let store = block_on(Postgres::connect(config(&url).schema(&schema))).unwrap();
    let store = SharedCheckpointer::new(store);
    let variables = [(URL, url.as_str()), (SCHEMA, schema.as_str())];
    let (mut cut_off, mut doubts) = (0, 0);
    for round in 0..ROUNDS {
        let killed = KILLS.round(round, (&store, folder.path()), &variables, |dies| {
            if round % 5 == 4 {
                if dies { server.stop(Stop::Immediate) } else { server.up() }.unwrap();
            }
        });
        assert_eq!(killed.state, want.state, "round {round}");
        let paid = killed.ledger.of("paid");
        assert_eq!(paid.len(), PAYMENTS as usize, "round {round}");
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
    assert!(cut_off >= 20, "{cut_off}");
    eprintln!("{cut_off} of {ROUNDS} runs were cut off, {doubts} payments were in doubt");
}
