//! Stores in folders that go with them.

use std::path::Path;

use hanok_checkpoint::Vector;
use hanok_index::{IndexOptions, IndexStore};
use hanok_retrieval::{
    Document, DocumentStore, Hit, Mode, Passage, Query, RetrievalError, Retriever, Splitter,
};
use hanok_testkit::{Keeping, block_on};
use tempfile::TempDir;

/// A store in a folder that goes with it.
pub(crate) async fn in_folder(options: IndexOptions) -> Keeping<IndexStore, TempDir> {
    let folder = tempfile::tempdir().unwrap();
    Keeping::new(IndexStore::open(folder.path(), options).await.unwrap(), folder)
}

pub(crate) fn open(folder: &Path) -> Result<IndexStore, RetrievalError> {
    block_on(IndexStore::open(folder, IndexOptions::new()))
}

pub(crate) fn read(folder: &Path) -> Result<IndexStore, RetrievalError> {
    block_on(IndexStore::open(folder, IndexOptions::new().read_only(true)))
}

/// Puts documents, each passage with a vector that follows from its text.
pub(crate) fn put(store: &impl DocumentStore, documents: &[Document]) {
    let split = |document: &Document| Splitter::new().split(document);
    let mut passages: Vec<Passage> = documents.iter().flat_map(split).collect();
    passages.iter_mut().for_each(|passage| passage.vector = Some(vector(&passage.text)));
    block_on(store.upsert(passages)).unwrap();
}

pub(crate) fn vector(text: &str) -> Vector {
    let mut numbers = [0.1; 8];
    text.chars().for_each(|c| numbers[c as usize % 8] += 1.0);
    Vector::new(&numbers).unwrap().made_by("letters")
}

/// What is asked by keywords, by a vector, and by both.
pub(crate) fn in_every_way(query: &Query) -> [Query; 3] {
    let query = query.clone().vector(vector(query.text()));
    [query.clone(), query.clone().mode(Mode::Vector), query.mode(Mode::Hybrid)]
}

pub(crate) fn hits(store: &impl Retriever, query: &Query) -> Vec<Hit> {
    block_on(store.search(query)).unwrap()
}

/// A document of some articles, in words that follow from `seed`.
pub(crate) fn document(seed: u64) -> Document {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let words = [
        "연차휴가는",
        "병가",
        "출장비",
        "회의실을",
        "예약한다",
        "근속자",
        "VPN",
        "접속",
        "15일",
        "급여",
        "지급한다",
        "보안",
        "규정에",
        "따른다",
        "신청서",
        "승인",
        "부서장",
        "보고한다",
    ];
    let mut text = String::new();
    for article in 0..next(4) + 1 {
        text += &format!("## 제{article}조\n");
        for _ in 0..next(30) + 1 {
            text += words[next(words.len())];
            text.push(' ');
        }
        text += "\n\n";
    }
    let team = ["hr", "it"][next(2)];
    Document::new(format!("규정/{}/{}.md", next(3), next(1_000_000)), text).with("team", team)
}
