//! The documents and questions of the claims.

use hanok_retrieval::{
    Document, DocumentStore, Hit, Passage, Query, Retriever, SharedDocumentStore, Splitter,
    StoredDocument,
};

use crate::block_on;

/// A store, and what is done with it.
pub(crate) struct Shelf<'a>(pub(crate) &'a SharedDocumentStore);

impl Shelf<'_> {
    pub(crate) fn put(&self, documents: &[Document]) {
        let passages = documents.iter().flat_map(split).collect();
        block_on(self.0.upsert(passages)).unwrap();
    }

    pub(crate) fn remove(&self, source: &str) -> bool {
        block_on(self.0.remove(source)).unwrap()
    }

    pub(crate) fn hits(&self, query: &Query) -> Vec<Hit> {
        block_on(self.0.search(query)).unwrap()
    }

    /// The sources of the hits, in their order of the alphabet.
    pub(crate) fn sources_of(&self, query: Query) -> Vec<String> {
        let mut sources: Vec<_> =
            self.hits(&query.limit(100)).into_iter().map(|hit| hit.passage.source).collect();
        sources.sort();
        sources.dedup();
        sources
    }

    pub(crate) fn documents(&self) -> Vec<StoredDocument> {
        block_on(self.0.documents()).unwrap()
    }

    pub(crate) fn sources(&self) -> Vec<String> {
        self.documents().into_iter().map(|document| document.source).collect()
    }
}

pub(crate) fn split(document: &Document) -> Vec<Passage> {
    Splitter::new().split(document)
}

/// Two articles of a rule.
pub(crate) fn rule(source: &str, days: u32) -> Document {
    let text = format!(
        "# 인사규정\n\n## 제12조(연차휴가)\n1년 이상 근속자는 연 {days}일이다.\n\n## 제13조(병가)\n진단서를 낸다.\n"
    );
    Document::new(source, text)
}
