//! The store in memory holds every claim of the suite, which finds what a store gets wrong.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{ops::Range, panic::catch_unwind};

use hanok_retrieval::{
    DocumentStore, Hit, MemoryStore, Passage, Query, RetrievalError, Retriever, StoredDocument,
};
use hanok_testkit::{DOCUMENT_STORE_CLAIMS, check_document_store};

mod memory {
    use hanok_retrieval::{MemoryStore, Terms};

    hanok_testkit::document_store_conforms!(MemoryStore::new(Terms::default()));
}

mod memory_by_words {
    use hanok_retrieval::{MemoryStore, Terms};

    hanok_testkit::document_store_conforms!(MemoryStore::new(Terms::Both));
}

/// What a store gets wrong.
#[derive(Debug, Clone, Copy)]
enum Wrong {
    RemovesNothing,
    ForgetsFilters,
    ForgetsVersions,
    KeepsOldPassages,
    ForgetsVectors,
}

/// A store that is right but for that.
#[derive(Debug)]
struct Faulty(Wrong, MemoryStore);

impl Retriever for Faulty {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        match self.0 {
            Wrong::ForgetsFilters => {
                let all = Query::new(query.text()).limit(query.max_hits()).mode(query.compared());
                let all = all.min_coverage(query.lowest_coverage());
                let all = query.meaning().into_iter().fold(all, |all, it| all.vector(it.clone()));
                self.1.search(&all).await
            }
            _ => self.1.search(query).await,
        }
    }
}

impl DocumentStore for Faulty {
    async fn upsert(&self, mut passages: Vec<Passage>) -> Result<(), RetrievalError> {
        if matches!(self.0, Wrong::KeepsOldPassages) {
            for document in self.1.documents().await? {
                let old = Query::new("휴가 진단서").under(&document.source).limit(100);
                let old = self.1.search(&old).await?.into_iter().map(|hit| hit.passage);
                passages.extend(old.filter(|old| old.source == document.source));
            }
        }
        if matches!(self.0, Wrong::ForgetsVectors) {
            passages.iter_mut().for_each(|passage| passage.vector = None);
        }
        self.1.upsert(passages).await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        match self.0 {
            Wrong::RemovesNothing => Ok(true),
            _ => self.1.remove(source).await,
        }
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let mut documents = self.1.documents().await?;
        if matches!(self.0, Wrong::ForgetsVersions) {
            documents.iter_mut().for_each(|document| document.version.clear());
        }
        Ok(documents)
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        self.1.passages(source, ordinals).await
    }
}

#[test]
fn the_suite_tells_what_a_store_gets_wrong() {
    for (wrong, claims) in [
        (Wrong::RemovesNothing, &["what_is_removed_is_found_by_nothing"][..]),
        (
            Wrong::ForgetsFilters,
            &["a_folder_holds_whole_names_only", "every_value_of_a_filter_has_to_hold"],
        ),
        (
            Wrong::ForgetsVersions,
            &[
                "documents_are_listed_by_source_with_their_version",
                "only_what_changed_is_put_again",
            ],
        ),
        (Wrong::KeepsOldPassages, &["a_document_is_replaced_as_a_whole"]),
        (
            Wrong::ForgetsVectors,
            &["what_is_near_is_found_by_its_vector", "the_model_of_the_vectors_is_listed"],
        ),
    ] {
        let refused = |claim: &str| {
            let store = Faulty(wrong, MemoryStore::default());
            catch_unwind(move || check_document_store(claim, store)).is_err()
        };
        let told: Vec<&str> = DOCUMENT_STORE_CLAIMS
            .iter()
            .map(|(claim, _)| *claim)
            .filter(|it| refused(it))
            .collect();
        for claim in claims {
            assert!(told.contains(claim), "{wrong:?} passes {claim}");
        }
        assert!(told.len() < DOCUMENT_STORE_CLAIMS.len() / 2, "{wrong:?} is told by {told:?}");
    }
}
