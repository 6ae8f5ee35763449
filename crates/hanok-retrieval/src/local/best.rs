//! The best passages of a question, without looking at all that have its terms.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    mem,
    sync::Arc,
};

use tantivy::DocAddress;

use super::{
    lists::List,
    parts::{Parts, WINDOW},
    weights::{FINE, Norms},
    windows::{BLOCK, Sums, Windows, bits, share},
};

/// Sums of impacts are kept as so many parts of the highest that there can be.
const PARTS: f32 = 65_000.0;

/// A passage that may be among the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub(super) score: f32,
    pub(super) key: u64,
    pub(super) at: DocAddress,
    pub(super) has: Has,
}

/// Which of the terms a passage has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Has([u64; 4]);

impl Has {
    fn add(&mut self, term: usize) {
        if let Some(part) = self.0.get_mut(term / 64) {
            *part |= 1 << (term % 64);
        }
    }

    pub(super) fn has(self, term: usize) -> bool {
        self.0.get(term / 64).is_some_and(|part| part >> (term % 64) & 1 == 1)
    }
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The better is the greater.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.key.cmp(&self.key))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best so far.
#[derive(Debug)]
struct Best {
    count: usize,
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    /// Lower scores are not among the best.
    fn worst(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.count => worst.score,
            _ => 0.0,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.count {
            self.heap.push(Reverse(candidate));
        } else if self.heap.peek().is_some_and(|Reverse(worst)| candidate > *worst) {
            self.heap.pop();
            self.heap.push(Reverse(candidate));
        }
    }
}

/// What is asked of an index.
#[derive(Debug)]
pub(super) struct Asking<'a> {
    pub(super) parts: &'a Parts,
    /// The entries of each window that may be found.
    pub(super) allowed: &'a [u64],
    /// The terms, and what each weighs.
    pub(super) lists: &'a [Arc<List>],
    pub(super) weights: &'a [f32],
    pub(super) norms: &'a Norms,
}

/// A term, as windows are asked for it.
struct Term<'a> {
    /// Which of the terms of the question it is.
    at: usize,
    windows: &'a Windows,
    weight: f32,
    /// With how many parts of 256 an impact is to be multiplied to be part of a sum.
    parts: u16,
}

impl<'a> Asking<'a> {
    /// The best `count` passages, the best first.
    pub(super) fn best(&self, count: usize) -> Vec<Candidate> {
        let known = self.lists.iter().zip(self.weights).enumerate();
        let known = known.filter(|(_, (list, _))| list.found > 0);
        let unit = |list: &List, weight: f32| list.windows.unit(weight, self.norms.mean());
        let units = known.clone().map(|(_, (list, weight))| unit(list, *weight));
        let scale = PARTS / (FINE * units.sum::<f32>()).max(f32::MIN_POSITIVE);
        let term = |(at, (list, weight)): (usize, (&'a Arc<List>, &f32))| {
            // At least 1 of each 256: every impact is seen.
            let parts = ((unit(list, *weight) * scale * 256.0).ceil() as u16).max(256);
            Term { at, windows: &list.windows, weight: *weight, parts }
        };
        let terms: Vec<Term<'_>> = known.map(term).collect();
        let mut search = Search {
            asking: self,
            terms: &terms,
            frequent: terms.iter().filter(|term| term.windows.is_flat()).collect(),
            best: Best { count, heap: BinaryHeap::new() },
            high: Vec::new(),
            scale,
        };
        (0..self.allowed.len().div_ceil(BLOCK)).for_each(|block| search.block(block));
        search.best.heap.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect()
    }

    /// Whether there is a passage that has terms of which `enough` holds; each adds its share to what may be enough from
    /// `least` on.
    pub(super) fn any(&self, shares: &[f32], least: f32, enough: impl Fn(Has) -> bool) -> bool {
        let mut sums = vec![0.0; self.allowed.len()];
        for (list, share) in self.lists.iter().zip(shares) {
            list.windows.add_share(*share, &mut sums);
        }
        let windows = sums.iter().zip(self.allowed).enumerate();
        let mut windows = windows.filter(|(_, (sum, _))| sum.min(1.0) >= least);
        windows.any(|(window, (_, allowed))| {
            let here: Vec<u64> = self.lists.iter().map(|list| list.windows.bits(window)).collect();
            let some = here.iter().fold(0, |some, bits| some | bits);
            bits(some & allowed).any(|bit| {
                let mut has = Has::default();
                let having = here.iter().enumerate().filter(|(_, bits)| **bits >> bit & 1 == 1);
                having.for_each(|(at, _)| has.add(at));
                enough(has)
            })
        })
    }
}

/// A search that goes on.
struct Search<'a> {
    asking: &'a Asking<'a>,
    terms: &'a [Term<'a>],
    /// Those that so many have that each entry has its place.
    frequent: Vec<&'a Term<'a>>,
    best: Best,
    /// Room for entries that may be good enough: what they can score in parts, their windows and their bits.
    high: Vec<(u16, usize, u32)>,
    /// How many parts a score of 1 is in sums of impacts.
    scale: f32,
}

impl Search<'_> {
    /// Looks at the block of this number.
    fn block(&mut self, block: usize) {
        let (mut sums, mut seen, first) = ([[0; WINDOW]; BLOCK], [0; BLOCK], block * BLOCK);
        for term in self.terms {
            term.windows.add_few(block, term.parts, &mut sums);
        }
        if self.best.heap.len() < self.best.count {
            // Anything is good enough yet: what has rare terms makes it harder.
            self.look(first, &sums, u64::MAX, &mut seen);
        }
        // One term after the other: what is far away in memory is then fetched at once.
        let open = self.open(first, &sums);
        for term in &self.frequent {
            for at in bits(open).map(|at| at as usize) {
                if let Some(sums) = sums.get_mut(at) {
                    term.windows.add_many(first + at, term.parts, sums);
                }
            }
        }
        self.look(first, &sums, open, &mut seen);
    }

    /// Of the windows from `first` on, as bits, those that may have what is good enough. `sums` are those of rare terms.
    fn open(&self, first: usize, sums: &Sums) -> u64 {
        let (low, mut open) = (self.low(), 0);
        for (at, (sums, number)) in sums.iter().zip(first..).enumerate() {
            let highest =
                self.frequent.iter().map(|term| share(term.windows.highest(number), term.parts));
            let rest = highest.fold(0, u16::saturating_add);
            if rest > low || any_above(sums, low - rest) {
                open |= 1 << at;
            }
        }
        open
    }

    /// Looks at those passages of `windows`, bits for the windows from `first` on, whose sums are good enough and which were not
    /// `seen`.
    fn look(&mut self, first: usize, sums: &Sums, windows: u64, seen: &mut [u64; BLOCK]) {
        let (low, mut high) = (self.low(), mem::take(&mut self.high));
        let allowed = self.asking.allowed.get(first..).unwrap_or_default();
        let each = sums.iter().zip(allowed).zip(seen.iter()).enumerate();
        for (at, ((sums, allowed), seen)) in each.filter(|(at, _)| windows >> at & 1 == 1) {
            if any_above(sums, low) {
                let new =
                    bits(allowed & !seen).filter_map(|bit| Some((*sums.get(bit as usize)?, bit)));
                high.extend(new.filter(|(sum, _)| *sum > low).map(|(sum, bit)| (sum, at, bit)));
            }
        }
        // The best of them first: they spare others.
        if high.len() > self.best.count {
            high.select_nth_unstable_by(self.best.count, |(a, ..), (b, ..)| b.cmp(a));
        }
        for (sum, at, bit) in high.drain(..) {
            if sum > self.low() {
                self.passage(first + at, bit);
                if let Some(seen) = seen.get_mut(at) {
                    *seen |= 1 << bit;
                }
            }
        }
        self.high = high;
    }

    /// Sums up to this one are not enough. Each term was rounded down by less than 1.
    fn low(&self) -> u16 {
        let worst = (self.best.worst() * self.scale) as u16;
        worst.saturating_sub(u16::try_from(self.terms.len() + 1).unwrap_or(u16::MAX))
    }

    /// Looks at the entry `bit` of the window `number`.
    fn passage(&mut self, number: usize, bit: u32) {
        let Some(part) = self.asking.parts.part(number) else { return };
        let (doc, norms) = (part.begin(number) + bit, self.asking.norms);
        let length = part.lengths.fieldnorm_id(doc);
        let (mut score, mut has) = (0.0, Has::default());
        // In the order of the question: by another one, equal passages could differ.
        for term in self.terms {
            let count = term.windows.times(number, bit);
            if count > 0 {
                score += term.weight * norms.part(length, count);
                has.add(term.at);
            }
        }
        if score > 0.0
            && score >= self.best.worst()
            && let Some(key) = part.key(doc)
        {
            self.best.offer(Candidate { score, key, at: part.address(doc), has });
        }
    }
}

/// Whether one of `sums` is above `low`.
fn any_above(sums: &[u16; WINDOW], low: u16) -> bool {
    sums.iter().fold(0, |above, sum| above | sum.saturating_sub(low)) > 0
}
