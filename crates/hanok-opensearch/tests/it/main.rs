//! The store in OpenSearch holds every claim of the suite, on a server that keeps documents and answers in the documented
//! shapes, and says plainly what a bad server does.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod query;
mod server;

use std::time::Duration;

use hanok_opensearch::{OpenSearchConfig, OpenSearchStore};
use hanok_retrieval::{
    Document, DocumentStore, Passage, Query, RetrievalError, Retriever, Splitter, Terms,
};
use hanok_testkit::{Keeping, block_on};
use server::{Fault, Server};

/// A store with its server.
async fn served() -> Keeping<OpenSearchStore, Server> {
    let server = Server::start();
    Keeping::new(open(&server).await.unwrap(), server)
}

async fn open(server: &Server) -> Result<OpenSearchStore, RetrievalError> {
    open_within(server, Duration::from_secs(60)).await
}

async fn open_within(
    server: &Server,
    patience: Duration,
) -> Result<OpenSearchStore, RetrievalError> {
    let config = OpenSearchConfig::new(server.url(), "handbook").login("user", "s3cr3t");
    OpenSearchStore::open(config.timeout(patience), Terms::default()).await
}

hanok_testkit::document_store_conforms!(served().await);

fn split(source: &str, articles: usize) -> Vec<Passage> {
    let text: String =
        (0..articles).map(|at| format!("## 제{at}조(휴가)\n{at}일이다.\n\n")).collect();
    Splitter::new().split(&Document::new(source, text))
}

/// An error, all of it.
fn told(error: &RetrievalError) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text += &format!(" {error}");
        cause = error.source();
    }
    text
}

/// P55
#[test]
fn a_bad_server_is_an_error_in_time_that_tells_no_secret_and_loses_nothing() {
    let faults =
        [Fault::Html500, Fault::Garbage, Fault::Half, Fault::Silent, Fault::Gone, Fault::Array];
    for fault in faults {
        block_on(async {
            let server = Server::start();
            // Only where nothing comes is there anything to wait for.
            let patience = Duration::from_secs(if fault == Fault::Silent { 3 } else { 60 });
            let store = open_within(&server, patience).await.unwrap();
            store.upsert(split("a.md", 3)).await.unwrap();
            let query = Query::new("휴가");
            let (listed, found) =
                (store.documents().await.unwrap(), store.search(&query).await.unwrap());
            server.fail(fault);
            let errors = [
                store.search(&query).await.unwrap_err(),
                store.upsert(split("a.md", 2)).await.unwrap_err(),
                store.remove("a.md").await.unwrap_err(),
                store.documents().await.unwrap_err(),
                store.passages("a.md", 0..9).await.unwrap_err(),
                open_within(&server, patience).await.unwrap_err(),
            ];
            for error in &errors {
                assert!(matches!(error, RetrievalError::Unavailable(_)), "{fault:?} {error:?}");
                let told = told(error);
                // `user:s3cr3t` in base 64 begins so.
                for secret in ["s3cr3t", "dXNlcjpz", "<html>"] {
                    assert!(!told.contains(secret), "{told}");
                }
            }
            server.fail(Fault::None);
            assert_eq!(store.documents().await.unwrap(), listed, "{fault:?}");
            assert_eq!(store.search(&query).await.unwrap(), found);
            assert!(!format!("{store:?}").contains("s3cr3t"));
        });
    }
}

/// Whenever a writer dies between two requests, what is shown later is one version, or listed as of none, and put again.
#[test]
fn a_change_that_was_cut_off_is_mended_by_the_next() {
    let mut doubtful = 0;
    for requests in 0..8 {
        block_on(async {
            let server = Server::start();
            let store = open(&server).await.unwrap();
            store.upsert(split("a.md", 2)).await.unwrap();
            let before = store.documents().await.unwrap();
            server.fail_after(requests);
            let died = store.upsert(split("a.md", 5)).await.is_err();
            server.fail(Fault::None);
            let shown = store.search(&Query::new("휴가").limit(100)).await.unwrap().len();
            assert_eq!(shown, if died { 2 } else { 5 }, "{requests}");
            // Another change shows what was written.
            store.upsert(split("b.md", 1)).await.unwrap();
            let after = store.documents().await.unwrap();
            let version = &after[0].version;
            doubtful += usize::from(version.is_empty());
            assert!(version.is_empty() || *version == before[0].version || after[0].passages == 5);
            store.upsert(split("a.md", 3)).await.unwrap();
            let hits = store.search(&Query::new("휴가").under("a.md").limit(100)).await.unwrap();
            assert_eq!(hits.len(), 3, "{requests}");
            assert!(store.remove("a.md").await.unwrap());
            assert_eq!(store.passages("a.md", 0..99).await.unwrap(), []);
        });
    }
    assert!(doubtful > 0);
}

#[test]
fn an_index_that_other_terms_fill_is_refused() {
    block_on(async {
        let server = Server::start();
        let store = open(&server).await.unwrap();
        store.upsert(split("a.md", 2)).await.unwrap();
        let config = OpenSearchConfig::new(server.url(), "handbook").login("user", "s3cr3t");
        let error = OpenSearchStore::open(config, Terms::Words).await.unwrap_err();
        let want = "the store was filled by the terms `Bigrams, English stems`, not by `Words, English stems`: open it with those, or fill another one";
        assert_eq!(error.to_string(), want);
        assert_eq!(open(&server).await.unwrap().documents().await.unwrap().len(), 1);
    });
}

#[test]
fn an_address_or_a_name_that_is_none_is_refused() {
    block_on(async {
        for (url, index) in [
            ("http://user:s3cr3t@127.0.0.1:1", "a"),
            ("ftp://127.0.0.1", "a"),
            ("", "a"),
            ("http://127.0.0.1:1", "../_all"),
            ("http://127.0.0.1:1", "A"),
            ("http://127.0.0.1:1", ""),
        ] {
            let opened = OpenSearchStore::open(OpenSearchConfig::new(url, index), Terms::default());
            let error = opened.await.unwrap_err();
            assert!(!told(&error).contains("s3cr3t"), "{url}");
        }
    });
}
