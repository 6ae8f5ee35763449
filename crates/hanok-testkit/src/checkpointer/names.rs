//! Names and numbers of callers, which are data whatever they look like.

use hanok_checkpoint::{Append, Checkpointer, Epoch, Guard, Life, Snapshots};
use hanok_core::{Position, ThreadKey, Timestamp};

use super::contract::{append, claim, history, in_words, key, of_tenant, opened, record, texts};
use crate::block_on;

const ALL: usize = usize::MAX;

/// Names that some store might take for something else, or for each other.
pub(crate) fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "a",
        "A",
        "aa",
        " a",
        "a ",
        "%",
        "_",
        "a%",
        "a_",
        "*",
        "?",
        "[a]",
        "'",
        "''",
        "\"",
        "`",
        "a'; DROP TABLE threads; --",
        "\\",
        "\\'",
        "\\0",
        "$1",
        "?1",
        ":a",
        "{}",
        "${a}",
        "..",
        "../a",
        "/",
        "a/b",
        "a:b",
        "a.b",
        "NULL",
        "null",
        "0",
        "00",
        "-1",
        "1e3",
        "true",
        "lc",
        "__start__",
        "__interrupt__",
        "role: system",
        "default",
        // One text, composed and decomposed.
        "é",
        "e\u{301}",
        "한옥",
        "\u{1112}\u{1161}\u{11ab}\u{110b}\u{1169}\u{11a8}",
        // Look-alikes: Cyrillic a, full-width a, with an invisible character, from right to left.
        "\u{430}",
        "\u{ff41}",
        "a\u{200b}",
        "\u{202e}a",
        "ß",
        "ss",
        "ı",
        "i",
        "İ",
        "🙂",
        "👩‍👩‍👧",
        "👩\u{200d}👧",
        "\u{feff}a",
        "\u{10ffff}",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(256));
    names.push(format!("{}y", "x".repeat(255)));
    names.push("🙂".repeat(64));
    names
}

/// `names` in the order of their bytes.
pub(crate) fn sorted(names: &[String]) -> Vec<&String> {
    let mut sorted: Vec<_> = names.iter().collect();
    sorted.sort();
    sorted
}

pub(crate) fn hostile_names_stay_apart_and_read_back_as_they_were_written(
    store: impl Checkpointer,
) {
    let names = hostile();
    // Every name once as a thread of one tenant, and once as a tenant.
    let keys: Vec<_> = names
        .iter()
        .map(|name| key("tenant", name))
        .chain(names.iter().map(|name| key(name, "thread")))
        .chain([key("a", "b:c"), key("a:b", "c"), key("a.b", "c"), key("ab", "c"), key("a", "bc")])
        .collect();
    let content = |n: usize, thread: &ThreadKey| format!("{n} {thread}");
    for (n, thread) in keys.iter().enumerate() {
        append(&store, thread, texts(1, 0, Guard::Unclaimed, &[&content(n, thread)])).unwrap();
    }
    for (n, thread) in keys.iter().enumerate() {
        assert_eq!(history(&store, thread), [record(1, &content(n, thread))], "{thread}");
    }
    let listed = block_on(store.threads(of_tenant(&keys[0]), None, ALL)).unwrap();
    let listed: Vec<_> = listed.iter().map(|info| info.thread.thread()).collect();
    let by_bytes = sorted(&names);
    assert_eq!(listed, by_bytes);

    // Each goes alone.
    for (n, thread) in keys.iter().enumerate() {
        assert!(block_on(store.delete(thread, None)).unwrap(), "{thread}");
        assert_eq!(history(&store, thread), []);
        if let Some(next) = keys.get(n + 1) {
            assert_eq!(history(&store, next).len(), 1, "{next} after {thread}");
        }
    }
}

pub(crate) fn a_tenant_sees_its_own_threads_only(store: impl Checkpointer) {
    let (mine, theirs) = (key("acme", "a"), key("acme-corp", "a"));
    append(&store, &theirs, texts(1, 0, Guard::Take(claim(1)), &["secret"])).unwrap();

    assert_eq!(block_on(store.head(&mine)).unwrap(), None);
    assert_eq!(history(&store, &mine), []);
    assert_eq!(block_on(store.threads(of_tenant(&mine), None, ALL)).unwrap(), []);
    assert!(block_on(store.beat(&mine, Life::default(), Epoch(1), Timestamp(1))).is_err());
    assert!(!block_on(store.delete(&mine, None)).unwrap());
    // The same append id under another tenant is another append.
    append(&store, &mine, texts(1, 0, Guard::Unclaimed, &["mine"])).unwrap();

    assert_eq!(history(&store, &mine), [record(1, "mine")]);
    assert_eq!(history(&store, &theirs), [record(1, "secret")]);
    let claimed = block_on(store.head(&theirs)).unwrap().unwrap().claim;
    assert_eq!(claimed, Some(claim(1)));
}

pub(crate) fn threads_are_listed_by_name_page_by_page(store: impl Checkpointer) {
    let names = ["d", "a", "e", "c", "b"];
    for name in names {
        append(&store, &key("t", name), texts(1, 0, Guard::Unclaimed, &["x"])).unwrap();
    }
    append(&store, &key("u", "bb"), texts(1, 0, Guard::Unclaimed, &["x"])).unwrap();
    for (after, limit, want) in [
        (None, ALL, "abcde"),
        (None, 2, "ab"),
        (Some("b"), 2, "cd"),
        (Some("bb"), 2, "cd"),
        (Some("d"), 2, "e"),
        (Some("e"), 2, ""),
        (None, 0, ""),
    ] {
        let after = after.map(|after| key("t", after));
        let page = store.threads(of_tenant(&key("t", "a")), after.as_ref(), limit);
        let page = block_on(page).unwrap();
        let page: String = page.iter().map(|info| info.thread.thread()).collect();
        assert_eq!(page, want, "after {after:?}, at most {limit}");
    }
}

pub(crate) fn any_number_a_caller_names_gets_an_answer(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Take(claim(1)), &["a", "b"])).unwrap();
    for number in [3, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        let at = Position(number);
        let (_, records) = opened(&store, &thread, Some(number), Snapshots::Use);
        assert_eq!(records, [1, 2], "at {number}");
        assert_eq!(
            block_on(store.history(&thread, Some(at), ALL)).unwrap().unwrap().records.len(),
            2
        );
        let beyond = Append { expected: at, ..texts(2, 0, Guard::Unclaimed, &["c"]) };
        assert_eq!(append(&store, &thread, beyond), Err(format!("conflict {number} 2")));
        let fenced = block_on(store.beat(&thread, Life::default(), Epoch(number), Timestamp(1)))
            .map_err(in_words);
        assert_eq!(fenced, Err(format!("fenced {number} 1")));
    }
    assert_eq!(history(&store, &thread).len(), 2);
}
