//! What a caller is told where there is no store, where a right is missing, and where the server refuses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::time::Duration;

use futures_util::future::join_all;
use hanok_checkpoint::{CheckpointError, Checkpointer, Life, Safety, Snapshots, Trim, Which};
use hanok_core::Position;
use hanok_postgres::{Config, Postgres};
use postgres_for_tests::{Bouncer, Installation, Server};

use crate::support::{
    self, admin, append, config, connect, key, schema, server, texts, told, value,
};

/// A secret that no error and no `Debug` may show.
const CANARY: &str = "canary-0f3a";

async fn refused(config: Config) -> CheckpointError {
    Postgres::connect(config).await.err().unwrap()
}

/// The kind of an error, for tables.
fn kind(error: &CheckpointError) -> &'static str {
    match error {
        CheckpointError::NotAStore { .. } => "not a store",
        CheckpointError::Denied(_) => "denied",
        CheckpointError::Full(_) => "full",
        CheckpointError::Unavailable { .. } => "unavailable",
        CheckpointError::TooNew { .. } => "too new",
        _ => "another",
    }
}

/// P55
#[tokio::test]
async fn an_unusable_url_is_told_without_its_password() {
    for (url, want) in [
        (format!("postgresql://u:{CANARY}@127.0.0.1:1/x"), "unavailable"),
        (format!("postgresql://u:{CANARY}@127.0.0.1:port/x"), "not a store"),
        (format!("postgresql://u:{CANARY}@h/x?sslmode=perhaps"), "not a store"),
        (format!("postgresql://u:{CANARY}@h/x?perhaps=1"), "not a store"),
        (format!("host=127.0.0.1 port=1 password={CANARY} user=u"), "unavailable"),
        (format!("not a url {CANARY}"), "not a store"),
    ] {
        let config = Config::new(&url).retry_for(Duration::from_millis(50));
        assert!(!format!("{config:?}").contains(CANARY), "{config:?}");
        let error = refused(config).await;
        assert_eq!(kind(&error), want, "{url}: {}", told(&error));
        let shown = format!("{error:?} {}", told(&error));
        assert!(!shown.contains(CANARY), "{shown}");
    }
}

/// P8
#[tokio::test]
async fn a_wrong_password_and_a_missing_database_are_told() {
    let Some(url) = server() else { return };
    let missing = url.rsplit_once('/').unwrap().0.to_owned() + "/hanok_no_such_database";
    let error = refused(config(&missing)).await;
    assert_eq!(kind(&error), "not a store", "{}", told(&error));
    assert!(told(&error).contains("hanok_no_such_database"), "{}", told(&error));

    let (_, place) = url.split_once('@').unwrap();
    let error = refused(config(&format!("postgresql://hanok_nobody:{CANARY}@{place}"))).await;
    assert_eq!(kind(&error), "denied", "{}", told(&error));
    assert!(!format!("{error:?} {}", told(&error)).contains(CANARY));
}

/// P8
#[tokio::test]
async fn a_missing_right_is_named() {
    let Some(url) = server() else { return };
    let (admin, schema) = (admin(&url).await, schema());
    let role = format!("role_{schema}");
    admin.batch_execute(&format!("CREATE ROLE {role} LOGIN")).await.unwrap();
    let (_, place) = url.split_once('@').unwrap();
    let theirs = || config(&format!("postgresql://{role}@{place}")).schema(&schema);

    // There is no schema, and they may not make one.
    let error = refused(theirs()).await;
    assert_eq!(kind(&error), "denied", "{}", told(&error));
    assert!(told(&error).contains("permission denied for database"), "{}", told(&error));

    let mine = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    mine.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
    let error = refused(theirs()).await;
    assert!(told(&error).contains(&format!("permission denied for schema {schema}")));

    // They may read.
    let grant = |what: &str| format!("GRANT {what} TO {role}");
    admin.batch_execute(&grant(&format!("USAGE ON SCHEMA {schema}"))).await.unwrap();
    let reads = grant(&format!("SELECT ON ALL TABLES IN SCHEMA {schema}"));
    admin.batch_execute(&reads).await.unwrap();
    let store = Postgres::connect(theirs()).await.unwrap();
    assert_eq!(texts(&store, &key("t")).await, ["one"]);
    let error = store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap_err();
    assert_eq!(kind(&error), "denied");
    assert!(told(&error).contains("permission denied for table"), "{}", told(&error));

    // With the rights on the tables alone they may do everything.
    let writes = grant(&format!("INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema}"));
    admin.batch_execute(&writes).await.unwrap();
    store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap();
    let trim = Trim {
        life: Life::default(),
        floor: Position(1),
        base: vec![1].into(),
        expected: None,
        envelopes: Vec::new(),
        then: None,
    };
    store.trim(&key("t"), trim).await.unwrap();
    store.delete(&key("t"), None).await.unwrap();
    admin.batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}

/// P8
#[tokio::test]
async fn a_database_that_may_only_be_read_is_readable() {
    let Some(url) = server() else { return };
    let schema = schema();
    let mine = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    mine.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();

    let read_only = format!("{url}?options=-c%20default_transaction_read_only%3Don");
    let store = Postgres::connect(config(&read_only).schema(&schema)).await.unwrap();
    let error = store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap_err();
    assert_eq!(kind(&error), "denied", "{}", told(&error));
    assert!(told(&error).contains("read-only transaction"), "{}", told(&error));
    assert_eq!(texts(&store, &key("t")).await, ["one"]);
}

/// P12
#[tokio::test]
async fn a_schema_of_a_newer_build_or_of_others_is_told_and_left_alone() {
    let Some(url) = server() else { return };
    let (admin, schema) = (admin(&url).await, schema());
    Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let look = format!(
        "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = '{schema}'::regnamespace"
    );
    let before = value(&admin, &look).await;
    for (set, want) in [("5", "too new"), ("0", "not a store"), ("-1", "not a store")] {
        let sql = format!("UPDATE {schema}.hanok_format SET version = {set}");
        admin.batch_execute(&sql).await.unwrap();
        let error = refused(config(&url).schema(&schema)).await;
        assert_eq!(kind(&error), want, "{}", told(&error));
        assert_eq!(value(&admin, &look).await, before);
    }
    admin.batch_execute(&format!("DROP TABLE {schema}.hanok_format")).await.unwrap();
    let error = refused(config(&url).schema(&schema)).await;
    assert_eq!(kind(&error), "not a store", "{}", told(&error));

    // A table of others that is no obstacle stays beside ours.
    let shared = support::schema();
    let make = format!("CREATE SCHEMA {shared}; CREATE TABLE {shared}.notes (n integer)");
    admin.batch_execute(&make).await.unwrap();
    let store = Postgres::connect(config(&url).schema(&shared)).await.unwrap();
    store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
    assert_eq!(value(&admin, &format!("SELECT count(*) FROM {shared}.notes")).await, "0");
}

/// P26
#[tokio::test]
async fn a_schema_of_any_name_is_a_schema() {
    let Some(url) = server() else { return };
    let base = schema();
    for name in ["\"; DROP TABLE x; --", "한옥", "a'b\\c", "with space", "UPPER", "{s}"] {
        let name = format!("{base}{name}");
        let store = Postgres::connect(config(&url).schema(&name)).await.unwrap();
        store.append(&key("t"), append(&key("t"), 0, 1, &name)).await.unwrap();
        assert_eq!(texts(&store, &key("t")).await, std::slice::from_ref(&name));
        let moved = store.beyond(&key("t"), Position(0)).await.unwrap();
        assert_eq!(moved, Position(1));
        let quoted = name.replace('"', "\"\"");
        let drop = format!("DROP SCHEMA \"{quoted}\" CASCADE");
        admin(&url).await.batch_execute(&drop).await.unwrap();
    }
    for name in [String::new(), "x".repeat(64), "a\0b".into(), "a\nb".into()] {
        let error = refused(config(&url).schema(&name)).await;
        assert_eq!(kind(&error), "not a store", "{name:?}: {}", told(&error));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_that_come_at_once_make_one_store() {
    let Some(url) = server() else { return };
    let schema = schema();
    let connect = |_| tokio::spawn(Postgres::connect(config(&url).schema(&schema)));
    let stores = join_all((0..8).map(connect)).await;
    for (at, store) in stores.into_iter().enumerate() {
        let store = store.unwrap().unwrap();
        store.append(&key("t"), append(&key("t"), at as u64, at as u128, "x")).await.unwrap();
    }
    let count = format!("SELECT count(*) FROM {schema}.hanok_format WHERE version = 4");
    assert_eq!(value(&admin(&url).await, &count).await, "1");
}

/// Makes every insert of a record run `body`.
async fn on_insert(url: &str, schema: &str, body: &str) {
    let sql = format!(
        "CREATE OR REPLACE FUNCTION {schema}.hook() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN {body} RETURN NEW; END $$;
         DROP TRIGGER IF EXISTS hook ON {schema}.records;
         CREATE TRIGGER hook BEFORE INSERT ON {schema}.records FOR EACH ROW EXECUTE FUNCTION {schema}.hook()"
    );
    admin(url).await.batch_execute(&sql).await.unwrap();
}

/// P6, P8
#[tokio::test]
async fn what_the_server_refuses_is_told_by_kind_and_nothing_is_stored() {
    let Some(url) = server() else { return };
    let schema = schema();
    let patience = Duration::from_millis(100);
    let store = Postgres::connect(config(&url).schema(&schema).retry_for(patience)).await.unwrap();
    store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
    for (code, want) in [
        ("53100", "full"),
        ("53200", "unavailable"),
        ("58030", "unavailable"),
        ("42501", "denied"),
        ("25006", "denied"),
        ("57014", "unavailable"),
        ("40001", "unavailable"),
        ("40P01", "unavailable"),
        ("42P01", "not a store"),
        ("XX001", "not a store"),
        ("P0001", "unavailable"),
    ] {
        on_insert(&url, &schema, &format!("RAISE EXCEPTION 'no' USING ERRCODE = '{code}';")).await;
        let error = store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap_err();
        assert_eq!(kind(&error), want, "{code}: {}", told(&error));
        assert_eq!(texts(&store, &key("t")).await, ["one"], "{code}");
    }
    on_insert(&url, &schema, "").await;
    store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap();
    assert_eq!(texts(&store, &key("t")).await, ["one", "two"]);
}

/// P9
#[tokio::test]
async fn a_transaction_that_collides_is_made_again() {
    let Some(url) = server() else { return };
    let schema = schema();
    let store = Postgres::connect(config(&url).schema(&schema)).await.unwrap();
    let sequence = format!("CREATE SEQUENCE {schema}.tries");
    admin(&url).await.batch_execute(&sequence).await.unwrap();
    // A sequence counts on when its transaction does not.
    let body = format!(
        "IF nextval('{schema}.tries') < 4 THEN RAISE EXCEPTION 'x' USING ERRCODE = '40001'; END IF;"
    );
    on_insert(&url, &schema, &body).await;
    store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
    assert_eq!(texts(&store, &key("t")).await, ["one"]);
}

/// P5: with `off` an answered append would be gone after a crash of the server.
#[tokio::test]
async fn an_append_is_as_safe_as_it_is_asked_to_be() {
    let Some(url) = server() else { return };
    let schema = schema();
    // Whatever the session says.
    let lax = format!("{url}?options=-c%20synchronous_commit%3Doff");
    let store = Postgres::connect(
        config(&lax).schema(&schema).statement_timeout(Duration::from_millis(7_000)),
    )
    .await
    .unwrap();
    let admin = admin(&url).await;
    let table = format!("CREATE TABLE {schema}.seen (safety text, timeout text)");
    admin.batch_execute(&table).await.unwrap();
    let body = format!(
        "INSERT INTO {schema}.seen
         VALUES (current_setting('synchronous_commit'), current_setting('statement_timeout'));"
    );
    on_insert(&url, &schema, &body).await;
    for (at, safety) in (0..).zip([Safety::Process, Safety::Machine, Safety::Process]) {
        let it = append(&key("t"), at, u128::from(at), "x");
        let it = hanok_checkpoint::Append { safety, ..it };
        store.append(&key("t"), it).await.unwrap();
    }
    let seen = format!("SELECT string_agg(safety || ' ' || timeout, ', ') FROM {schema}.seen");
    assert_eq!(value(&admin, &seen).await, "local 7s, on 7s, local 7s");
}

/// P8
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_ends_directly_and_behind_a_pooler() {
    let Some(installation) = support::given(Installation::newest()) else { return };
    let server = Server::start(&installation, &[]).unwrap();
    let url = server.url("postgres");
    let bouncer = support::given(Bouncer::start(&url));
    let pooled = bouncer.as_ref().map(|bouncer| bouncer.url("postgres"));
    for place in std::iter::once(url.clone()).chain(pooled) {
        let schema = schema();
        let config = config(&place).schema(&schema);
        // Making the tables has all the time it needs.
        drop(Postgres::connect(config.clone()).await.unwrap());
        let config = config.statement_timeout(Duration::from_secs(2));
        let store = Postgres::connect(config).await.unwrap();
        store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
        let other = admin(&url).await;
        other
            .batch_execute(&format!("BEGIN; SELECT * FROM {schema}.threads FOR UPDATE"))
            .await
            .unwrap();
        let error = store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap_err();
        assert!(told(&error).contains("a statement took too long"), "{}", told(&error));
        assert_eq!(texts(&store, &key("t")).await, ["one"], "reading goes on");
        other.batch_execute("COMMIT").await.unwrap();
        store.append(&key("t"), append(&key("t"), 1, 2, "two")).await.unwrap();
        assert_eq!(texts(&store, &key("t")).await, ["one", "two"]);
    }
}

/// P8
#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_a_connection_no_longer_than_it_may() {
    let Some(url) = server() else { return };
    let schema = schema();
    let config = config(&url).schema(&schema).connections(1);
    let config = config.acquire_timeout(Duration::from_secs(1));
    let store = Postgres::connect(config.retry_for(Duration::from_secs(2))).await.unwrap();
    store.append(&key("t"), append(&key("t"), 0, 1, "one")).await.unwrap();
    let other = admin(&url).await;
    other
        .batch_execute(&format!("BEGIN; SELECT * FROM {schema}.threads FOR UPDATE"))
        .await
        .unwrap();
    let held = tokio::spawn({
        let store = store.clone();
        async move { store.append(&key("t"), append(&key("t"), 1, 2, "two")).await }
    });
    let error = loop {
        match store.open(&key("t"), None, Snapshots::Use).await {
            // The append has not begun yet.
            Ok(_) => tokio::task::yield_now().await,
            Err(error) => break error,
        }
    };
    assert!(told(&error).contains("every connection is in use"), "{}", told(&error));
    other.batch_execute("COMMIT").await.unwrap();
    held.await.unwrap().unwrap();
    assert_eq!(texts(&store, &key("t")).await, ["one", "two"]);
}

/// P7: a row that cannot be read hides no other thread, whatever of it is damaged.
#[tokio::test(flavor = "multi_thread")]
async fn one_bad_row_blinds_no_list() {
    let Some(url) = server() else { return };
    let name = schema();
    let store = connect(config(&url).schema(&name)).await;
    let names = ["a", "b", "c", "d", "e", "f"];
    for thread in names {
        store.append(&key(thread), append(&key(thread), 0, 1, "one")).await.unwrap();
    }
    for (thread, damage) in [
        ("b", "run = '\\x0011'"),
        ("c", "head = -7"),
        ("e", "thread = E'e\\x07'"),
        ("f", "thread = E'f\\x07'"),
    ] {
        let sql = format!("UPDATE {name}.threads SET {damage} WHERE thread = '{thread}'");
        admin(&url).await.batch_execute(&sql).await.unwrap();
    }
    for limit in [1, 2, 5, 100] {
        let (mut after, mut listed) = (None, Vec::new());
        loop {
            let page = store.threads(Which::All, after.as_ref(), limit).await.unwrap();
            let is_last = page.len() < limit;
            after = page.last().map(|info| info.thread.clone());
            listed.extend(page);
            if is_last || listed.len() > names.len() {
                break;
            }
        }
        let told: Vec<_> = listed
            .iter()
            .map(|info| (info.thread.thread().chars().next().unwrap(), info.damage.is_some()))
            .collect();
        let want = [('a', false), ('b', true), ('c', true), ('d', false), ('r', true), ('r', true)];
        assert_eq!(told, want, "{limit}");
    }
    let claimed = store.threads(Which::Claimed, None, 9).await.unwrap();
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    let error = store.head(&key("c")).await.unwrap_err();
    assert!(matches!(error, CheckpointError::Corrupt { .. }), "{error:?}");
}
