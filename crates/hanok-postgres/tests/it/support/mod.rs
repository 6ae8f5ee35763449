//! Schemas to test in, and what tests append.
#![allow(dead_code, reason = "each test takes what it needs")]

pub(crate) mod proxy;

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, End, Entry, Guard, Head, Log, LogEntry,
    Record, SharedCheckpointer,
};
use hanok_core::{Namespace, Position, RunId, Tenant, ThreadKey, Timestamp};
use hanok_postgres::{Config, Postgres};
use postgres_for_tests::Installation;
use tokio_postgres::{Client, NoTls};

/// The shared server's URL; says why the test is skipped where there is none. One that is there and does not start is no
/// reason to skip a test.
pub(crate) fn server() -> Option<String> {
    match (postgres_for_tests::url(), Installation::newest()) {
        (Err(why), Ok(_)) => panic!("{why}"),
        (url, _) => given(url),
    }
}

/// What is there; says why the test is skipped where it is not.
pub(crate) fn given<T>(it: Result<T, postgres_for_tests::Missing>) -> Option<T> {
    it.inspect_err(|why| eprintln!("skipped: {why}")).ok()
}

/// A schema's name that nobody has.
pub(crate) fn schema() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    format!("hanok_test_{now}_{}_{count}", std::process::id())
}

/// A config for a schema of one's own, few connections and little patience.
pub(crate) fn config(url: &str) -> Config {
    Config::new(url).schema(schema()).connections(4).retry_for(Duration::from_secs(20))
}

pub(crate) async fn connect(config: Config) -> Postgres {
    Postgres::connect(config).await.unwrap()
}

/// A store with nothing in it on the server at `url`.
pub(crate) async fn store(url: &str) -> Postgres {
    sweep(url).await;
    connect(config(url)).await
}

/// Removes the schemas that tests left an hour ago.
async fn sweep(url: &str) {
    let hour = "DO $$ DECLARE old text; BEGIN
        FOR old IN SELECT nspname FROM pg_namespace
            WHERE nspname ~ '^hanok_test_[0-9]+_'
                  AND split_part(nspname, '_', 3)::bigint < extract(epoch FROM now()) - 3600
            LIMIT 20
        LOOP EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', old); END LOOP;
    END $$";
    // Another test may be sweeping.
    drop(admin(url).await.batch_execute(hour).await);
}

/// A connection of the test's own.
pub(crate) async fn admin(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(async move { drop(connection.await) });
    client
}

/// The one value that `sql` selects, as text.
pub(crate) async fn value(client: &Client, sql: &str) -> String {
    let messages = client.simple_query(sql).await.unwrap();
    let row = messages.iter().find_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    row.and_then(|row| row.get(0)).unwrap_or_default().to_owned()
}

pub(crate) fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).unwrap()
}

/// An append of one entry that says `text`, at the end of a log of `at` entries.
pub(crate) fn append(thread: &ThreadKey, at: u64, id: u128, text: &str) -> Append {
    let end = End {
        run: RunId(id),
        outcome: hanok_checkpoint::RunEnd::Done,
        detail: text.into(),
        spent: Default::default(),
        code: None,
        by: None,
    };
    let entry = Entry { at: Timestamp(0), namespace: Namespace::root(), body: Body::End(end) };
    let records = vec![Record::new(thread, Position(at + 1), Position(at), &entry)];
    Append::new(AppendId(id), Position(at), Guard::Unclaimed, records)
}

/// The texts of a whole log, oldest first, every record read.
pub(crate) async fn texts(store: &Postgres, thread: &ThreadKey) -> Vec<String> {
    let log = Log::new(SharedCheckpointer::new(store.clone()), thread.clone());
    let Some(open) = log.open(None).await.unwrap() else { return Vec::new() };
    let mut entries = log.history(None, usize::MAX).await.unwrap();
    entries.reverse();
    let positions: Vec<_> = entries.iter().map(|entry| entry.position.0).collect();
    assert_eq!(positions, (1..=open.head.position.0).collect::<Vec<_>>());
    entries.iter().map(text).collect()
}

fn text(entry: &LogEntry) -> String {
    match &entry.entry.body {
        Body::End(end) => end.detail.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn position(store: &Postgres, thread: &ThreadKey) -> u64 {
    let head: Option<Head> = store.head(thread).await.unwrap();
    head.map_or(0, |head| head.position.0)
}

/// An error and its causes.
pub(crate) fn told(error: &CheckpointError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
