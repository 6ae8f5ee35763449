//! What is in the folder: others that use it, and what should not be there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use hanok_index::{IndexOptions, IndexStore};
use hanok_retrieval::{Document, DocumentStore, Mode, Query, RetrievalError, Terms};
use hanok_testkit::block_on;

use crate::support::*;

fn rule(days: u32) -> Document {
    Document::new("a.md", format!("연차휴가는 {days}일이다."))
}

#[test]
fn what_was_put_is_there_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let documents: Vec<Document> = (0..20).map(document).collect();
    let query = Query::new("휴가 승인").limit(100);
    let store = open(folder.path()).unwrap();
    put(&store, &documents);
    let found = |store: &IndexStore| in_every_way(&query).map(|query| hits(store, &query));
    let (listed, before) = (block_on(store.documents()).unwrap(), found(&store));
    assert!(before.iter().all(|hits| !hits.is_empty()));
    drop(store);
    for _ in 0..2 {
        let store = open(folder.path()).unwrap();
        assert_eq!(block_on(store.documents()).unwrap(), listed);
        assert_eq!(found(&store), before);
    }
}

#[test]
fn one_store_writes_and_others_read_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read(&folder.path().join("none"));
    assert!(matches!(missing, Err(RetrievalError::NoFolder { .. })), "{missing:?}");
    let empty = read(folder.path());
    assert!(matches!(empty, Err(RetrievalError::Damaged { .. })), "{empty:?}");

    let store = open(folder.path()).unwrap();
    let held = open(folder.path());
    assert!(matches!(held, Err(RetrievalError::Held { .. })), "{held:?}");
    let reader = read(folder.path()).unwrap();
    assert_eq!(hits(&reader, &Query::new("휴가")), []);
    for days in 1..20 {
        put(&store, &[rule(days)]);
        let query = Query::new("휴가").vector(vector(&format!("{days}일")));
        let found = hits(&reader, &query);
        assert_eq!(found, hits(&store, &query));
        let like = query.mode(Mode::Vector).limit(100);
        assert_eq!(hits(&reader, &like), hits(&store, &like));
        assert!(found[0].passage.text.contains(&format!("{days}일")));
        assert_eq!(block_on(reader.documents()).unwrap(), block_on(store.documents()).unwrap());
    }
    let refused = block_on(reader.remove("a.md"));
    assert!(matches!(refused, Err(RetrievalError::ReadOnly)), "{refused:?}");
    drop(store);
    assert!(open(folder.path()).is_ok(), "nobody writes any more");
}

#[test]
fn of_other_terms_or_of_something_else_it_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    put(&open(folder.path()).unwrap(), &[rule(15)]);
    let words = IndexOptions::new().terms(Terms::Words);
    let other = block_on(IndexStore::open(folder.path(), words));
    assert!(matches!(other, Err(RetrievalError::Terms { .. })), "{other:?}");

    let notes = tempfile::tempdir().unwrap();
    for name in ["notes.txt", "meta.json"] {
        fs::write(notes.path().join(name), "mine").unwrap();
        let mine = open(notes.path());
        assert!(matches!(mine, Err(RetrievalError::NoIndex { .. })), "{mine:?}");
        assert_eq!(fs::read_to_string(notes.path().join(name)).unwrap(), "mine");
    }
}

/// What was in the folder, by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let each = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
    each.collect()
}

/// Whatever is done to a file, the store opens as it was, or says what to do; and no other file is touched.
#[test]
fn a_damaged_file_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    put(&store, &(0..30).map(document).collect::<Vec<_>>());
    put(&store, &(20..40).map(document).chain([rule(15)]).collect::<Vec<_>>());
    put(&store, &[rule(16)]);
    let (listed, query) = (block_on(store.documents()).unwrap(), Query::new("휴가 급여"));
    let [_, _, query] = in_every_way(&query);
    let found = hits(&store, &query);
    drop(store);
    let whole = contents(folder.path());
    let mut refused = 0;
    for (name, bytes) in &whole {
        let damages: [(&str, Vec<u8>); 5] = [
            ("empty", Vec::new()),
            ("half", bytes[..bytes.len() / 2].to_vec()),
            ("last byte", bytes[..bytes.len().saturating_sub(1)].to_vec()),
            ("a bit", flipped(bytes, bytes.len() / 3)),
            ("the end", flipped(bytes, bytes.len().saturating_sub(3))),
        ];
        for (how, damaged) in damages {
            let copy = tempfile::tempdir().unwrap();
            for (name, bytes) in &whole {
                fs::write(copy.path().join(name), bytes).unwrap();
            }
            fs::write(copy.path().join(name), &damaged).unwrap();
            for opened in [read(copy.path()), open(copy.path())] {
                match opened {
                    Ok(store) => {
                        assert_eq!(block_on(store.documents()).unwrap(), listed, "{name}, {how}");
                        assert_eq!(hits(&store, &query), found, "{name}, {how}");
                    }
                    Err(RetrievalError::Damaged { .. }) => refused += 1,
                    Err(error) => panic!("{name}, {how}: {error:?}"),
                }
            }
            if open(copy.path()).is_err() {
                let left = contents(copy.path());
                assert!(whole.keys().all(|name| left.contains_key(name)), "{name}, {how}");
                assert_eq!(left[name], damaged, "{name}, {how}");
            }
        }
    }
    assert!(refused > 50, "{refused}");
    for gone in whole.keys().filter(|name| name.ends_with(".store") || name.ends_with(".idx")) {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in whole.iter().filter(|(name, _)| *name != gone) {
            fs::write(copy.path().join(name), bytes).unwrap();
        }
        for opened in [read(copy.path()), open(copy.path())] {
            assert!(matches!(opened, Err(RetrievalError::Damaged { .. })), "{gone}: {opened:?}");
        }
    }
    let error = RetrievalError::Damaged { path: "ix".into(), source: "".into() }.to_string();
    assert_eq!(error, "the store in `ix` cannot be read: remove the folder and sync again");
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x10);
    bytes
}

/// Parts that are merged are removed; who was about to read them reads what took their place.
#[test]
fn a_folder_is_opened_and_read_while_another_store_merges() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    put(&store, &[document(0)]);
    let (done, before) = (AtomicBool::new(false), read(folder.path()).unwrap());
    thread::scope(|scope| {
        scope.spawn(|| {
            (1..80).for_each(|seed| put(&store, &[document(seed)]));
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            let opened = read(folder.path()).unwrap();
            let listed = block_on(opened.documents()).unwrap();
            let [_, all, _] = in_every_way(&Query::new("휴가").limit(100_000));
            let sources: BTreeSet<_> =
                hits(&opened, &all).into_iter().map(|hit| hit.passage.source).collect();
            assert!(listed.iter().all(|listed| sources.contains(&listed.source)));
            assert!(block_on(before.documents()).unwrap().len() >= listed.len());
            let opened = open(folder.path());
            assert!(matches!(opened, Err(RetrievalError::Held { .. })), "{opened:?}");
        }
    });
    assert_eq!(block_on(before.documents()).unwrap().len(), 80);
}

/// A name in a damaged list of files is nothing to remove.
#[test]
fn a_file_that_is_not_of_the_index_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let mine = folder.path().join("mine.txt");
    fs::write(&mine, "mine").unwrap();
    let list = folder.path().join(".managed.json");
    let listed = fs::read_to_string(&list).unwrap().replace('[', "[\"mine.txt\",\"../mine.txt\",");
    fs::write(&list, listed.replace(",]", "]")).unwrap();
    let opened = open(folder.path());
    assert!(opened.is_err(), "{opened:?}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
}
