//! The suite of kinds of memory finds those that are broken, each in one way, and lets a sound one pass.
#![cfg(feature = "memory")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    panic::{self, AssertUnwindSafe},
};

use hanok_core::Timestamp;
use hanok_learning::{Actor, Evidence, EvidenceSource, MemoryKind, Refusal};
use hanok_testkit::{MEMORY_KIND_CLAIMS, check_memory_kind};
use serde::{Deserialize, Serialize};

/// In which way a kind is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It takes nothing.
    Closed,
    /// It names a record after the number of its calls.
    CountsKeys,
    /// It names a record after what is not stored.
    ForgetfulBody,
    /// It keeps the word that comes last.
    LastComes,
    /// It takes evidence once.
    TakesOnce,
    /// It folds with what its record does not store.
    ForgetfulRecord,
    /// It notes more than its evidence says: how many words it ever saw.
    Remembers,
    /// What it writes as JSON is not what it reads.
    LossyLines,
}

thread_local! {
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static TAKEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

fn is(fault: Fault) -> bool {
    FAULT.get() == fault
}

fn counted() -> usize {
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

/// A word of a user's.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Word {
    #[serde(serialize_with = "written")]
    word: String,
    #[serde(skip)]
    unsaid: bool,
}

/// The word; in JSON, where it is broken, without its ends.
fn written<S: serde::Serializer>(word: &str, to: S) -> Result<S::Ok, S::Error> {
    match is(Fault::LossyLines) && to.is_human_readable() {
        true => to.serialize_str(word.trim()),
        false => to.serialize_str(word),
    }
}

/// The words of a user, each with the time at which it came first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Words {
    first: BTreeMap<String, u64>,
    last: String,
    #[serde(skip)]
    pieces: usize,
    ever: usize,
}

struct Vocabulary;

impl MemoryKind for Vocabulary {
    const NAME: &'static str = "vocabulary";
    type Body = Word;
    type Record = Words;

    fn key(evidence: &Evidence<Word>) -> String {
        match FAULT.get() {
            Fault::CountsKeys => format!("words-{}", counted() % 2),
            Fault::ForgetfulBody => format!("words-{}", evidence.body.unsaid),
            _ => "words".to_owned(),
        }
    }

    fn fold(mut words: Words, evidence: &Evidence<Word>) -> Words {
        let (word, at) = (evidence.body.word.clone(), evidence.at.0);
        let first = words.first.entry(word.clone()).or_insert(at);
        *first = at.min(*first);
        words.pieces += 1;
        match FAULT.get() {
            Fault::LastComes => words.last = word,
            Fault::ForgetfulRecord => words.last = words.pieces.to_string(),
            Fault::Remembers => words.ever = counted(),
            _ => {}
        }
        words
    }

    fn text(words: &Words) -> String {
        words.first.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    fn admit(evidence: &Evidence<Word>) -> Result<(), Refusal> {
        let refused = match FAULT.get() {
            Fault::Closed => true,
            Fault::TakesOnce => !TAKEN.with_borrow_mut(|taken| taken.insert(evidence.id.clone())),
            _ => false,
        };
        if refused { Err(Refusal::Rule { why: "no".to_owned() }) } else { Ok(()) }
    }
}

fn evidence() -> Vec<Evidence<Word>> {
    let words = [(" tea", 3), ("coffee", 1), ("tea", 2), ("water", 2), (" tea", 1)];
    let one = |(at, (word, time)): (usize, (&str, u64))| Evidence {
        id: format!("e{at}"),
        user: if at == 4 { "lee" } else { "kim" }.to_owned(),
        at: Timestamp(time),
        actor: Actor::User,
        source: EvidenceSource { thread: format!("t{}", at % 2), ..EvidenceSource::default() },
        body: Word { word: word.to_owned(), unsaid: true },
    };
    words.into_iter().enumerate().map(one).collect()
}

/// The claims that do not hold where a kind is broken in this way.
fn failing(fault: Fault) -> Vec<&'static str> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let fails = |claim: &&&str| {
        FAULT.set(fault);
        CALLS.set(0);
        TAKEN.take();
        let check = || check_memory_kind::<Vocabulary>(claim, &evidence());
        panic::catch_unwind(AssertUnwindSafe(check)).is_err()
    };
    let failing = MEMORY_KIND_CLAIMS.iter().filter(fails).copied().collect();
    panic::set_hook(hook);
    FAULT.set(Fault::None);
    failing
}

/// B134
#[test]
fn each_claim_finds_the_kind_that_breaks_it_and_a_sound_one_breaks_none() {
    const COUNTS: &str = "its_evidence_counts";
    const NAMES: &str = "evidence_names_its_record_whoever_reads_it";
    const ORDER: &str = "a_record_does_not_depend_on_the_order_of_its_evidence";
    const AGAIN: &str = "what_is_delivered_again_changes_nothing";
    const ANEW: &str = "a_record_is_what_is_folded_anew";
    const GONE: &str = "what_is_forgotten_was_never_there";
    const EXPORT: &str = "an_export_is_learned_as_it_was";

    assert!(failing(Fault::None).is_empty());
    for (fault, claim) in [
        (Fault::Closed, COUNTS),
        (Fault::CountsKeys, NAMES),
        (Fault::ForgetfulBody, NAMES),
        (Fault::LastComes, ORDER),
        (Fault::TakesOnce, AGAIN),
        (Fault::ForgetfulRecord, ANEW),
        (Fault::Remembers, GONE),
        (Fault::LossyLines, EXPORT),
    ] {
        let failing = failing(fault);
        assert!(failing.contains(&claim), "{fault:?}: {failing:?}");
    }
    // Others may break with it, and these alone.
    for (fault, claims) in [
        (Fault::ForgetfulRecord, &[ANEW, GONE, EXPORT][..]),
        (Fault::LossyLines, &[EXPORT]),
        (Fault::LastComes, &[ORDER, ANEW]),
    ] {
        let failing = failing(fault);
        assert!(failing.iter().all(|claim| claims.contains(claim)), "{fault:?}: {failing:?}");
    }
}

#[test]
fn evidence_of_which_no_record_has_two_pieces_proves_nothing() {
    let one = &evidence()[..1];
    let check = || check_memory_kind::<Vocabulary>("its_evidence_counts", one);
    assert!(panic::catch_unwind(AssertUnwindSafe(check)).is_err());
}
