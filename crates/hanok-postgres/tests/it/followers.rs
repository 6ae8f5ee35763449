//! Who waits for a thread hears of it, and items for others come in order, whatever happens.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{future::Future, pin::pin, time::Duration};

use futures_util::future::join_all;
use hanok_checkpoint::{Append, Checkpointer, Cursor, Outgoing};
use hanok_core::Position;
use hanok_postgres::{Follow, Postgres};
use postgres_for_tests::{Bouncer, Installation, Server};

use crate::support::{self, admin, append, config, key, schema, server, value};

/// Whether `it` stays pending for a moment.
async fn waits(it: impl Future<Output: Sized> + Unpin) -> bool {
    tokio::time::timeout(Duration::from_millis(50), it).await.is_err()
}

/// Waits for a connection that listens to `schema`, other than `before`; its process.
async fn listening(admin: &tokio_postgres::Client, schema: &str, before: &str) -> String {
    let pid = format!(
        "SELECT pid FROM pg_stat_activity
         WHERE query = 'LISTEN \"{schema}\"' AND state = 'idle' AND pid::text <> '{before}'"
    );
    loop {
        match value(admin, &pid).await {
            none if none.is_empty() => tokio::time::sleep(Duration::from_millis(5)).await,
            pid => return pid,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_listens_again_after_its_connection_was_ended() {
    let Some(url) = server() else { return };
    let (admin, schema) = (admin(&url).await, schema());
    let store = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let t = key("t");
    let mut listens = String::new();
    for round in 1..4 {
        let mut moved = pin!(store.beyond(&t, Position(round * 100)));
        assert!(waits(moved.as_mut()).await);
        listens = listening(&admin, &schema, &listens).await;
        // Nothing is stored, so only who listens can hear of it.
        let tell = format!("SELECT pg_notify('{schema}', E'{}\\ndefault\\nt')", round * 100 + 1);
        let tenant = t.tenant().as_str();
        admin.batch_execute(&tell.replace("default", tenant)).await.unwrap();
        assert_eq!(moved.await.unwrap(), Position(round * 100 + 1));

        let mut again = pin!(store.beyond(&t, Position(1_000)));
        assert!(waits(again.as_mut()).await);
        value(&admin, &format!("SELECT pg_terminate_backend({listens})")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_hears_of_another_stores_appends_and_of_no_others() {
    let Some(url) = server() else { return };
    let bouncer = support::given(Bouncer::start(&url));
    let schema = schema();
    let direct = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let polls = config(&url).schema(&schema).follow(Follow::Poll(Duration::from_millis(20)));
    let polls = Postgres::connect(polls).await.unwrap();
    let mut stores = vec![direct.clone(), polls];
    if let Some(bouncer) = &bouncer {
        let pooled = config(&bouncer.url("postgres")).schema(&schema);
        stores.push(Postgres::connect(pooled.clone()).await.unwrap());
        let polls = pooled.follow(Follow::Poll(Duration::from_millis(20)));
        stores.push(Postgres::connect(polls).await.unwrap());
    }
    let threads: Vec<_> = (0..20).map(|n| key(&format!("t{n}"))).collect();
    for writer in &stores {
        let at = writer.head(&threads[0]).await.unwrap().map_or(0, |head| head.position.0);
        let follow = |store: &Postgres| {
            let store = store.clone();
            let threads = threads.clone();
            async move { join_all(threads.iter().map(|t| store.beyond(t, Position(at)))).await }
        };
        let mut following: Vec<_> =
            stores.iter().map(|store| tokio::spawn(follow(store))).collect();
        let quiet = key("quiet");
        let mut other = pin!(direct.beyond(&quiet, Position(0)));
        for t in &threads {
            writer.append(t, append(t, at, u128::from(at), "x")).await.unwrap();
        }
        for heard in join_all(&mut following).await {
            for position in heard.unwrap() {
                assert_eq!(position.unwrap(), Position(at + 1));
            }
        }
        assert!(waits(other.as_mut()).await);
    }
}

/// An append with an item for others.
fn with(t: &hanok_core::ThreadKey, at: u64, item: &str) -> Append {
    let outgoing = Outgoing {
        topic: "m".into(),
        position: Position(at + 1),
        bytes: item.as_bytes().to_vec().into(),
    };
    Append { outbox: vec![outgoing], ..append(t, at, u128::from(at), item) }
}

async fn items(store: &Postgres, consumer: &str) -> (Vec<String>, Cursor) {
    let items = store.outbox(consumer, "m", 100).await.unwrap();
    let last = items.last().map_or(Cursor::START, |item| item.cursor);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (items.iter().map(|item| text(&item.bytes)).collect(), last)
}

#[tokio::test(flavor = "multi_thread")]
async fn items_wait_for_a_transaction_that_began_before_and_has_not_ended() {
    // A server of its own: what waits here waits everywhere on it.
    let Some(installation) = support::given(Installation::newest()) else { return };
    let server = Server::start(&installation, &[]).unwrap();
    let (url, schema) = (server.url("postgres"), schema());
    let store = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let (a, b) = (key("a"), key("b"));
    store.append(&a, with(&a, 0, "first")).await.unwrap();
    store.append(&b, with(&b, 0, "second")).await.unwrap();
    let (got, last) = items(&store, "c").await;
    assert_eq!(got, ["first", "second"]);
    store.advance("c", "m", last).await.unwrap();

    // A slow append: its item is numbered, and not there yet.
    let slow = admin(&url).await;
    let item = format!(
        "BEGIN; INSERT INTO {schema}.outbox (xact, topic, thread_id, position, bytes)
         SELECT pg_current_xact_id()::text::bigint, 'm', id, 2, 'slow' FROM {schema}.threads WHERE thread = 'a'"
    );
    slow.batch_execute(&item).await.unwrap();
    store.append(&b, with(&b, 1, "quick")).await.unwrap();
    let (got, last) = items(&store, "c").await;
    assert_eq!((got.as_slice(), last), (&[][..], Cursor::START), "nothing can be handed out yet");
    slow.batch_execute("COMMIT").await.unwrap();
    let (got, last) = items(&store, "c").await;
    assert_eq!(got, ["slow", "quick"]);
    store.advance("c", "m", last).await.unwrap();
    assert_eq!(items(&store, "c").await.0, [""; 0]);
    let left = format!("SELECT count(*) FROM {schema}.outbox");
    assert_eq!(value(&slow, &left).await, "0");
}

/// A dump that is put into another server brings its items and its consumers' places along, and not the count of transactions.
#[tokio::test(flavor = "multi_thread")]
async fn items_go_on_in_order_when_a_dump_is_put_into_another_server() {
    let Some(url) = server() else { return };
    let (admin, schema) = (admin(&url).await, schema());
    let connect = async || Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let (a, store) = (key("a"), connect().await);
    store.append(&a, with(&a, 0, "done")).await.unwrap();
    store.append(&a, with(&a, 1, "open")).await.unwrap();
    let first = store.outbox("c", "m", 1).await.unwrap().remove(0);
    store.advance("c", "m", first.cursor).await.unwrap();
    store.advance("all", "other", Cursor(u128::MAX >> 1)).await.unwrap();
    // As if they came from a server that had counted further.
    for table in ["outbox", "consumers WHERE topic = 'm'"] {
        let (table, of) = table.split_once(' ').unwrap_or((table, ""));
        let further = format!("UPDATE {schema}.{table} SET xact = xact + 1000000000 {of}");
        admin.batch_execute(&further).await.unwrap();
    }
    let elsewhere = format!("UPDATE {schema}.hanok_format SET server = 'elsewhere'");
    admin.batch_execute(&elsewhere).await.unwrap();

    let store = connect().await;
    store.append(&a, with(&a, 2, "new")).await.unwrap();
    let (got, last) = items(&store, "c").await;
    assert_eq!(got, ["open", "new"]);
    store.advance("c", "m", last).await.unwrap();
    let store = connect().await;
    store.append(&a, with(&a, 3, "newer")).await.unwrap();
    assert_eq!(items(&store, "c").await.0, ["newer"]);
}
