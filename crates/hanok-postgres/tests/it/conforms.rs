//! The store in PostgreSQL does what every store does: on the newest server, on the system's own, and behind a pooler.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_testkit::{CHECKPOINTER_CLAIMS, STORE_CLAIMS, block_on, sampled};
use postgres_for_tests::{Bouncer, Installation, Server};

use crate::support;

/// Without a server the claims are about the store in memory, for which they hold anyway.
async fn store() -> SharedCheckpointer {
    match support::server() {
        Some(url) => SharedCheckpointer::new(support::store(&url).await),
        None => SharedCheckpointer::new(InMemoryCheckpointer::new()),
    }
}

hanok_testkit::checkpointer_conforms!(store().await);

mod items {
    use super::*;

    async fn store() -> SharedStore {
        match support::server() {
            Some(url) => SharedStore::new(support::store(&url).await),
            None => SharedStore::new(InMemoryStore::new()),
        }
    }

    hanok_testkit::store_conforms!(store().await);
}

/// Checks every claim on the server at `url`, or a sample of them.
fn every_claim_holds_at(url: &str) {
    for (claim, holds) in sampled(CHECKPOINTER_CLAIMS) {
        eprintln!("{claim}");
        holds(SharedCheckpointer::new(block_on(support::store(url))));
    }
    for (claim, holds) in sampled(STORE_CLAIMS) {
        eprintln!("{claim}");
        holds(SharedStore::new(block_on(support::store(url))));
    }
}

/// P30
#[test]
fn every_claim_holds_behind_a_pooler_of_transactions() {
    let Some(url) = support::server() else { return };
    let Some(bouncer) = support::given(Bouncer::start(&url)) else { return };
    every_claim_holds_at(&bouncer.url("postgres"));
}

/// P30
#[test]
fn every_claim_holds_on_the_systems_own_server() {
    let Some(installation) = support::given(Installation::of_the_system()) else { return };
    let server = Server::start(&installation, &[]).unwrap();
    every_claim_holds_at(&server.url("postgres"));
}

/// P30, in a database with pgvector.
#[tokio::test(flavor = "multi_thread")]
async fn every_claim_about_vectors_holds_where_the_server_compares_them() {
    let Some(url) = support::server() else { return };
    let admin = support::admin(&url).await;
    if support::value(
        &admin,
        "SELECT count(*)::text FROM pg_available_extensions WHERE name = 'vector'",
    )
    .await
        == "0"
    {
        eprintln!("skipped: the server has no pgvector");
        return;
    }
    let database = support::schema();
    admin.batch_execute(&format!("CREATE DATABASE \"{database}\"")).await.unwrap();
    let url = format!("{}/{database}", url.rsplit_once('/').unwrap().0);
    assert!(!support::store(&url).await.compares_vectors());
    let there = support::admin(&url).await;
    // In a schema that no search path names.
    let create = "CREATE SCHEMA \"of vectors\"; CREATE EXTENSION vector SCHEMA \"of vectors\"";
    there.batch_execute(create).await.unwrap();
    assert!(support::store(&url).await.compares_vectors());
    let held = tokio::task::spawn_blocking(move || {
        let words = ["meaning", "similar", "vector", "ranked", "removed"];
        let of_vectors = |claim: &str| words.iter().any(|word| claim.contains(word));
        for (claim, holds) in STORE_CLAIMS.iter().filter(|(claim, _)| of_vectors(claim)) {
            eprintln!("{claim}");
            holds(SharedStore::new(block_on(support::store(&url))));
        }
    });
    held.await.unwrap();
    drop(there);
    admin.batch_execute(&format!("DROP DATABASE \"{database}\" WITH (FORCE)")).await.unwrap();
}
