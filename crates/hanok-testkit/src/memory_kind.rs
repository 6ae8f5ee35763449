//! The claims about every [`MemoryKind`], written once and checked on each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a suite stops at what it did not expect"
)]

use std::collections::BTreeMap;

use hanok_checkpoint::{InMemoryStore, Search, SharedStore, Store};
use hanok_core::{Stored, Tenant, ThreadKey, Timestamp};
use hanok_learning::{Evidence, Forget, Learned, Memories, MemoryKind};
use serde::Serialize;

use crate::{claims::named, runtime::block_on};

/// One claim of the suite: its name, and what panics when a kind does not hold it. It is given evidence of the kind.
pub type MemoryKindClaim<K> = (&'static str, fn(&[Evidence<<K as MemoryKind>::Body>]));

/// The names of the claims of the suite.
pub const MEMORY_KIND_CLAIMS: &[&str] = crate::memory_kind_conforms!(@names);

/// Checks one claim on a kind and evidence of it, of which each piece has an id of its own.
///
/// # Panics
///
/// When the kind does not hold it, or there is no claim of that name.
pub fn check_memory_kind<K: MemoryKind>(claim: &str, evidence: &[Evidence<K::Body>]) {
    let claims: &[MemoryKindClaim<K>] = crate::memory_kind_conforms!(@claims K);
    named(claims, claim)(evidence);
}

/// Makes a test of every claim: `memory_kind_conforms!(Mine, evidence())`, in a module of its own if there are several kinds. The
/// expression gives a `Vec` of evidence, each piece with an id of its own, and at least two pieces of one record: take some of one
/// time, and some that contradict each other.
///
/// ```
/// use hanok_core::Timestamp;
/// use hanok_learning::{Actor, Episode, EpisodeReport, Evidence, EvidenceSource};
///
/// let report = |id: &str, at, answer: &str| Evidence {
///     id: id.to_owned(),
///     user: "kim".to_owned(),
///     at: Timestamp(at),
///     actor: Actor::Automatic,
///     source: EvidenceSource::default(),
///     body: EpisodeReport::new("How many?", answer),
/// };
/// hanok_testkit::check_memory_kind::<Episode>(
///     "a_record_does_not_depend_on_the_order_of_its_evidence",
///     &[report("a", 2, "Two."), report("b", 1, "One."), report("c", 2, "Three.")],
/// );
/// ```
#[macro_export]
macro_rules! memory_kind_conforms {
    (@claims $kind:ty) => { $crate::memory_kind_conforms!(@each [@claim $kind]) };
    (@names) => { $crate::memory_kind_conforms!(@each [@name]) };
    (@each [$($then:tt)*]) => {
        $crate::memory_kind_conforms! { $($then)*;
            its_evidence_counts
            evidence_names_its_record_whoever_reads_it
            a_record_does_not_depend_on_the_order_of_its_evidence
            what_is_delivered_again_changes_nothing
            a_record_is_what_is_folded_anew
            what_is_forgotten_was_never_there
            an_export_is_learned_as_it_was
        }
    };
    (@claim $kind:ty; $($claim:ident)*) => { &[$((stringify!($claim), $claim::<$kind>)),*] };
    (@name; $($claim:ident)*) => { &[$(stringify!($claim)),*] };
    (@test $kind:ty, $evidence:expr; $($claim:ident)*) => {
        $(#[test] fn $claim() {
            $crate::check_memory_kind::<$kind>(stringify!($claim), &$evidence);
        })*
    };
    ($kind:ty, $evidence:expr) => {
        $crate::memory_kind_conforms!(@each [@test $kind, $evidence]);
    };
}

const NOW: Timestamp = Timestamp(1_000_000);

/// Evidence, as a node hands it out.
#[derive(Serialize)]
struct Lesson<'a, B> {
    kind: &'a str,
    evidence: &'a Evidence<B>,
}

fn lesson<K: MemoryKind>(evidence: &Evidence<K::Body>) -> Stored {
    Stored::encode(&Lesson { kind: K::NAME, evidence }).expect("evidence is encoded")
}

/// A store, and the memories in it.
struct Place<K> {
    store: SharedStore,
    memories: Memories,
    kind: std::marker::PhantomData<fn() -> K>,
}

impl<K: MemoryKind> Place<K> {
    fn new() -> Self {
        let store = SharedStore::new(InMemoryStore::new());
        let memories = Memories::new(store.clone()).kind::<K>();
        Self { store, memories, kind: std::marker::PhantomData }
    }

    /// The place in which `evidence` was learned.
    fn of<'a>(evidence: impl IntoIterator<Item = &'a Evidence<K::Body>>) -> Self {
        let place = Self::new();
        for one in evidence {
            let learned = place.learn(one).expect("the evidence is learned");
            assert_eq!(learned, Learned::New, "`{}` is learned a second time", one.id);
        }
        place
    }

    fn learn(&self, one: &Evidence<K::Body>) -> Result<Learned, String> {
        let thread = ThreadKey::named(&one.source.thread)
            .or_else(|_| ThreadKey::named("thread"))
            .expect("a thread has a name");
        let learned = block_on(self.memories.learn(&thread, &lesson::<K>(one), NOW));
        learned.map_err(|error| format!("`{}`: {error}: {error:?}", one.id))
    }

    /// Every item, by its name, but for what only says that something was forgotten.
    fn contents(&self) -> BTreeMap<String, String> {
        let search = Search::all(Tenant::default()).limit(usize::MAX);
        let hits = block_on(self.store.search(&search, NOW)).expect("all items are listed").hits;
        let items = hits.into_iter().map(|hit| hit.item);
        let there = items.filter(|item| item.value != Stored::nil());
        there.map(|item| (item.key.to_string(), item.value.to_json())).collect()
    }
}

/// The users of `evidence`.
fn users<B>(evidence: &[Evidence<B>]) -> Vec<&str> {
    let mut users: Vec<_> = evidence.iter().map(|one| one.user.as_str()).collect();
    users.sort_unstable();
    users.dedup();
    users
}

fn its_evidence_counts<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    let mut records: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for one in evidence {
        if let Err(why) = K::admit(one) {
            panic!("`{}` is refused: {why}", one.id);
        }
        *records.entry((&one.user, K::key(one))).or_default() += 1;
    }
    assert!(
        records.values().any(|pieces| *pieces > 1),
        "no record is made of two pieces, so nothing can be said of their order"
    );
    Place::<K>::of(evidence);
}

fn evidence_names_its_record_whoever_reads_it<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    for one in evidence {
        let key = K::key(one);
        let read: Evidence<K::Body> =
            Stored::encode(one).and_then(|stored| stored.decode()).expect("evidence is read back");
        for (what, other) in [("asked again", K::key(one)), ("read back", K::key(&read))] {
            assert_eq!(other, key, "`{}` names another record when it is {what}", one.id);
        }
    }
}

fn a_record_does_not_depend_on_the_order_of_its_evidence<K: MemoryKind>(
    evidence: &[Evidence<K::Body>],
) {
    let mut records: BTreeMap<(&str, String), Vec<&Evidence<K::Body>>> = BTreeMap::new();
    for one in evidence {
        records.entry((&one.user, K::key(one))).or_default().push(one);
    }
    for ((_, key), pieces) in records {
        let forwards = folded::<K>(pieces.iter().copied());
        for place in 0..pieces.len() {
            let (front, back) = pieces.split_at(place);
            let turned = || back.iter().chain(front).copied();
            for other in [folded::<K>(turned()), folded::<K>(turned().rev())] {
                assert_eq!(other, forwards, "the record `{key}` depends on the order");
            }
        }
    }
}

/// The record and its text.
fn folded<'a, K: MemoryKind>(
    evidence: impl Iterator<Item = &'a Evidence<K::Body>>,
) -> (String, String) {
    let record = evidence.fold(K::Record::default(), K::fold);
    (Stored::encode(&record).expect("a record is encoded").to_json(), K::text(&record))
}

fn what_is_delivered_again_changes_nothing<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    let place = Place::<K>::of(evidence);
    let once = place.contents();
    for one in evidence.iter().chain(evidence.iter().rev()) {
        assert_eq!(place.learn(one), Ok(Learned::Counted), "`{}` is delivered again", one.id);
        assert_eq!(place.contents(), once, "after `{}` was delivered again", one.id);
    }
}

fn a_record_is_what_is_folded_anew<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    let place = Place::<K>::of(evidence.iter().rev());
    let before = place.contents();
    for user in users(evidence) {
        let of_user = place.memories.of(Tenant::default(), user);
        block_on(of_user.rebuild(NOW)).expect("the records are folded anew");
    }
    assert_eq!(place.contents(), before);
}

fn what_is_forgotten_was_never_there<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    for (at, one) in evidence.iter().enumerate() {
        let place = Place::<K>::of(evidence);
        let of_user = place.memories.of(Tenant::default(), &one.user);
        let gone = block_on(of_user.undo::<K>(&one.id, NOW)).expect("one piece is taken back");
        assert!(gone, "`{}` is not there", one.id);
        let rest = evidence.iter().enumerate().filter(|(other, _)| *other != at);
        let never = Place::<K>::of(rest.map(|(_, one)| one));
        assert_eq!(place.contents(), never.contents(), "after `{}` was taken back", one.id);
    }
}

fn an_export_is_learned_as_it_was<K: MemoryKind>(evidence: &[Evidence<K::Body>]) {
    let place = Place::<K>::of(evidence);
    let before = place.contents();
    for user in users(evidence) {
        let of_user = place.memories.of(Tenant::default(), user);
        let lines = block_on(of_user.export(NOW)).expect("the evidence is exported");
        block_on(of_user.forget(&Forget::Everything, NOW)).expect("all of it is forgotten");
        block_on(of_user.import(&lines, NOW)).expect("the export is imported");
    }
    assert_eq!(place.contents(), before);
}
