//! Processes that are killed while they run a graph on one file.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says how it went"
)]

use std::env;

use futures::executor::block_on;
use hanok_checkpoint::SharedCheckpointer;
use hanok_graph::Durability;
use hanok_sqlite::Sqlite;
use hanok_testkit::{Kills, Order, Payments};

const ROUNDS: u64 = 200;

/// The file that a child opens.
const FILE: &str = "HANOK_SQLITE_TEST_FILE";

const KILLS: Kills<Order> = Payments::kills("kills::child");

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
    let variables = [(FILE, file.to_str().unwrap())];
    let mut payments = Payments::new(KILLS, folder.path());
    let all = [Durability::Sync, Durability::Async, Durability::Exit];
    for (round, durability) in (0..ROUNDS).zip(all.iter().flat_map(|it| [it; 12]).cycle()) {
        let killed = KILLS.round(round, &store, folder.path(), *durability, &variables, |_| {});
        payments.check(&killed);
    }
    let (cut_off, doubts) = payments.counts();
    // The deaths were in the middle.
    assert!(cut_off >= 60, "{cut_off}");
    eprintln!("{cut_off} of {ROUNDS} runs were cut off, {doubts} payments were in doubt");
}
