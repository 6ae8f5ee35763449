//! Histories and lists of checkpoints.

use std::collections::BTreeSet;

use hanok_checkpoint::{
    Body, Checkpointer, Kind, LogEntry, Select, SharedCheckpointer, ThreadFold,
};
use hanok_core::Namespace;
use proptest::prelude::*;

use super::{
    logs::each,
    script::{Script, events},
};
use crate::block_on;

pub(crate) fn a_history_holds_what_was_asked_for(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let selects = (any::<u8>(), 0..9usize, 1..5usize, any::<u8>(), any::<bool>());
    each((events(), selects), |(events, (share, limit, size, kinds, root))| {
        let script = Script::played(&store, &events);
        let before = script.place(share).next();
        let kinds: BTreeSet<_> =
            Kind::ALL.iter().copied().filter(|kind| kinds >> (*kind as u8 % 8) & 1 == 1).collect();
        let mut select = Select::all().before(before).limit(limit);
        for kind in &kinds {
            select = select.kind(*kind);
        }
        if root {
            select = select.path(Namespace::root());
        }
        let fits = |entry: &&LogEntry| {
            entry.position < before
                && (kinds.is_empty() || kinds.contains(&entry.entry.body.kind()))
                && (!root || entry.entry.namespace.is_root())
        };
        let want: Vec<_> = script.entries.iter().rev().filter(fits).take(limit).collect();
        let (mut pages, mut read) = (script.log.pages(select, size), Vec::new());
        while let Some(page) = block_on(pages.next()).unwrap() {
            assert!(page.len() == size || read.len() + page.len() == want.len());
            read.extend(page);
        }
        assert_eq!(read.iter().collect::<Vec<_>>(), want);
    });
}

pub(crate) fn a_checkpoint_tells_what_leads_to_it(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each(events(), |events| {
        let script = Script::played(&store, &events);
        let select = Select::all().path(Namespace::root());
        let listed = block_on(script.log.checkpoints(select)).unwrap();
        assert!(listed.windows(2).all(|pair| pair[0].position > pair[1].position));
        let positions: BTreeSet<_> = listed.iter().map(|it| it.position).collect();
        assert!(script.checkpoints().iter().all(|at| positions.contains(at)));
        for checkpoint in listed {
            let before = script.branch(checkpoint.position);
            let parent = before[1..].iter().copied().find(|at| positions.contains(at));
            assert_eq!(checkpoint.parent, parent, "{checkpoint:?}");
            let fold: &ThreadFold = &script.folds[checkpoint.position.0 as usize];
            let frontier = fold.run(&Namespace::root()).map(|run| &run.frontier);
            let due = frontier.iter().flat_map(|frontier| &frontier.due);
            let due: Vec<_> = due.map(|due| due.node.to_string()).collect();
            let step = frontier.map(|frontier| frontier.step).unwrap_or_default();
            assert_eq!((checkpoint.step, checkpoint.next), (step, due));
            let begins = before.iter().find_map(|at| match &script.entries[at.0 as usize - 1] {
                LogEntry { entry, .. } if entry.namespace.is_root() => match &entry.body {
                    Body::Begin(begin) => Some((Some(begin.run), begin.tags.clone())),
                    _ => None,
                },
                _ => None,
            });
            assert_eq!((checkpoint.run, checkpoint.tags), begins.unwrap_or_default());
        }
    });
}
