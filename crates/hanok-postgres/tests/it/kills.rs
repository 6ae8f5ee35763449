//! Processes that are killed while they run a graph, with and without their server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says how it went"
)]

use std::{env, time::Duration};

use hanok_checkpoint::SharedCheckpointer;
use hanok_graph::Durability;
use hanok_postgres::Postgres;
use hanok_testkit::{Kills, Order, Payments, block_on};
use postgres_for_tests::{Installation, Server, Stop};

use crate::support::{admin, config, given, schema, value};

const ROUNDS: u64 = 50;

/// Where a child's threads are.
const URL: &str = "HANOK_POSTGRES_TEST_URL";
const SCHEMA: &str = "HANOK_POSTGRES_TEST_SCHEMA";

/// The name of a child's connections at the server.
const CHILD: &str = "killed";

const KILLS: Kills<Order> = Payments::kills("kills::child");

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
    let store = block_on(Postgres::connect(config(&url).schema(&schema))).unwrap();
    let store = SharedCheckpointer::new(store);
    let child_url = format!("{url}?application_name={CHILD}");
    let variables = [(URL, child_url.as_str()), (SCHEMA, schema.as_str())];
    let mut payments = Payments::new(KILLS, folder.path());
    for round in 0..ROUNDS {
        let killed =
            KILLS.round(round, &store, folder.path(), Durability::Sync, &variables, |dies| match (
                round % 5 == 4,
                dies,
            ) {
                (true, true) => server.stop(Stop::Immediate).unwrap(),
                (true, false) => server.up().unwrap(),
                (false, true) => {}
                (false, false) => block_on(until_child_is_gone(&url)),
            });
        payments.check(&killed);
    }
    let (cut_off, doubts) = payments.counts();
    // The deaths were in the middle.
    assert!(cut_off >= 20, "{cut_off}");
    eprintln!("{cut_off} of {ROUNDS} runs were cut off, {doubts} payments were in doubt");
}

/// Waits until the server has read all that a killed child had sent to it: an input that arrives later would be another turn.
async fn until_child_is_gone(url: &str) {
    let admin = admin(url).await;
    let open = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{CHILD}'");
    while value(&admin, &open).await != "0" {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
