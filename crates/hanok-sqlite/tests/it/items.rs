//! The items of the store across threads, in the file.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect"
)]

use std::{fs, path::Path, time::Instant};

use futures::executor::block_on;
use hanok_checkpoint::{Batch, Expect, Filter, Put, Search, Store, StoreError, Ttl, Vector, Write};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use hanok_sqlite::Sqlite;

const NOW: Timestamp = Timestamp(1_000);

fn open(path: &Path) -> Sqlite {
    block_on(Sqlite::open(path)).unwrap()
}

fn key(name: &str) -> ItemKey {
    let labels = Labels::new(["notes", "숨은이름"]).unwrap();
    ItemKey::new(Tenant::new("임차인").unwrap(), labels, name).unwrap()
}

fn put(text: &str) -> Put {
    Put::new(Stored::encode(text).unwrap())
}

/// Everything that is in the file and beside it.
fn bytes(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.collect::<Vec<_>>().concat()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// P57 in part: no byte of a removed item is left in the file.
#[test]
fn what_is_removed_or_swept_is_overwritten_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("threads.db"));
    let vector = Vector::new(&[0.6, 0.8]).unwrap();
    // As many that the text index has more than one piece.
    for n in 0..300 {
        let kept = ItemKey::new(Tenant::default(), Labels::new(["kept"]).unwrap(), &n.to_string());
        block_on(store.put(&kept.unwrap(), put(&format!("남는것 {n}")), NOW)).unwrap();
    }
    let traces = ["비밀번호", "비밀", "밀번", "임차인", "숨은이름", "감춘열쇠"];
    let secret = || put("비밀번호 1234").vector(vector.clone());
    let vector = vector.to_bytes();
    let left = || {
        let bytes = bytes(folder.path());
        let mut left: Vec<_> = traces.iter().filter(|text| holds(&bytes, text)).copied().collect();
        if bytes.windows(vector.len()).any(|window| window == vector) {
            left.push("vector");
        }
        left
    };
    let all = [&traces[..], &["vector"]].concat();

    block_on(store.put(&key("감춘열쇠"), secret(), NOW)).unwrap();
    assert_eq!(left(), all);
    block_on(store.remove(&key("감춘열쇠"), Expect::Any, NOW)).unwrap();
    assert_eq!(left(), [""; 0]);

    let soon = Ttl::After(std::time::Duration::from_millis(5));
    block_on(store.put(&key("감춘열쇠"), secret().ttl(soon), NOW)).unwrap();
    assert_eq!(left(), all);
    assert_eq!(block_on(store.sweep(Timestamp(1_005), 10)).unwrap(), 1);
    assert_eq!(left(), [""; 0]);
    let kept = Search::all(Tenant::default()).text("남는것").limit(1_000);
    assert_eq!(block_on(store.search(&kept, NOW)).unwrap().hits.len(), 300);
}

/// The number of times that the write-ahead file was emptied, as its header counts them from the second write on; `None` while the
/// file is empty.
fn emptied(folder: &Path) -> Option<u32> {
    let file = fs::read(folder.join("threads.db-wal")).unwrap();
    file.get(12..16).map(|count| u32::from_be_bytes(count.try_into().unwrap()))
}

/// P57 in part: only what removes empties the write-ahead file, once for all that it removes.
#[test]
fn a_removal_and_a_sweep_empty_the_write_ahead_file_once_and_puts_never_do() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("threads.db"));
    let write = |writes| {
        block_on(store.batch(Batch { writes, ..Batch::default() }, NOW)).unwrap();
        emptied(folder.path())
    };
    let put_one = || write(vec![Write::Put(key("k"), put("again"))]);
    let before = put_one().unwrap();
    for _ in 0..10 {
        assert_eq!(put_one(), Some(before));
    }
    let soon = Ttl::After(std::time::Duration::from_millis(5));
    let names: Vec<_> = (0..20).map(|n| key(&n.to_string())).collect();
    let expiring = names.iter().map(|key| Write::Put(key.clone(), put("v").ttl(soon)));
    assert_eq!(write(expiring.collect()), Some(before));

    assert_eq!(block_on(store.sweep(Timestamp(1_005), 100)).unwrap(), 20);
    assert_eq!(emptied(folder.path()), None);
    assert_eq!(put_one(), Some(before + 1));
    assert_eq!(block_on(store.sweep(Timestamp(1_005), 100)).unwrap(), 0);
    assert_eq!(put_one(), Some(before + 1));

    write(names.iter().map(|key| Write::Put(key.clone(), put("v"))).collect());
    assert_eq!(write(names.into_iter().map(|key| Write::Remove(key, Expect::Any)).collect()), None);
    assert_eq!(put_one(), Some(before + 2));
}

/// B106
#[test]
fn of_two_handles_on_one_file_one_gets_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let (one, two) = (open(&path), open(&path));
    let version = block_on(one.put(&key("k"), put("first"), NOW)).unwrap();
    let change = |text| put(text).only_if(Expect::Version(version));
    block_on(two.put(&key("k"), change("second"), NOW)).unwrap();
    let lost = block_on(one.put(&key("k"), change("lost"), NOW)).unwrap_err();
    assert!(matches!(lost, StoreError::Conflict { .. }), "{lost}");
    let item = block_on(one.get(&key("k"), NOW)).unwrap().unwrap();
    assert_eq!(item.value.as_str().unwrap(), "second");
}

/// How long a search takes; the figures are in README.md.
#[test]
#[ignore = "a measurement: run it in a release build"]
fn measure_searches_among_many_items() {
    const WORDS: [&str; 8] = ["휴가", "규정", "출장", "점심", "보안", "급여", "회의", "계약"];
    let items: usize = std::env::var("ITEMS").map_or(100_000, |items| items.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = open(&path);
    // A generator of numbers that are the same every time.
    let mut state = 1u64;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut numbers =
        || Vector::new(&[0; 384].map(|_| next() as f32 / (1u64 << 30) as f32 - 1.0)).unwrap();
    let wanted = numbers();
    let labels = |n: usize| Labels::new(["users", &format!("user {}", n % 100)]).unwrap();

    let began = Instant::now();
    for first in (0..items).step_by(1_000) {
        let writes = (first..(first + 1_000).min(items)).map(|n| {
            let text = format!("{} {} 메모 {n}", WORDS[n % 8], WORDS[n / 8 % 8]);
            let value =
                std::collections::BTreeMap::from([("text", text), ("kind", (n % 10).to_string())]);
            let put = Put::new(Stored::encode(&value).unwrap()).vector(numbers());
            Write::Put(ItemKey::new(Tenant::default(), labels(n), &n.to_string()).unwrap(), put)
        });
        let batch = Batch { writes: writes.collect(), ..Batch::default() };
        block_on(store.batch(batch, NOW)).unwrap();
    }
    eprintln!(
        "put {items}: {:?}, {} MB",
        began.elapsed(),
        fs::metadata(&path).unwrap().len() >> 20
    );

    let (all, one) = (Search::all(Tenant::default()), Search::within(Tenant::default(), labels(7)));
    let kind = Filter::eq(["kind"], "7").unwrap();
    for (what, search) in [
        ("list, all", all.clone()),
        ("list, all, filter", all.clone().filter(kind.clone())),
        ("meaning, all", all.clone().vector(wanted.clone())),
        ("meaning, all, filter", all.clone().vector(wanted.clone()).filter(kind)),
        ("meaning, 1 in 100", one.clone().vector(wanted.clone())),
        ("text in 1 of 4, all", all.clone().text("휴가")),
        ("text in 1 of 4, 1 in 100", one.clone().text("휴가")),
        ("text in one, all", all.clone().text("77777")),
        ("both, all", all.text("휴가").vector(wanted.clone())),
        ("both, 1 in 100", one.text("휴가").vector(wanted)),
    ] {
        let mut times: Vec<_> = (0..5)
            .map(|_| {
                let began = Instant::now();
                assert!(!block_on(store.search(&search, NOW)).unwrap().hits.is_empty());
                began.elapsed()
            })
            .collect();
        times.sort();
        eprintln!("{what}: {:?}", times[2]);
    }
}
