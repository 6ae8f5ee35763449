//! The suite of the store across threads finds stores that are broken, each in one way.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::panic::{self, AssertUnwindSafe};

use hanok_checkpoint::{
    Batch, Batched, Expect, Filter, InMemoryStore, Namespaces, Page, Place, Search, SharedStore,
    Store, StoreError, Within, Write,
};
use hanok_core::{Labels, Timestamp};
use hanok_testkit::STORE_CLAIMS;

/// In which way a store is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// A prefix matches the beginning of a label.
    HalfLabels,
    /// `Ne` fits where the field is missing.
    NeOfNothing,
    /// A batch is made write by write.
    PieceByPiece,
    /// What a write expects is not looked at.
    AnyVersion,
    /// What has expired is found until it is swept.
    Undead,
    /// The first write of an item in a batch counts.
    FirstWrite,
    /// A page begins with the item that ended the one before.
    Overlap,
}

#[derive(Debug)]
struct Broken(InMemoryStore, Bug);

impl Store for Broken {
    async fn batch(&self, mut batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        match self.1 {
            Bug::AnyVersion => batch.writes.iter_mut().for_each(forgive),
            Bug::FirstWrite => {
                let writes = batch.writes.clone();
                for write in &mut batch.writes {
                    let first = writes.iter().find(|first| first.key() == write.key());
                    first.unwrap().clone_into(write);
                }
            }
            Bug::PieceByPiece => {
                let reads = Batch { writes: Vec::new(), ..batch.clone() };
                let mut done = self.0.batch(reads, now).await?;
                for write in batch.writes {
                    let one = Batch { writes: vec![write], ..Batch::default() };
                    done.written.extend(self.0.batch(one, now).await?.written);
                }
                return Ok(done);
            }
            _ => {}
        }
        self.0.batch(batch, now).await
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        let mut search = search.clone();
        match (self.1, search.within.clone()) {
            (Bug::HalfLabels, Within::Labels(prefix)) => {
                let half = prefix.as_bytes().strip_suffix(b"\0").unwrap().to_vec();
                let limit = search.limit;
                let everywhere = Search { within: Within::All, limit: usize::MAX, ..search };
                let mut page = self.0.search(&everywhere, now).await?;
                page.hits.retain(|hit| hit.item.key.labels().as_bytes().starts_with(&half));
                let more = page.hits.len() > limit;
                page.hits.truncate(limit);
                let last = page.hits.last().filter(|_| more);
                page.next = last.map(|hit| Place::new(hit.score, &hit.item.key));
                return Ok(page);
            }
            (Bug::NeOfNothing, _) => search.filter = hollow(search.filter),
            (Bug::Undead, _) => return self.0.search(&search, Timestamp(0)).await,
            (Bug::Overlap, _) => {
                let mut page = self.0.search(&search, now).await?;
                if let (Some(next), [.., last, _]) = (&mut page.next, page.hits.as_slice()) {
                    *next = Place::new(last.score, &last.item.key);
                }
                return Ok(page);
            }
            _ => {}
        }
        self.0.search(&search, now).await
    }

    async fn namespaces(
        &self,
        asked: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.0.namespaces(asked, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.0.sweep(now, limit).await
    }
}

fn forgive(write: &mut Write) {
    match write {
        Write::Put(_, put) => put.expect = Expect::Any,
        Write::Remove(_, expect) => *expect = Expect::Any,
    }
}

fn hollow(filter: Filter) -> Filter {
    let each = |all: Vec<Filter>| all.into_iter().map(hollow).collect();
    match filter {
        Filter::Ne(path, value) => Filter::Not(Box::new(Filter::Eq(path, value))),
        Filter::And(all) => Filter::And(each(all)),
        Filter::Or(all) => Filter::Or(each(all)),
        Filter::Not(it) => Filter::Not(Box::new(hollow(*it))),
        filter => filter,
    }
}

/// The claims that a store with `bug` does not hold.
fn failing(bug: Bug) -> Vec<&'static str> {
    let fails = |holds: &fn(SharedStore)| {
        let store = SharedStore::new(Broken(InMemoryStore::new(), bug));
        panic::catch_unwind(AssertUnwindSafe(|| holds(store))).is_err()
    };
    // What the claims say is not to be read.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let failing = STORE_CLAIMS.iter().filter(|(_, holds)| fails(holds)).map(|(name, _)| *name);
    let failing = failing.collect();
    panic::set_hook(hook);
    failing
}

/// P30
#[test]
fn each_broken_store_fails_at_the_claim_about_it_and_a_sound_one_at_none() {
    for (bug, claim) in [
        (Bug::HalfLabels, "a_prefix_matches_whole_labels"),
        (Bug::NeOfNothing, "every_comparison_works_on_nested_keys"),
        (Bug::PieceByPiece, "a_batch_is_made_as_a_whole_or_not_at_all"),
        (Bug::AnyVersion, "of_two_writers_of_one_version_one_gets_a_conflict"),
        (Bug::Undead, "what_has_expired_is_not_seen_before_it_is_swept"),
        (
            Bug::FirstWrite,
            "of_several_writes_of_one_item_the_last_counts_and_reads_see_what_was_before",
        ),
        (Bug::Overlap, "pages_hold_every_item_once_while_others_write"),
    ] {
        let failing = failing(bug);
        assert!(failing.contains(&claim), "{bug:?}: {failing:?}");
        // A bug is found by what is about it, and not because everything fails.
        assert!(failing.len() < STORE_CLAIMS.len() / 3, "{bug:?}: {failing:?}");
    }
    assert_eq!(failing(Bug::None), [""; 0]);
}
