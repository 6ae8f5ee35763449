//! Stores of documents: each holds every claim of the suite, and is opened by its name.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_retrieval::{
    Document, DocumentStore, Mode, Query, RetrievalError, Retriever, Splitter, StoreKind,
    StoreKindError,
};
use hanok_testkit::block_on;

mod memory {
    use hanok_retrieval::{MemoryStore, Terms};

    hanok_testkit::document_store_conforms!(MemoryStore::new(Terms::default()));
}

mod memory_by_words {
    use hanok_retrieval::{MemoryStore, Terms};

    hanok_testkit::document_store_conforms!(MemoryStore::new(Terms::Both));
}

#[test]
fn a_store_is_opened_by_its_name() {
    assert_eq!(StoreKind::default(), StoreKind::Memory);
    for kind in StoreKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert_eq!(format!(" {} ", kind.name().to_uppercase()).parse(), Ok(kind));
        let store = kind.open();
        let passages = Splitter::new().split(&Document::new("a.md", "연차휴가"));
        block_on(store.upsert(passages)).unwrap();
        assert_eq!(block_on(store.search(&Query::new("휴가"))).unwrap().len(), 1);
    }
    let coming = |name, feature| Err(StoreKindError::NotBuilt { name, feature });
    for (name, want) in [
        ("local", coming("local", "local")),
        ("FAISS", coming("local", "local")),
        ("opensearch", coming("opensearch", "opensearch")),
        ("pgvector", coming("pgvector", "pgvector")),
        ("", Err(StoreKindError::Unknown { name: String::new() })),
        ("memory2", Err(StoreKindError::Unknown { name: "memory2".to_owned() })),
    ] {
        assert_eq!(name.parse::<StoreKind>(), want, "{name}");
    }
    let unknown = "chroma".parse::<StoreKind>().unwrap_err().to_string();
    assert_eq!(unknown, "no store `chroma`; there is `memory`");
}

#[test]
fn what_a_store_cannot_do_is_an_error_and_not_another_search() {
    let store = StoreKind::Memory.open();
    for mode in [Mode::Vector, Mode::Hybrid] {
        let error = block_on(store.search(&Query::new("휴가").mode(mode))).unwrap_err();
        assert!(matches!(error, RetrievalError::Mode { mode: told, .. } if told == mode));
        assert_eq!(error.to_string(), format!("the store `memory` has no {mode} search"));
    }
}
