//! The store in PostgreSQL holds every claim of the suite.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hanok_checkpoint::Vector;
use hanok_pgvector::PgvectorStore;
use hanok_postgres::{Config, Connections, Statement};
use hanok_retrieval::{
    Document, DocumentStore, MemoryStore, Mode, Passage, Query, RetrievalError, Retriever,
    SharedDocumentStore, Splitter, Terms,
};
use hanok_testkit::block_on;
use postgres_for_tests::Installation;

/// The shared server's URL; says why the test is skipped where there is none, or none with pgvector.
async fn server() -> Option<String> {
    let url = match (postgres_for_tests::url(), Installation::newest()) {
        (Err(why), Ok(_)) => panic!("{why}"),
        (url, _) => url.inspect_err(|why| eprintln!("skipped: {why}")).ok()?,
    };
    let sql = "SELECT name::text FROM pg_available_extensions WHERE name = 'vector'";
    let there = Connections::new(url.as_str()).unwrap();
    let rows = there.read(&[Statement::new(sql, [])]).await.unwrap();
    if rows.iter().flatten().next().is_none() {
        eprintln!("skipped: the server has no pgvector");
        return None;
    }
    Some(url)
}

/// A schema that nobody has. It is swept by the tests of `hanok-postgres` an hour later.
fn config(url: &str) -> Config {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let schema = format!("hanok_test_{now}_{}_docs_{count}", std::process::id());
    Config::new(url).schema(schema).connections(4).retry_for(Duration::from_secs(20))
}

async fn connect(config: Config, terms: Terms) -> PgvectorStore {
    PgvectorStore::connect(config, "handbook", terms).await.unwrap()
}

/// Without a server the claims are about the store in memory, for which they hold anyway.
async fn store(terms: Terms) -> SharedDocumentStore {
    match server().await {
        Some(url) => SharedDocumentStore::new(connect(config(&url), terms).await),
        None => SharedDocumentStore::new(MemoryStore::new(terms)),
    }
}

hanok_testkit::document_store_conforms!(store(Terms::default()).await);

fn vector(text: &str) -> Vector {
    let mut numbers = [0.1; 8];
    text.chars().for_each(|c| *numbers.get_mut(c as usize % 8).unwrap() += 1.0);
    Vector::new(&numbers).unwrap().made_by("letters")
}

fn document(n: usize) -> Vec<Passage> {
    let words = ["연차휴가는", "병가", "출장비", "승인", "VPN", "보안", "급여", "부서장"];
    let word = |at: usize| words.get((n * 7 + at * at * 3 + at * n) % 8).copied().unwrap_or("");
    let text: Vec<&str> = (0..5 + n % 17).map(word).collect();
    let mut passages = Splitter::new().split(
        &Document::new(format!("{}/{n}.md", n % 3), text.join(" ")).with("n", (n % 2).to_string()),
    );
    passages.iter_mut().for_each(|passage| passage.vector = Some(vector(&passage.text)));
    passages
}

/// BM25 is the server's and coverage is ours: both are those of the store in memory.
#[test]
fn hits_score_as_in_memory() {
    block_on(async {
        let Some(url) = server().await else { return };
        let (store, memory) =
            (connect(config(&url), Terms::Both).await, MemoryStore::new(Terms::Both));
        let all: Vec<Passage> = (0..80).flat_map(document).collect();
        store.upsert(all.clone()).await.unwrap();
        memory.upsert(all).await.unwrap();
        let mut compared = 0;
        for text in ["휴가", "병가 승인", "VPN 보안 급여", "부서장 zebra", "연차휴가"]
        {
            let plain = Query::new(text).limit(100).vector(vector(text));
            let few = plain.clone().only("n", "1").under("2");
            for query in
                [plain.clone(), few, plain.clone().mode(Mode::Vector), plain.min_coverage(0.9)]
            {
                let want = memory.search(&query).await.unwrap();
                let hits = store.search(&query).await.unwrap();
                assert_eq!(hits.len(), want.len(), "{query:?}");
                for (hit, want) in hits.iter().zip(&want) {
                    assert!((hit.score - want.score).abs() < 1e-4, "{hit:?} {want:?}");
                }
                for hit in hits {
                    let same = want.iter().find(|want| want.passage == hit.passage).unwrap();
                    assert_eq!(hit.matched, same.matched);
                    assert!((hit.coverage - same.coverage).abs() < 1e-4, "{hit:?} {same:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 300, "{compared}");
    });
}

#[test]
fn collections_see_nothing_of_each_other_and_everyone_sees_his_own() {
    block_on(async {
        let Some(url) = server().await else { return };
        let config = config(&url);
        let open =
            async |name| PgvectorStore::connect(config.clone(), name, Terms::default()).await;
        let (one, other) = (open("one").await.unwrap(), open("o'ther\"\u{0}").await.unwrap());
        one.upsert(document(1)).await.unwrap();
        other.upsert(document(2)).await.unwrap();
        let again = open("one").await.unwrap();
        assert_eq!(again.documents().await.unwrap(), one.documents().await.unwrap());
        assert_eq!(again.documents().await.unwrap().len(), 1);
        assert_eq!(other.documents().await.unwrap().len(), 1);
        let query = Query::new("휴가 병가 출장비 승인 VPN 보안 급여 부서장")
            .vector(vector("휴가"))
            .limit(50);
        for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
            for (store, source) in [(&one, "1/1.md"), (&other, "2/2.md")] {
                let hits = store.search(&query.clone().mode(mode)).await.unwrap();
                let found: Vec<&str> = hits.iter().map(|hit| hit.passage.source.as_str()).collect();
                assert_eq!(found, [source], "{mode}");
            }
        }
        assert!(!one.remove("2/2.md").await.unwrap());
    });
}

#[test]
fn a_collection_that_other_terms_fill_is_refused() {
    block_on(async {
        let Some(url) = server().await else { return };
        let config = config(&url);
        connect(config.clone(), Terms::Both).await.upsert(document(1)).await.unwrap();
        let to_read = PgvectorStore::read_only(config.clone(), "handbook", Terms::Words).await;
        for opened in
            [to_read, PgvectorStore::connect(config.clone(), "handbook", Terms::Words).await]
        {
            let error = opened.unwrap_err();
            let RetrievalError::Terms { stored, asked } = &error else { panic!("{error:?}") };
            assert_eq!(
                (stored.as_str(), asked.as_str()),
                ("Both, English stems", "Words, English stems")
            );
        }
        assert_eq!(connect(config, Terms::Both).await.documents().await.unwrap().len(), 1);
    });
}

/// Of two that write the same document at once, one is there as a whole.
#[test]
fn writers_take_turns() {
    block_on(async {
        let Some(url) = server().await else { return };
        let config = config(&url);
        let put = |name: usize| {
            let config = config.clone();
            tokio::spawn(async move {
                let store = connect(config, Terms::default()).await;
                for _ in 0..5 {
                    let text = format!("## 제1조\n휴가 {name}\n\n## 제2조\n병가 {name}\n");
                    let both = [Document::new("a.md", &text), Document::new("b.md", &text)];
                    let split = |document| Splitter::new().split(document);
                    store.upsert(both.iter().flat_map(split).collect()).await.unwrap();
                }
            })
        };
        for writer in [put(1), put(2), put(3)] {
            writer.await.unwrap();
        }
        let store = connect(config, Terms::default()).await;
        let hits = store.search(&Query::new("휴가 병가").limit(50)).await.unwrap();
        assert_eq!(hits.len(), 4);
        let last: Vec<&str> = hits.iter().map(|hit| hit.passage.document.as_str()).collect();
        assert!(last.iter().all(|document| *document == last[0]), "{last:?}");
    });
}

/// P55
#[test]
fn no_password_is_told() {
    block_on(async {
        let config = Config::new("postgresql://user:s3cr3t@127.0.0.1:1/none?sslmode=disable")
            .retry_for(Duration::from_millis(50))
            .acquire_timeout(Duration::from_millis(500));
        let error = PgvectorStore::connect(config, "a", Terms::default()).await.unwrap_err();
        assert!(matches!(error, RetrievalError::Unavailable(_)));
        let mut told = format!("{error:?} {error}");
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            told += &error.to_string();
            cause = error.source();
        }
        assert!(!told.contains("s3cr3t"), "{told}");
        let Some(url) = server().await else { return };
        let store = connect(self::config(&url), Terms::default()).await;
        assert!(!format!("{store:?}").contains("://"));
    });
}

/// What a tool asks is one statement of a role that can only read, within limits of rows and time. P40
#[test]
fn a_store_to_be_read_needs_no_right_but_to_read() {
    block_on(async {
        let Some(url) = server().await else { return };
        let to_write = config(&url);
        let store = connect(to_write.clone(), Terms::default()).await;
        store.upsert((0..40).flat_map(document).collect()).await.unwrap();

        let owner = Connections::new(to_write.clone()).unwrap();
        let schema = owner.schema();
        let role = format!("{}_reader", schema.trim_matches('"'));
        let run = async |sql: String| owner.write(&[Statement::new(sql, [])]).await;
        if let Err(error) = run(format!("CREATE ROLE {role} LOGIN PASSWORD 'reader'")).await {
            eprintln!("skipped: no role can be made: {error}");
            return;
        }
        run(format!("GRANT USAGE ON SCHEMA {schema} TO {role}")).await.unwrap();
        run(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")).await.unwrap();

        let (scheme, rest) = url.split_once("://").unwrap();
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let reading = Config::new(format!("{scheme}://{role}:reader@{host}"))
            .schema(schema.trim_matches('"'))
            .connections(2);
        let reader = PgvectorStore::read_only(reading.clone(), "handbook", Terms::default());
        let reader = reader.await.unwrap();
        for mode in [Mode::Keyword, Mode::Vector, Mode::Hybrid] {
            let query = Query::new("연차휴가 승인").mode(mode).vector(vector("연차휴가")).limit(3);
            let hits = reader.search(&query).await.unwrap();
            assert_eq!(hits, store.search(&query).await.unwrap());
            assert_eq!(hits.len(), 3);
        }
        let all = Query::new("연차휴가 승인").limit(usize::MAX);
        assert!(reader.search(&all).await.unwrap().len() <= 40);
        let error = reader.upsert(document(1)).await.unwrap_err();
        assert!(matches!(error, RetrievalError::ReadOnly), "{error:?}");
        assert!(matches!(reader.remove("1/1.md").await, Err(RetrievalError::ReadOnly)));
        let none = PgvectorStore::read_only(reading.clone(), "nowhere", Terms::default());
        assert!(none.await.is_err());

        // Beneath it: the role has no other right, a question cannot change or be two, and takes no longer than it may.
        let beneath = Connections::new(reading.clone()).unwrap();
        let delete = || Statement::new(format!("DELETE FROM {schema}.passages"), []);
        assert!(beneath.write(&[delete()]).await.is_err());
        assert!(owner.read(&[delete()]).await.is_err(), "not even the owner's");
        let two = format!("SELECT 1::int8; DELETE FROM {schema}.passages");
        assert!(owner.read(&[Statement::new(two, [])]).await.is_err());
        let slow = Statement::new("SELECT pg_sleep(600)", []);
        let hasty = Connections::new(reading.statement_timeout(Duration::from_secs(2))).unwrap();
        assert!(hasty.read(&[slow]).await.is_err());
        assert_eq!(reader.documents().await.unwrap().len(), 40);
        drop((reader, beneath, hasty));
        run(format!("DROP OWNED BY {role}")).await.unwrap();
        run(format!("DROP ROLE {role}")).await.unwrap();
    });
}
