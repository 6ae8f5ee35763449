//! The best passages of a question, without looking at all that have its terms.
//!
//! What terms add to scores is first summed up as bytes and words, which say of most passages that others are better; what is
//! left is scored.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    mem,
    sync::Arc,
};

use tantivy::DocAddress;

use super::{
    bounds::Bounds,
    lists::List,
    parts::{Parts, WINDOW},
    weights::Norms,
    windows::{BLOCK, RUN, RUNS, Sums, Windows, bits, share},
};
use crate::terms::MAX_ASKED;

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
pub(super) struct Has([u64; MAX_ASKED.div_ceil(64)]);

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

impl Asking<'_> {
    /// The best `count` passages, the best first.
    pub(super) fn best(&self, count: usize) -> Vec<Candidate> {
        let asked = self.lists.iter().zip(self.weights);
        let asked = asked.filter(|(list, _)| list.found > 0);
        let asked: Vec<_> = asked.map(|(list, weight)| (&list.windows, *weight)).collect();
        let bounds = Bounds::new(&asked, self.norms.mean());
        let asked =
            || asked.iter().zip(&bounds.parts).map(|((windows, _), parts)| (*windows, *parts));
        let rare = asked().filter(|(windows, _)| !windows.is_flat());
        let shares = |parts| std::array::from_fn(|impact| share(impact as u8, parts));
        let mut search = Search {
            allowed: self.allowed,
            rare: rare.map(|(windows, parts)| (windows, shares(parts))).collect(),
            frequent: asked().filter(|(windows, _)| windows.is_flat()).collect(),
            bounds: &bounds,
            count,
            highest: BinaryHeap::new(),
            low: 0,
            found: Vec::new(),
            runs: Vec::new(),
        };
        (0..self.allowed.len().div_ceil(BLOCK)).for_each(|block| search.block(block));
        let (low, mut found) = (search.low, search.found);
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::new();
        found.retain(|(sum, _)| *sum > low);
        // What has the highest sums is the best, as a rule.
        found.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
        for (sum, entry) in found {
            if let Some(Reverse(worst)) = best.peek()
                && best.len() == count
                && sum <= bounds.worse_than(worst.score)
            {
                break;
            }
            best.extend(self.candidate(entry).map(Reverse));
            if best.len() > count {
                best.pop();
            }
        }
        best.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect()
    }

    /// The passage at `entry`, of all entries, if it has one of the terms.
    fn candidate(&self, entry: usize) -> Option<Candidate> {
        let (number, bit) = (entry / WINDOW, (entry % WINDOW) as u32);
        let part = self.parts.part(number)?;
        let doc = part.begin(number) + bit;
        let length = part.lengths.fieldnorm_id(doc);
        let (mut score, mut has) = (0.0, Has::default());
        // In the order of the question: by another one, equal passages could differ.
        for (at, (list, weight)) in self.lists.iter().zip(self.weights).enumerate() {
            let count = list.windows.times(number, bit);
            if count > 0 {
                score += weight * self.norms.part(length, count);
                has.add(at);
            }
        }
        let key = part.key(doc).filter(|_| score > 0.0)?;
        Some(Candidate { score, key, at: part.address(doc), has })
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
    /// The entries of each window that may be found.
    allowed: &'a [u64],
    /// The terms that few have, each with what its impacts are in sums.
    rare: Vec<(&'a Windows, [u16; 256])>,
    /// Those that so many have that each entry has its place, and with how many parts of 256 their impacts are multiplied.
    frequent: Vec<(&'a Windows, u16)>,
    bounds: &'a Bounds,
    count: usize,
    /// The highest `count` sums so far.
    highest: BinaryHeap<Reverse<u16>>,
    /// Sums up to this one are not enough.
    low: u16,
    /// The entries whose sums were enough, with these.
    found: Vec<(u16, usize)>,
    /// Room for the numbers of runs in a block.
    runs: Vec<usize>,
}

impl Search<'_> {
    /// Looks at the block of this number.
    fn block(&mut self, block: usize) {
        let (mut sums, first) = ([[0; RUN]; BLOCK * RUNS], block * BLOCK);
        for (windows, shares) in &self.rare {
            windows.add_few(block, shares, &mut sums);
        }
        if self.highest.len() < self.count {
            self.begin(first, &sums);
        }
        let runs = self.open(first, &sums);
        // One term after the other: what is far away in memory is then fetched at once.
        for (windows, parts) in &self.frequent {
            for run in &runs {
                if let Some(sums) = sums.get_mut(*run) {
                    windows.add_many(first + run / RUNS, run % RUNS, *parts, sums);
                }
            }
        }
        for run in &runs {
            if let Some(sums) = sums.get(*run) {
                self.look(first * RUNS + run, sums);
            }
        }
        self.runs = runs;
    }

    /// Before anything is found: what has rare terms makes it harder for the rest. `sums` are of these alone.
    fn begin(&mut self, first: usize, sums: &Sums) {
        let runs = sums.iter().zip(first * RUNS..);
        let mut sums: Vec<u16> = runs
            .flat_map(|(sums, run)| good(self.allowed, run, sums))
            .map(|(sum, _)| sum)
            .collect();
        if let Some(last) = self.count.checked_sub(1).filter(|last| *last < sums.len()) {
            let (_, worst, _) = sums.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.low = self.low.max(self.bounds.worse(*worst));
        }
    }

    /// The runs, of the windows from `first` on, that may have what is good enough. `sums` are those of rare terms.
    fn open(&mut self, first: usize, sums: &Sums) -> Vec<usize> {
        let (low, mut open, mut rests) = (self.low, mem::take(&mut self.runs), [0_u16; BLOCK]);
        for (windows, parts) in &self.frequent {
            for (rest, highest) in rests.iter_mut().zip(windows.highest(first..first + BLOCK)) {
                *rest = rest.saturating_add(share(*highest, *parts));
            }
        }
        open.clear();
        for (at, (runs, rest)) in sums.as_chunks::<RUNS>().0.iter().zip(rests).enumerate() {
            if may(runs.as_flattened(), rest, low) {
                let mut rests = [0_u16; RUNS];
                for (windows, parts) in &self.frequent {
                    for (rest, highest) in rests.iter_mut().zip(windows.runs(first + at)) {
                        *rest = rest.saturating_add(share(highest, *parts));
                    }
                }
                for (run, (sums, rest)) in runs.iter().zip(rests).enumerate() {
                    if may(sums, rest, low) {
                        open.push(at * RUNS + run);
                    }
                }
            }
        }
        open
    }

    /// Keeps what is good enough of the run of this number, of all runs.
    fn look(&mut self, run: usize, sums: &[u16; RUN]) {
        if !may(sums, 0, self.low) {
            return;
        }
        for (sum, entry) in good(self.allowed, run, sums).filter(|(sum, _)| *sum > self.low) {
            self.found.push((sum, entry));
            self.highest.push(Reverse(sum));
            if self.highest.len() > self.count {
                self.highest.pop();
            }
        }
        if self.highest.len() == self.count
            && let Some(Reverse(worst)) = self.highest.peek()
        {
            self.low = self.low.max(self.bounds.worse(*worst));
        }
    }
}

/// The sums in the run of this number, of all runs, that are not 0, of entries that may be found.
fn good(allowed: &[u64], run: usize, sums: &[u16; RUN]) -> impl Iterator<Item = (u16, usize)> {
    let allowed = allowed.get(run / RUNS).copied().unwrap_or_default() >> (run % RUNS * RUN);
    let sums = sums.iter().copied().zip(run * RUN..).enumerate();
    let good = sums.filter(move |(bit, (sum, _))| *sum > 0 && allowed >> bit & 1 == 1);
    good.map(|(_, sum)| sum)
}

/// Whether one of `sums` may be above `low`, with the `rest` that may be added.
fn may(sums: &[u16], rest: u16, low: u16) -> bool {
    rest > low || sums.iter().fold(0, |above, sum| above | sum.saturating_sub(low - rest)) > 0
}
