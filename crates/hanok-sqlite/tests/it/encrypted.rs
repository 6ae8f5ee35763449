//! What a file holds whose store compresses and encrypts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{fs, path::Path};

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, Chain, CheckpointError, Checkpointer, Codec, CodecError, Consumer,
    Entry, Guard, KeyId, Keyring, Life, Log, Memo, Outbox, Record, RecordError, SharedCheckpointer,
    Tip,
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
    let (thread, codec) = (thread(name), store.codec());
    let head = block_on(store.head(&thread)).unwrap();
    let mut tip = head.map_or(Tip::new(Life::new(1), true), |head| Tip::of(&head));
    let record = tip.push(codec, &thread, Position(at), &entry(text)).unwrap();
    let payload = Stored::encode(text).unwrap();
    let item = Outbox { id: format!("{at}"), topic: "memory".into(), payload };
    let outbox = vec![item.outgoing(codec, &thread, tip.life, tip.position).unwrap()];
    let (id, guard) = (AppendId(u128::from(at)), Guard::Unclaimed);
    let append = tip.append(codec, &thread, id, Position(at), guard, vec![record]);
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
        block_on(log.put_snapshot(open.head.life, &open.fold)).unwrap();
        append(&mine, "t", 1, "more");

        assert!(!holds(folder.path(), SECRET), "{codec:?}");
        assert!(!holds(folder.path(), "more"));
        assert_eq!(said(&mine, "t").unwrap(), [SECRET, "more"]);
        assert!(block_on(log.open(None)).unwrap().is_some());
        let consumer = |store: &SharedCheckpointer| Consumer::new(store.clone(), "c", "memory");
        let items = block_on(consumer(&mine).next(9)).unwrap();
        assert_eq!(items[0].item.as_ref().unwrap().payload.decode::<String>().unwrap(), SECRET);

        let none = store(Codec::new());
        assert!(matches!(why(said(&none, "t").unwrap_err()), CodecError::NoKey(KeyId(1))));
        let opened = block_on(Log::new(none.clone(), thread("t")).open(None));
        assert!(matches!(why(opened.unwrap_err()), CodecError::NoKey(KeyId(1))));
        let item = block_on(consumer(&none).next(9)).unwrap().remove(0).item.unwrap_err();
        assert!(matches!(why(item), CodecError::NoKey(KeyId(1))));
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

/// P56: what is not encrypted is an error where everything is to be.
#[test]
fn a_record_in_plain_text_is_an_error_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let plain = store(&folder, Codec::new());
    append(&plain, "plain", 0, "anyone");
    let mine = store(&folder, Codec::new().encrypt(keys(1, 7)));
    assert!(matches!(why(said(&mine, "plain").unwrap_err()), CodecError::Plain));
}

/// P56: a record that was put elsewhere by somebody who knows the format but not the key is an error, whatever part of its
/// place is another, and that part alone.
#[test]
fn an_encrypted_record_opens_in_its_own_place_only() {
    let codec = Codec::new().encrypt(keys(1, 7));
    let key = |tenant, name| ThreadKey::new(Tenant::new(tenant).unwrap(), name).unwrap();
    let (own, life) = (key("a", "t"), Life::new(3));
    let mut tip = Tip { position: Position(4), ..Tip::new(life, true) };
    let record = tip.push(&codec, &own, Position(4), &entry(SECRET)).unwrap();
    assert_eq!(forged(&record, &own, life, Position(5), 1), record, "the forger knows the format");
    for (thread, life, position, distance, part) in [
        (key("b", "t"), life, 5, 1, "the tenant"),
        (key("a", "u"), life, 5, 1, "the thread"),
        (own.clone(), Life::new(4), 5, 1, "the life"),
        (own.clone(), life, 6, 2, "the position"),
        (own.clone(), life, 5, 2, "the parent"),
    ] {
        let moved = forged(&record, &thread, life, Position(position), distance);
        let opened = moved.open(&codec, &thread, life);
        let refused = matches!(opened, Err(RecordError::Codec(CodecError::Refused(KeyId(1)))));
        assert!(refused, "{part}: {opened:?}");
    }
}

/// `record` in another place, with its parent so far before it, whole as far as its checksum says.
fn forged(
    record: &Record,
    thread: &ThreadKey,
    life: Life,
    position: Position,
    distance: u8,
) -> Record {
    let mut bytes = record.bytes.to_vec();
    // The length of the payload takes two bytes here; how far before it its parent stands is next.
    assert!(bytes[6] >= 0x80 && bytes[7] < 0x80);
    bytes[8] = distance;
    let tenant = thread.tenant().as_str().as_bytes();
    let mut sum = crc32c::crc32c(&(tenant.len() as u64).to_le_bytes());
    let parts = [
        tenant,
        &bytes[..2],
        thread.thread().as_bytes(),
        &life.to_bytes(),
        &position.0.to_le_bytes(),
        &bytes[6..],
    ];
    parts.iter().for_each(|part| sum = crc32c::crc32c_append(sum, part));
    bytes[2..6].copy_from_slice(&sum.to_le_bytes());
    Record { position, bytes: bytes.into() }
}

/// P56: the tail of a log that was cut off by somebody without the key is noticed, whatever the rows say then.
#[test]
fn a_tail_that_was_cut_off_is_noticed_where_there_is_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let codec = || Codec::new().encrypt(keys(1, 7));
    let mine = store(&folder, codec());
    for (at, text) in (0..).zip(["one", "two", "three"]) {
        append(&mine, "t", at, text);
    }
    assert!(block_on(Log::new(mine.clone(), thread("t")).open(None)).unwrap().is_some());
    drop(mine);
    let rows = rusqlite::Connection::open(folder.path().join("threads.db")).unwrap();
    let cut = "DELETE FROM records WHERE position = 3; UPDATE threads SET head = 2";
    rows.execute_batch(cut).unwrap();
    let mine = store(&folder, codec());
    let log = Log::new(mine, thread("t"));
    let error = block_on(log.open(None)).unwrap_err();
    assert!(matches!(error, CheckpointError::Corrupt { position: Position(2), .. }), "{error:?}");
    let found = block_on(log.verify()).unwrap().unwrap();
    assert!(found.damage.is_some() && !found.is_whole());
}

/// P56: the chain is checked by whoever has its key, though the key that encrypted is destroyed.
#[test]
fn a_chain_with_a_key_of_its_own_outlives_the_key_that_encrypts() {
    let folder = tempfile::tempdir().unwrap();
    let chained = |keys: Keyring| Codec::new().encrypt(keys.chain(KeyId(9), [5; 32]));
    append(&store(&folder, chained(keys(1, 7))), "t", 0, SECRET);
    append(&store(&folder, chained(keys(1, 7))), "t", 1, SECRET);
    let log = |codec| Log::new(store(&folder, codec), thread("t"));
    let destroyed = log(chained(keys(2, 8)));
    assert!(matches!(
        why(block_on(destroyed.open(None)).unwrap_err()),
        CodecError::NoKey(KeyId(1))
    ));
    assert_eq!(block_on(destroyed.chain()).unwrap(), Some(Chain::Holds(Position::START)));
    let neither = log(Codec::new().encrypt(keys(2, 8)));
    assert_eq!(block_on(neither.chain()).unwrap(), Some(Chain::NoKey(KeyId(9))));
}

/// P7: every flipped bit of a compressed and encrypted record is told.
#[test]
fn a_flipped_bit_of_an_encrypted_record_is_told() {
    let codec = Codec::new().compress(1).encrypt(keys(1, 7));
    let (t, at) = (thread("t"), Position(1));
    let record =
        Record::sealed(&codec, &t, at, Position::START, &entry(&SECRET.repeat(9))).unwrap();
    assert_eq!(record.open(&codec, &t, Life::default()).unwrap().1, entry(&SECRET.repeat(9)));
    for bit in 0..record.bytes.len() * 8 {
        let mut bytes = record.bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let damaged = Record { position: at, bytes: bytes.into() };
        damaged.open(&codec, &t, Life::default()).unwrap_err();
    }
}

/// B77: what repeats itself is stored small, from a size on, and reads as it was.
#[test]
fn large_records_are_compressed() {
    let codec = Codec::new().compress(500);
    let (t, at) = (thread("t"), Position(1));
    let size = |text: &str| {
        let record = Record::sealed(&codec, &t, at, Position::START, &entry(text)).unwrap();
        assert_eq!(record.open(&codec, &t, Life::default()).unwrap().1, entry(text));
        let plain = Record::new(&t, at, Position::START, &entry(text)).bytes.len();
        (record.bytes.len(), plain)
    };
    let (small, plain) = size("short");
    assert_eq!(small, plain);
    let (small, plain) = size(&"result for query: 한옥 ".repeat(1_000));
    assert!(small * 20 < plain, "{small} of {plain}");
}
