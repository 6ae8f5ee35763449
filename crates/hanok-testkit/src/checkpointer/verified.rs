//! Verifying a log, and going on from before its damage.

use hanok_checkpoint::{AppendId, Checkpointer, Keep, SharedCheckpointer, Snapshots, ThreadFold};
use hanok_core::{Namespace, Position, Timestamp};
use proptest::prelude::*;

use super::{
    logs::each,
    script::{Script, events, plain},
};
use crate::block_on;

pub(crate) fn a_whole_log_is_found_whole(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<bool>()), |(events, cut)| {
        let script = Script::played(&store, &events);
        if script.end() == Position::START {
            assert_eq!(block_on(script.log.verify()).unwrap(), None);
            return;
        }
        let mut floor = Position::START;
        if cut {
            floor = block_on(script.log.prune(Keep::Last(2))).unwrap().unwrap_or_default();
        }
        let found = block_on(script.log.verify()).unwrap().unwrap();
        assert!(found.is_whole() && found.reads, "{found:?}");
        assert_eq!(found.records as u64, script.end().0 - floor.0);
    });
}

pub(crate) fn damage_is_found_and_a_log_goes_on_from_before_it(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let (log, whole) = (&script.log, script.records());
    for (n, record) in whole.iter().enumerate() {
        let bytes = super::damage::flipped(&record.bytes, 20, 4);
        script.replace(super::damage::with(&whole, n, bytes));
        let found = block_on(log.verify()).unwrap().unwrap();
        let damage = found.damage.as_ref().expect("the damage");
        let good = Position(n as u64);
        assert_eq!((damage.position, damage.last_good), (good.next(), good), "{found:?}");
        assert_eq!((found.records, found.reads), (whole.len() - 1, false));
        if good == Position::START {
            continue;
        }
        // It goes on from there, and the damage stays on the branch that was left.
        let rewound = block_on(log.rewind(good, None, AppendId(7), Timestamp(3))).unwrap();
        let open = block_on(log.open(None)).unwrap().unwrap();
        let fields =
            |fold: &ThreadFold| plain(fold).runs.remove(&Namespace::root()).unwrap().fields;
        assert_eq!(open.fold.position, rewound);
        assert_eq!(fields(&open.fold), fields(&script.folds[n]));
        let later = block_on(log.verify()).unwrap().unwrap();
        assert_eq!((later.damage.as_ref(), later.reads), (Some(damage), true));
        let branch = block_on(log.branch(Position::START)).unwrap().unwrap();
        assert_eq!(branch.places.len(), n + 1);
        // What is on its branch can be cut, and the damage goes with it.
        let floor = block_on(log.prune(Keep::Newest)).unwrap();
        assert_eq!(floor, Some(good));
        assert!(block_on(log.open(None)).unwrap().is_some());
    }
}

pub(crate) fn a_damaged_snapshot_is_found_and_no_loss(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let (log, whole) = (&script.log, script.records());
    block_on(log.put_snapshot(script.tip.life, &script.folds[3])).unwrap();
    let opened = block_on(store.open(log.thread(), None, Snapshots::Use)).unwrap().unwrap();
    let mut snapshot = opened.snapshot.unwrap().1.to_vec();
    snapshot[9] ^= 1;
    script.replace(script.records());
    block_on(store.put_snapshot(log.thread(), script.tip.life, Position(3), snapshot.into()))
        .unwrap();
    block_on(log.put_snapshot(script.tip.life, &script.folds[2])).unwrap();
    let found = block_on(log.verify()).unwrap().unwrap();
    assert_eq!((&found.damage, found.reads), (&None, true));
    assert_eq!((found.snapshots, &found.bad_snapshots[..]), (1, &[Position(3)][..]));
    // A whole one that says something else than the records is as bad.
    script.replace(whole);
    let other = ThreadFold { position: Position(4), ..script.folds[1].clone() };
    block_on(log.put_snapshot(script.tip.life, &other)).unwrap();
    let found = block_on(log.verify()).unwrap().unwrap();
    assert_eq!((found.snapshots, &found.bad_snapshots[..]), (0, &[Position(4)][..]));
}
