//! The items of the store across threads, in PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::time::Duration;

use hanok_checkpoint::{Batch, Expect, Put, Search, Store, StoreError, Ttl, Write};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use hanok_postgres::Postgres;

use crate::support;

const NOW: Timestamp = Timestamp(1_000);

fn key(tenant: &str, name: &str) -> ItemKey {
    let labels = Labels::new(["notes"]).unwrap();
    ItemKey::new(Tenant::new(tenant).unwrap(), labels, name).unwrap()
}

fn put(text: &str) -> Put {
    Put::new(Stored::encode(text).unwrap())
}

/// P12: what cannot be upgraded is refused with words, and stays as it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_an_older_format_is_refused_with_words() {
    let Some(url) = support::server() else { return };
    let schema = support::schema();
    let config = || support::config(&url).schema(schema.clone());
    drop(support::connect(config()).await);
    let admin = support::admin(&url).await;
    for older in [2, 3] {
        let set = format!("UPDATE \"{schema}\".hanok_format SET version = {older}");
        admin.batch_execute(&set).await.unwrap();
        let error = Postgres::connect(config()).await.unwrap_err();
        let why = std::error::Error::source(&error).unwrap().to_string();
        let words = "of a build before 0.1; this one reads format 4 and does not upgrade it";
        assert!(why.contains(&format!("its format is {older}, {words}")), "{why}");
    }
    let version = format!("SELECT version FROM \"{schema}\".hanok_format");
    assert_eq!(support::value(&admin, &version).await, "3");
}

/// Two writers name their tenants in opposite orders, others sweep, and tenants come and go with their only item: nobody
/// waits for ever, and no item is lost with its tenant's name.
#[tokio::test(flavor = "multi_thread")]
async fn batches_of_several_tenants_and_sweeps_do_not_lose_anything() {
    const ROUNDS: u64 = 40;
    let Some(url) = support::server() else { return };
    let store = support::store(&url).await;
    let write = async |store: Postgres, tenants: [&'static str; 2], name: &'static str| {
        for round in 0..ROUNDS {
            let short = Ttl::After(Duration::from_millis(1));
            let writes = tenants.map(|tenant| Write::Put(key(tenant, name), put(name).ttl(short)));
            let batch = Batch { writes: writes.to_vec(), ..Batch::default() };
            store.batch(batch, Timestamp(NOW.0 + round)).await.unwrap();
        }
        let writes = tenants.map(|tenant| Write::Put(key(tenant, name), put("kept")));
        store.batch(Batch { writes: writes.to_vec(), ..Batch::default() }, NOW).await.unwrap();
    };
    let sweep = async |store: Postgres| {
        for round in 0..2 * ROUNDS {
            store.sweep(Timestamp(NOW.0 + round), 10).await.unwrap();
        }
    };
    tokio::join!(
        write(store.clone(), ["a", "b"], "one"),
        write(store.clone(), ["b", "a"], "two"),
        sweep(store.clone()),
        sweep(store.clone()),
    );
    for tenant in ["a", "b"] {
        let all = Search::all(Tenant::new(tenant).unwrap());
        let page = store.search(&all, NOW).await.unwrap();
        let names: Vec<_> = page.hits.iter().map(|hit| hit.item.key.key()).collect();
        assert_eq!(names, ["one", "two"], "{tenant}");
        for name in ["one", "two"] {
            assert!(store.remove(&key(tenant, name), Expect::Any, NOW).await.unwrap());
        }
    }
    // With the last item goes the name of its tenant.
    let schema = support::schema();
    let other = support::connect(support::config(&url).schema(schema.clone())).await;
    other.put(&key("forgotten", "k"), put("v"), NOW).await.unwrap();
    other.remove(&key("forgotten", "k"), Expect::Any, NOW).await.unwrap();
    let count = format!("SELECT count(*) FROM \"{schema}\".tenants");
    assert_eq!(support::value(&support::admin(&url).await, &count).await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_machines_that_write_at_once_one_gets_a_conflict() {
    let Some(url) = support::server() else { return };
    let schema = support::schema();
    let connect = || support::connect(support::config(&url).schema(schema.clone()));
    let (one, two) = (connect().await, connect().await);
    for round in 0..20 {
        let name = round.to_string();
        let first = put("first").only_if(Expect::Absent);
        let put = async |store: &Postgres| store.put(&key("t", &name), first.clone(), NOW).await;
        let (a, b) = tokio::join!(put(&one), put(&two));
        let conflicts = [&a, &b].map(|it| matches!(it, Err(StoreError::Conflict { .. })));
        assert_eq!(conflicts.iter().filter(|it| **it).count(), 1, "{a:?} {b:?}");
    }
}
