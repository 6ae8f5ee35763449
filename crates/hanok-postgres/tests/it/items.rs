//! The items of the store across threads, in PostgreSQL.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::time::Duration;

use hanok_checkpoint::{Batch, Expect, Put, Safety, Search, Store, StoreError, Ttl, Vector, Write};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use hanok_postgres::Postgres;
use tokio_postgres::Client;

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

/// Waits until `count` statements of the program `name` wait for locks.
async fn waiting(admin: &Client, name: &str, count: usize) {
    let sql = format!(
        "SELECT count(*) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND application_name = '{name}'"
    );
    while support::value(admin, &sql).await != count.to_string() {
        tokio::task::yield_now().await;
    }
}

/// A batch is held up halfway by a lock on its item: batches of other items and a sweep go on, and only a batch with vectors waits
/// with it, which may need to compare with all vectors of the tenant.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_waits_holds_up_no_batch_of_other_items() {
    let Some(url) = support::server() else { return };
    let schema = support::schema();
    let named = format!("{url}?application_name={schema}");
    let store = support::connect(support::config(&named).schema(&*schema)).await;
    let short = Ttl::After(Duration::from_millis(1));
    let [a, b, expired] = ["a", "b", "expired"].map(|name| key("t", name));
    let version = store.put(&a, put("old").ttl(short), NOW).await.unwrap();
    store.put(&expired, put("old").ttl(short), NOW).await.unwrap();

    let holder = support::admin(&url).await;
    let hold = format!("BEGIN; SELECT FROM \"{schema}\".items WHERE key = 'a' FOR UPDATE");
    holder.batch_execute(&hold).await.unwrap();
    let admin = support::admin(&url).await;
    let spawn = |key: &ItemKey, put: Put| {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(async move { store.put(&key, put, NOW).await })
    };
    let held = spawn(&a, put("new").only_if(Expect::Version(version)));
    waiting(&admin, &schema, 1).await;

    let first = store.put(&b, put("first").only_if(Expect::Absent), NOW).await.unwrap();
    store.put(&b, put("second").only_if(Expect::Version(first)), NOW).await.unwrap();
    assert!(store.remove(&b, Expect::Any, NOW).await.unwrap());
    assert_eq!(store.sweep(Timestamp(NOW.0 + 1), 10).await.unwrap(), 1);
    let vector = Vector::new(&[1.0, 0.0]).unwrap();
    let alone = spawn(&b, put("third").vector(vector));
    let late = spawn(&a, put("late").only_if(Expect::Version(version)));
    waiting(&admin, &schema, 3).await;
    assert!(!held.is_finished() && !alone.is_finished() && !late.is_finished());

    holder.batch_execute("COMMIT").await.unwrap();
    held.await.unwrap().unwrap();
    alone.await.unwrap().unwrap();
    assert!(matches!(late.await.unwrap(), Err(StoreError::Conflict { .. })));
    assert_eq!(store.get(&a, NOW).await.unwrap().unwrap().value.as_str().unwrap(), "new");
}

/// P5
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_as_safe_as_it_asks_to_be_and_one_that_removes_is_safest() {
    let Some(url) = support::server() else { return };
    let schema = support::schema();
    let store = support::connect(support::config(&url).schema(schema.clone())).await;
    let admin = support::admin(&url).await;
    let hook = format!(
        "CREATE TABLE \"{schema}\".seen (safety text);
         CREATE FUNCTION \"{schema}\".hook() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             INSERT INTO \"{schema}\".seen VALUES (TG_OP || ' ' || current_setting('synchronous_commit'));
             RETURN NULL;
         END $$;
         CREATE TRIGGER hook AFTER INSERT OR DELETE ON \"{schema}\".items
         FOR EACH ROW EXECUTE FUNCTION \"{schema}\".hook()"
    );
    admin.batch_execute(&hook).await.unwrap();
    let short = Ttl::After(Duration::from_millis(1));
    for (name, safety) in [("a", Safety::Process), ("b", Safety::Machine)] {
        let writes = vec![Write::Put(key("t", name), put("v").ttl(short))];
        store.batch(Batch { writes, safety, ..Batch::default() }, NOW).await.unwrap();
    }
    store.remove(&key("t", "a"), Expect::Any, NOW).await.unwrap();
    assert_eq!(store.sweep(Timestamp(NOW.0 + 1), 10).await.unwrap(), 1);
    let seen = format!("SELECT string_agg(safety, ', ') FROM \"{schema}\".seen");
    let want = "INSERT local, INSERT on, DELETE on, DELETE on";
    assert_eq!(support::value(&admin, &seen).await, want);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_tenant_goes_when_two_remove_its_last_items_at_once() {
    let Some(url) = support::server() else { return };
    let schema = support::schema();
    let store = support::connect(support::config(&url).schema(schema.clone())).await;
    let [a, b] = ["a", "b"].map(|name| key("t", name));
    for _ in 0..20 {
        let put = async |key| store.put(key, put("v").only_if(Expect::Absent), NOW).await.unwrap();
        let (first, second) = tokio::join!(put(&a), put(&b));
        let remove = async |key, version| {
            assert!(store.remove(key, Expect::Version(version), NOW).await.unwrap());
        };
        tokio::join!(remove(&a, first), remove(&b, second));
        let count = format!("SELECT count(*) FROM \"{schema}\".tenants");
        assert_eq!(support::value(&support::admin(&url).await, &count).await, "0");
    }
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
