//! Random damage to a store: it is noticed, and the advice that is given about it works.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says what it counted"
)]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, End, Entry, Guard, Log, Record,
    SharedCheckpointer, Which,
};
use hanok_core::{Namespace, Position, RunId, Tenant, ThreadKey, Timestamp};
use hanok_sqlite::{Repaired, Sqlite};
use hanok_testkit::shortened;

/// How many entries each of the threads has.
const ENTRIES: u64 = 30;

const THREADS: [&str; 4] = ["a", "b", "세 번째", "d"];

fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).unwrap()
}

fn append(thread: &ThreadKey, at: u64) -> Append {
    let end = End {
        run: RunId(1),
        outcome: hanok_checkpoint::RunEnd::Done,
        detail: format!("{thread} {at} ").repeat(5 + 40 * (at as usize % 7)),
        spent: Default::default(),
        code: None,
        by: None,
    };
    let entry = Entry { at: Timestamp(at), namespace: Namespace::root(), body: Body::End(end) };
    let record = Record::new(thread, Position(at + 1), Position(at), &entry);
    Append::new(AppendId(at.into()), Position(at), Guard::Unclaimed, vec![record])
}

fn whole(path: &Path) {
    let store = block_on(Sqlite::open(path)).unwrap();
    for at in 0..ENTRIES {
        for thread in THREADS {
            block_on(store.append(&key(thread), append(&key(thread), at))).unwrap();
        }
    }
}

/// Numbers that follow from a seed (SplitMix64, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Bits, sectors, a cut, or pages that changed places.
fn corrupted(whole: &[u8], seed: u64) -> (Vec<u8>, String) {
    let (mut bytes, mut random) = (whole.to_vec(), Random(seed));
    let what = match seed % 4 {
        0 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            format!("a bit of byte {at}")
        }
        1 => {
            let at = random.below(bytes.len() / 512) * 512;
            let noise = random.below(2) == 1;
            for byte in &mut bytes[at..at + 512] {
                *byte = if noise { random.below(256) as u8 } else { 0 };
            }
            format!("the sector at {at}, noise: {noise}")
        }
        2 => {
            let length = 4096 + random.below(bytes.len() - 4096);
            bytes.truncate(length);
            format!("cut to {length}")
        }
        _ => {
            let pages = bytes.len() / 4096;
            let (one, two) = (random.below(pages), random.below(pages));
            for n in 0..4096 {
                bytes.swap(one * 4096 + n, two * 4096 + n);
            }
            format!("pages {one} and {two}")
        }
    };
    (bytes, what)
}

/// What a store says of its threads; an error of any kind is damage that was noticed.
fn read(path: &Path) -> Result<BTreeMap<ThreadKey, Vec<Entry>>, String> {
    let store = block_on(Sqlite::open(path)).map_err(|error| format!("open: {error}"))?;
    let found = block_on(store.check()).map_err(|error| format!("check: {error}"))?;
    if let Some(found) = found.first() {
        return Err(format!("check: {found}"));
    }
    let mut threads = BTreeMap::new();
    let store = SharedCheckpointer::new(store);
    for info in block_on(store.all_threads(&Which::All)).map_err(|error| error.to_string())? {
        let log = Log::new(store.clone(), info.thread);
        let verified = block_on(log.verify()).map_err(|error| error.to_string())?;
        match verified {
            Some(verified) if verified.is_whole() => {}
            other => return Err(format!("{other:?}")),
        }
        threads.insert(log.thread().clone(), entries(&log).map_err(|error| error.to_string())?);
    }
    Ok(threads)
}

/// The entries of a log, oldest first.
fn entries(log: &Log) -> Result<Vec<Entry>, CheckpointError> {
    let mut entries = block_on(log.history(None, usize::MAX))?;
    entries.reverse();
    Ok(entries.into_iter().map(|entry| entry.entry).collect())
}

/// Does what is advised: repairs into a new file, and rewinds the threads that lost something. Says why that did not help.
fn advised(
    path: &Path,
    new: &Path,
    want: &BTreeMap<ThreadKey, Vec<Entry>>,
) -> Result<Repaired, String> {
    let words = |error: CheckpointError| match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    let repaired = block_on(Sqlite::repair(path, new)).map_err(words)?;
    if repaired.threads.is_empty() {
        return Err(format!("nothing was found: {:?}", repaired.damaged));
    }
    let store = block_on(Sqlite::open(new)).map_err(words)?;
    let found = block_on(store.check()).map_err(words)?;
    if !found.is_empty() {
        return Err(format!("the new file: {found:?}"));
    }
    let store = SharedCheckpointer::new(store);
    for of in &repaired.threads {
        let log = Log::new(store.clone(), of.thread.clone());
        let verified = block_on(log.verify()).map_err(words)?.ok_or("it is not there")?;
        let all = want.get(&of.thread).map_or(&[][..], Vec::as_slice);
        let lost: u64 =
            of.lost.iter().map(|(from, to)| to.0.min(ENTRIES) + 1 - from.0.min(ENTRIES + 1)).sum();
        if of.records as u64 + lost != all.len() as u64 && of.records > 0 {
            return Err(format!("{of:?} does not add up to {}", all.len()));
        }
        let mut left = all;
        if let Some(damage) = verified.damage {
            let good = damage.last_good;
            let before = of.lost.first().map(|(from, _)| from.0 - 1);
            if before != Some(good.0) {
                return Err(format!("{of:?} is damaged at {damage:?}"));
            }
            left = &all[..usize::try_from(good.0).unwrap().min(all.len())];
            if good == Position::START {
                // All of it is lost, and that is what is told.
                continue;
            }
            block_on(log.rewind(good, None, AppendId(77), Timestamp(99))).map_err(words)?;
        }
        let opened = block_on(log.open(None)).map_err(words)?.ok_or("it is not there")?;
        let (head, position) = (opened.head.position, Position(opened.head.position.0));
        let tail = append(&of.thread, head.0);
        let life = opened.head.life;
        let end = tail.records[0].read(&of.thread).unwrap().1;
        let record = match life == hanok_checkpoint::Life::default() {
            true => Record::new(&of.thread, head.next(), position, &end),
            false => return Err("another life".to_owned()),
        };
        let next = Append::new(AppendId(78), head, Guard::Unclaimed, vec![record]);
        block_on(store.append(&of.thread, next)).map_err(words)?;
        block_on(log.open(None)).map_err(words)?.ok_or("it does not go on")?;
        let mut read = block_on(log.history(Some(Position(left.len() as u64 + 1)), usize::MAX))
            .map_err(words)?;
        read.reverse();
        let read: Vec<_> = read.into_iter().map(|entry| entry.entry).collect();
        if read != left {
            return Err(format!("{} entries are left of {}", read.len(), left.len()));
        }
    }
    Ok(repaired)
}

/// P7: no silent wrong state, and what is advised helps.
#[test]
fn random_damage_is_noticed_and_got_over() {
    let count = shortened(700);
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    whole(&at("whole.db"));
    let bytes = fs::read(at("whole.db")).unwrap();
    let want = read(&at("whole.db")).unwrap();
    assert_eq!(want.len(), THREADS.len());

    let (mut noticed, mut failed, mut unlisted, mut lost, mut records) = (0, Vec::new(), 0, 0, 0);
    for seed in 0..count {
        let (damaged, what) = corrupted(&bytes, seed as u64);
        for file in ["damaged.db", "damaged.db-wal", "damaged.db-shm", "new.db"] {
            drop(fs::remove_file(at(file)));
        }
        fs::write(at("damaged.db"), &damaged).unwrap();
        let why = match read(&at("damaged.db")) {
            Ok(read) => {
                assert_eq!(read, want, "seed {seed}: {what}: a wrong state, and nobody notices");
                continue;
            }
            Err(why) => why,
        };
        noticed += 1;
        match advised(&at("damaged.db"), &at("new.db"), &want) {
            Ok(repaired) => {
                unlisted += repaired.unlisted;
                records += repaired.threads.iter().map(|of| of.records).sum::<usize>();
                lost += THREADS.len() - repaired.threads.len().min(THREADS.len());
            }
            Err(error) => failed.push(format!("seed {seed}: {what}: {why}: {error}")),
        }
    }
    eprintln!(
        "{count} corruptions, {noticed} noticed, {} not got over, {records} of {} records whole, {lost} threads lost, {unlisted} records of them found\n{}",
        failed.len(),
        noticed * THREADS.len() * ENTRIES as usize,
        failed.join("\n")
    );
    assert!(noticed * 4 >= count, "{noticed} of {count}");
    assert!(failed.len() * 20 <= noticed, "{}", failed.join("\n"));
}
