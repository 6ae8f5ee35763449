//! The faults of a simulation.

use std::collections::{BTreeMap, BTreeSet};

use crate::dice::Dice;

/// One way in which something goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The process dies: all its tasks are gone, what was stored stays.
    Crash,
    /// The machine dies: of what was stored with [`Safety::Process`](hanok_checkpoint::Safety) the newest part is gone too.
    MachineCrash,
    /// The process stands still for longer than its lease, and goes on when another has taken over.
    Freeze,
    /// The caller drops the run, or leaves the call.
    Drop,
    /// The caller cancels the run.
    Cancel,
    /// The caller drains the run.
    Drain,
    /// A call of the store fails, and nothing is stored.
    Refused,
    /// An append, or a batch of items, is stored, and its answer is lost.
    LostAnswer,
    /// The store is full: nothing is stored.
    Full,
    /// A record of a log is read with a flipped bit, or cut off.
    Damage,
    /// A read does not see the newest records of a log.
    Stale,
    /// The store takes its time.
    Slow,
    /// The clock of a process is wrong by up to three hours.
    Skew,
    /// Whoever watches a run lets its events wait for up to a minute.
    Lag,
}

impl Fault {
    const ALL: [Self; 14] = [
        Self::Crash,
        Self::MachineCrash,
        Self::Freeze,
        Self::Drop,
        Self::Cancel,
        Self::Drain,
        Self::Refused,
        Self::LostAnswer,
        Self::Full,
        Self::Damage,
        Self::Stale,
        Self::Slow,
        Self::Skew,
        Self::Lag,
    ];
    /// Those that befall a run between two polls.
    const OF_RUNS: [Self; 6] =
        [Self::Crash, Self::MachineCrash, Self::Freeze, Self::Drop, Self::Cancel, Self::Drain];
    /// Those that befall an append, or a batch that writes items.
    pub(crate) const OF_APPENDS: [Self; 5] =
        [Self::Crash, Self::Refused, Self::LostAnswer, Self::Full, Self::Slow];
    /// Those that befall a read of records.
    pub(crate) const OF_READS: [Self; 4] = [Self::Refused, Self::Damage, Self::Stale, Self::Slow];
    /// Those that befall what cuts a log off or removes it.
    pub(crate) const OF_CUTS: [Self; 3] = [Self::Refused, Self::LostAnswer, Self::Slow];
    /// Those that befall any other call of the store.
    pub(crate) const OF_CALLS: [Self; 2] = [Self::Refused, Self::Slow];
}

/// The faults that may befall one run, and how many. Faults stop after so many: from then on the run has to come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Faults {
    kinds: BTreeSet<Fault>,
    most: usize,
}

impl Faults {
    /// Nothing goes wrong.
    pub fn none() -> Self {
        Self { kinds: BTreeSet::new(), most: 0 }
    }

    /// Everything may go wrong, at most six times in one run.
    pub fn all() -> Self {
        Self { kinds: Fault::ALL.into(), most: 6 }
    }

    /// This may go wrong too.
    pub fn with(mut self, fault: Fault) -> Self {
        self.kinds.insert(fault);
        Self { most: self.most.max(1), ..self }
    }

    /// This never goes wrong.
    pub fn without(mut self, fault: Fault) -> Self {
        self.kinds.remove(&fault);
        self
    }

    /// The most faults of one run. Default: 6.
    pub fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.kinds.contains(&fault)
    }
}

/// The places at which the process dies, or its run is dropped, in a run that is not left to the dice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// At these appends, counted from 0: before they are stored, or after it and before the answer.
    pub(crate) appends: BTreeMap<usize, bool>,
    /// After so many polls.
    pub(crate) polls: BTreeMap<usize, Fault>,
}

/// The faults of one run: by the dice, or at given places.
#[derive(Debug)]
pub(crate) struct Fate {
    faults: Faults,
    places: Option<Places>,
    remaining: usize,
    /// The rarity of faults: one in so many calls of the store, or polls.
    rarity: (usize, usize),
    dice: Dice,
    appends: usize,
    polls: usize,
    pub(crate) befallen: Vec<(Fault, String)>,
}

impl Fate {
    pub(crate) fn new(seed: u64, faults: Faults, places: Option<Places>) -> Self {
        let mut dice = Dice::new(seed, 1);
        let remaining = if faults.most == 0 { 0 } else { dice.below(faults.most + 1) };
        let rarity = dice.pick(&[(5, 15), (10, 50), (25, 150)]).copied().unwrap_or((10, 50));
        Self { faults, places, remaining, rarity, dice, appends: 0, polls: 0, befallen: Vec::new() }
    }

    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.appends, self.polls)
    }

    /// No further fault befalls the run.
    pub(crate) fn end(&mut self) {
        self.remaining = 0;
    }

    /// The fault that befalls an append: a crash with whether it is stored before.
    pub(crate) fn append(&mut self) -> Option<(Fault, bool)> {
        let number = self.appends;
        self.appends += 1;
        if let Some(places) = &self.places {
            let stored = *places.appends.get(&number)?;
            self.note(Fault::Crash, format!("append {number}, stored: {stored}"));
            return Some((Fault::Crash, stored));
        }
        let fault = self.roll(self.rarity.0, &Fault::OF_APPENDS)?;
        let stored = self.dice.one_in(2);
        self.note(fault, format!("append {number}, stored: {stored}"));
        Some((fault, stored))
    }

    /// The fault that befalls another call of the store.
    pub(crate) fn call(&mut self, what: &'static str, kinds: &[Fault]) -> Option<Fault> {
        let fault = self.roll(self.rarity.0, kinds)?;
        self.note(fault, what.to_owned());
        Some(fault)
    }

    /// The fault that may befall a run after a poll; it [befell](Fate::befell) it only if the world lets it.
    pub(crate) fn poll(&mut self) -> Option<Fault> {
        let number = self.polls;
        self.polls += 1;
        match &self.places {
            Some(places) => places.polls.get(&number).copied(),
            None => self.roll(self.rarity.1, &Fault::OF_RUNS),
        }
    }

    /// Notes that a fault befell a run.
    pub(crate) fn befell(&mut self, fault: Fault) {
        self.note(fault, format!("poll {}", self.polls.saturating_sub(1)));
    }

    fn note(&mut self, fault: Fault, place: String) {
        self.remaining = self.remaining.saturating_sub(1);
        self.befallen.push((fault, place));
    }

    fn roll(&mut self, rarity: usize, kinds: &[Fault]) -> Option<Fault> {
        if self.remaining == 0 || self.places.is_some() || !self.dice.one_in(rarity) {
            return None;
        }
        let kinds: Vec<_> = kinds.iter().copied().filter(|kind| self.faults.has(*kind)).collect();
        self.dice.pick(&kinds).copied()
    }
}
