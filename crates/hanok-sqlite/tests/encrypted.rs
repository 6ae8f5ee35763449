//! What a file holds whose store compresses and encrypts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path};

use bytes::Bytes;
use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Codec, CodecError, Consumer, Entry,
    Guard, KeyId, Keyring, Log, Memo, Outbox, Record, SharedCheckpointer,
};
use hanok_core::{Namespace, Position, Spent, Stored, TaskId, Tenant, ThreadKey, Timestamp};
use hanok_sqlite::Sqlite;
use tempfile::TempDir;

const SECRET: &str = "the tenant owes 3억 5천만";

fn thread(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

fn keys(id: u32, byte: u8) -> Keyring {
    Keyring::new(KeyId(id), [byte; 32])
}

fn entry(text: &str) -> Entry {
    let value = Stored::encode(text).unwrap();
    let (task, spent) = (TaskId::from_bytes([1; 16]), Spent::default());
    let memo = Memo { task, name: text.to_owned(), value, spent };
    Entry { at: Timestamp(1), namespace: Namespace::root(), body: Body::Memo(memo) }
}

fn store(folder: &TempDir, codec: Codec) -> SharedCheckpointer {
    let file = block_on(Sqlite::open(folder.path().join("threads.db"))).unwrap();
    SharedCheckpointer::new(file).with_codec(codec)
}

/// Appends an entry that says `text`, with an item that says so too.
fn append(store: &SharedCheckpointer, name: &str, at: u64, text: &str) {
    let (thread, position) = (thread(name), Position(at + 1));
    let codec = store.codec();
    let record = Record::sealed(codec, &thread, position, Position(at), &entry(text)).unwrap();
    let payload = Stored::encode(text).unwrap();
    let item = Outbox { id: format!("{at}"), topic: "memory".into(), payload };
    let outbox = vec![item.outgoing(codec, &thread, position).unwrap()];
    let append =
        Append::new(AppendId(u128::from(at)), Position(at), Guard::Unclaimed, vec![record]);
    block_on(store.append(&thread, Append { outbox, ..append })).unwrap();
}

fn said(store: &SharedCheckpointer, name: &str) -> Result<Vec<String>, CheckpointError> {
    let mut history = block_on(Log::new(store.clone(), thread(name)).history(None, 99))?;
    history.reverse();
    let text = |body: &Body| match body {
        Body::Memo(memo) => memo.value.decode().unwrap(),
        other => panic!("{other:?}"),
    };
    Ok(history.iter().map(|entry| text(&entry.entry.body)).collect())
}

/// Whether a file of the folder holds `text` anywhere.
fn holds(folder: &Path, text: &str) -> bool {
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

fn why(error: CheckpointError) -> CodecError {
    match error {
        CheckpointError::Locked { source, .. } => source,
        error => panic!("{error:?}"),
    }
}

/// B83, P56
#[test]
fn nothing_that_was_said_stands_in_the_file_and_only_its_key_opens_it() {
    for codec in [Codec::new(), Codec::new().compress(1), Codec::new().compress(1_000_000)] {
        let folder = tempfile::tempdir().unwrap();
        let store = |codec| store(&folder, codec);
        let mine = store(codec.clone().encrypt(keys(1, 7)));
        append(&mine, "t", 0, SECRET);
        let log = Log::new(mine.clone(), thread("t"));
        let open = block_on(log.open(None)).unwrap().unwrap();
        block_on(log.put_snapshot(&open.fold)).unwrap();
        append(&mine, "t", 1, "more");

        assert!(!holds(folder.path(), SECRET), "{codec:?}");
        assert!(!holds(folder.path(), "more"));
        assert_eq!(said(&mine, "t").unwrap(), [SECRET, "more"]);
        assert!(block_on(log.open(None)).unwrap().is_some());
        let consumer = |store: &SharedCheckpointer| Consumer::new(store.clone(), "c", "memory");
        let items = block_on(consumer(&mine).next(9)).unwrap();
        assert_eq!(items[0].payload.decode::<String>().unwrap(), SECRET);

        let none = store(Codec::new());
        assert!(matches!(why(said(&none, "t").unwrap_err()), CodecError::NoKey(KeyId(1))));
        let opened = block_on(Log::new(none.clone(), thread("t")).open(None));
        assert!(matches!(why(opened.unwrap_err()), CodecError::NoKey(KeyId(1))));
        let items = block_on(consumer(&none).next(9)).unwrap_err();
        assert!(matches!(why(items), CodecError::NoKey(KeyId(1))));
        let wrong = store(Codec::new().encrypt(keys(1, 8)));
        assert!(matches!(why(said(&wrong, "t").unwrap_err()), CodecError::Refused(KeyId(1))));
        let other = store(Codec::new().encrypt(keys(2, 7)));
        assert!(matches!(why(said(&other, "t").unwrap_err()), CodecError::NoKey(KeyId(1))));
        // Nothing was changed by trying.
        assert_eq!(said(&mine, "t").unwrap(), [SECRET, "more"]);
    }
}

/// P56: whoever is given the handle of a store keeps to its codec.
#[test]
fn a_handle_that_is_shared_again_keeps_its_codec() {
    let folder = tempfile::tempdir().unwrap();
    let mine = store(&folder, Codec::new().encrypt(keys(1, 7)));
    append(&SharedCheckpointer::new(mine.clone()), "t", 0, SECRET);
    assert!(!holds(folder.path(), SECRET));
    assert_eq!(said(&mine, "t").unwrap(), [SECRET]);
}

/// P56: after a change of keys everything reads, and only the new one writes.
#[test]
fn keys_are_changed_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let first = store(&folder, Codec::new().encrypt(keys(1, 7)));
    append(&first, "t", 0, "old");
    let both = store(&folder, Codec::new().encrypt(keys(2, 9).reads(KeyId(1), [7; 32])));
    append(&both, "t", 1, "new");
    assert_eq!(said(&both, "t").unwrap(), ["old", "new"]);
    let error = why(said(&first, "t").unwrap_err());
    assert!(matches!(error, CodecError::NoKey(KeyId(2))));
    assert_eq!(format!("{:?}", keys(3, 255)), "Keyring { writes: 3, keys: [3] }");
}

/// P56: what is not encrypted, or was put elsewhere by somebody who knows the format but not the key, is an error.
#[test]
fn a_record_in_plain_text_or_moved_elsewhere_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let plain = store(&folder, Codec::new());
    append(&plain, "plain", 0, "anyone");
    let mine = store(&folder, Codec::new().encrypt(keys(1, 7)));
    assert!(matches!(why(said(&mine, "plain").unwrap_err()), CodecError::Plain));

    append(&mine, "t", 0, "one");
    append(&mine, "t", 1, "two");
    let records = block_on(mine.history(&thread("t"), None, 9)).unwrap();
    for (name, at) in [("t", 2), ("other", 0)] {
        let (to, position, parent) = (thread(name), Position(at + 1), Position(at));
        // The payload of the first record, under a header and a checksum that fit its new place.
        let payload = records[1].bytes[18..].to_vec();
        let forged = forge(&to, position, parent, &payload);
        let append = Append::new(AppendId(77), parent, Guard::Unclaimed, vec![forged]);
        block_on(mine.append(&to, append)).unwrap();
        assert!(matches!(why(said(&mine, name).unwrap_err()), CodecError::Refused(KeyId(1))));
    }
}

/// An encrypted record with another payload, whole as far as its checksum says.
fn forge(thread: &ThreadKey, position: Position, parent: Position, payload: &[u8]) -> Record {
    let tenant = thread.tenant().as_str().as_bytes();
    let mut sum = crc32c::crc32c(&(tenant.len() as u64).to_le_bytes());
    let parts = [
        tenant,
        &[1, 2],
        thread.thread().as_bytes(),
        &position.0.to_le_bytes(),
        &parent.0.to_le_bytes(),
        payload,
    ];
    parts.iter().for_each(|part| sum = crc32c::crc32c_append(sum, part));
    let header: [&[u8]; 5] = [
        &[1, 2],
        &(payload.len() as u32).to_le_bytes(),
        &sum.to_le_bytes(),
        &parent.0.to_le_bytes(),
        payload,
    ];
    Record { position, bytes: Bytes::from(header.concat()) }
}

/// P7: every flipped bit of a compressed and encrypted record is told.
#[test]
fn a_flipped_bit_of_an_encrypted_record_is_told() {
    let codec = Codec::new().compress(1).encrypt(keys(1, 7));
    let (t, at) = (thread("t"), Position(1));
    let record =
        Record::sealed(&codec, &t, at, Position::START, &entry(&SECRET.repeat(9))).unwrap();
    assert_eq!(record.open(&codec, &t).unwrap().1, entry(&SECRET.repeat(9)));
    for bit in 0..record.bytes.len() * 8 {
        let mut bytes = record.bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let damaged = Record { position: at, bytes: bytes.into() };
        damaged.open(&codec, &t).unwrap_err();
    }
}

/// B77: what repeats itself is stored small, from a size on, and reads as it was.
#[test]
fn large_records_are_compressed() {
    let codec = Codec::new().compress(500);
    let (t, at) = (thread("t"), Position(1));
    let size = |text: &str| {
        let record = Record::sealed(&codec, &t, at, Position::START, &entry(text)).unwrap();
        assert_eq!(record.open(&codec, &t).unwrap().1, entry(text));
        let plain = Record::new(&t, at, Position::START, &entry(text)).bytes.len();
        (record.bytes.len(), plain)
    };
    let (small, plain) = size("short");
    assert_eq!(small, plain);
    let (small, plain) = size(&"result for query: 한옥 ".repeat(1_000));
    assert!(small * 20 < plain, "{small} of {plain}");
}
