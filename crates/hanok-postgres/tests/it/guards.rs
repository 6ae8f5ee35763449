//! The guard of an append is checked in SQL, and says what [`Guard::admit`] says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::sync::atomic::{AtomicU32, Ordering};

use hanok_checkpoint::{
    Append, AppendId, Checkpointer, Claim, Epoch, Guard, Holder, InMemoryCheckpointer, Life, Record,
};
use hanok_core::{Position, RunId, Timestamp};
use hanok_testkit::block_on;
use proptest::prelude::*;

use crate::support;

fn guard() -> impl Strategy<Value = Guard> {
    let epoch = || (0..5u64).prop_map(Epoch);
    let claim = |epoch: Epoch| Claim {
        run: RunId(u128::from(epoch.0) << 100 | 1),
        holder: Holder::this_process(u128::from(epoch.0)),
        epoch,
        beat: Timestamp(epoch.0),
    };
    prop_oneof![
        4 => epoch().prop_map(move |epoch| Guard::Take(claim(epoch))),
        2 => epoch().prop_map(Guard::Hold),
        2 => epoch().prop_map(Guard::Release),
        2 => Just(Guard::Unclaimed),
        2 => epoch().prop_map(Guard::Clear),
    ]
}

/// P10: the store in memory asks [`Guard::admit`].
#[test]
fn a_guard_in_sql_admits_what_a_guard_admits() {
    static THREADS: AtomicU32 = AtomicU32::new(0);
    let Some(url) = support::server() else { return };
    let (store, memory) = (block_on(support::store(&url)), InMemoryCheckpointer::new());
    // Each append is made for where its thread is, or for one position more or less.
    let lives = prop::sample::select(vec![7, 7, 7, 7, 8]);
    let appends = prop::collection::vec((guard(), 0..8i64, lives), 1..24);
    proptest!(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() }, |(appends in appends)| {
        let thread = support::key(&format!("t{}", THREADS.fetch_add(1, Ordering::Relaxed)));
        for (n, (guard, shift, life)) in appends.into_iter().enumerate() {
            let head = block_on(memory.head(&thread)).unwrap();
            let at = head.as_ref().map_or(0, |head| head.position.0);
            let expected = Position(at.saturating_add_signed(match shift { 0 => -1, 1 => 1, _ => 0 }));
            let record = Record { position: expected.next(), bytes: vec![n as u8].into() };
            let append = Append::new(AppendId(n as u128), expected, guard, vec![record]);
            let append = Append { life: Life::new(life), ..append };
            let want = block_on(memory.append(&thread, append.clone()));
            let got = block_on(store.append(&thread, append.clone()));
            prop_assert_eq!(format!("{got:?}"), format!("{want:?}"), "{:?} of {:?}", append.guard, head);
            prop_assert_eq!(block_on(store.head(&thread)).unwrap(), block_on(memory.head(&thread)).unwrap());
        }
    });
    assert!(THREADS.load(Ordering::Relaxed) >= 60);
}
