//! The best passages of a question, without looking at all that have its terms.

use std::{
    cell::Cell,
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    sync::Arc,
};

use tantivy::DocAddress;

use super::{
    lists::List,
    parts::{Part, Parts},
    weights::Norms,
    windows::{Window, Windows, bits},
};

/// Rounding changes a sum by less than this share of it, in whichever order it is added up.
const ROUNDING: f32 = 1e-4;

/// So many windows are looked at first.
const FIRST: usize = 32;

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
    unit: f32,
    /// Where the window that was asked for last is.
    place: Cell<usize>,
}

/// A term in a window.
#[derive(Debug, Clone, Copy, Default)]
struct Here {
    window: Window,
    /// How much it can add to a score here.
    bound: f32,
}

impl Here {
    fn has(&self, bit: u32) -> bool {
        self.window.bits >> bit & 1 == 1
    }
}

impl<'a> Term<'a> {
    fn new(asking: &Asking<'a>, at: usize, list: &'a List, weight: f32) -> Self {
        let unit = list.windows.unit(weight, asking.norms.mean());
        Self { at, windows: &list.windows, weight, unit, place: Cell::new(0) }
    }

    /// The term in the window of this number. One after the other is found soonest.
    fn here(&self, number: usize) -> Here {
        let place = self.windows.place_from(self.place.get(), number);
        self.place.set(place);
        let window = self.windows.in_window(place, number);
        Here { window, bound: window.bound(self.unit) }
    }
}

impl<'a> Asking<'a> {
    /// The best `count` passages, the best first.
    pub(super) fn best(&self, count: usize) -> Vec<Candidate> {
        let known = self.lists.iter().zip(self.weights).enumerate();
        let known = known.filter(|(_, (list, _))| list.found > 0);
        let mut terms: Vec<Term<'_>> =
            known.map(|(at, (list, weight))| Term::new(self, at, list, *weight)).collect();
        let mut windows = self.bounded(&terms);
        // Those that weigh most first: without them, the others are not enough.
        terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut search = Search::new(self, &terms, count);
        let first = FIRST.max(count);
        // From the highest bounds on, and then all that may be good enough, as they are in memory.
        let high = nth(&windows, first);
        for (bound, window) in windows.extract_if(.., |(bound, _)| *bound >= high) {
            search.window(window as usize, bound);
        }
        for (bound, window) in windows {
            if bound >= search.best.worst() {
                search.window(window as usize, bound);
            }
        }
        search.best.heap.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect()
    }

    /// The windows that have any of `terms`, and how much a passage of each can score. Bounds are added up in the order in
    /// which scores are, so that rounding cannot bring one below the score.
    fn bounded(&self, terms: &[Term<'_>]) -> Vec<(f32, u32)> {
        let mut sums = vec![0.0; self.allowed.len()];
        for term in terms {
            term.windows.add_bounds(term.unit, &mut sums);
        }
        let all = sums.into_iter().zip(self.allowed).zip(0..);
        let some = all.filter(|((sum, allowed), _)| *sum > 0.0 && **allowed != 0);
        some.map(|((sum, _), window)| (sum, window)).collect()
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
            let here = self.lists.iter().map(|list| {
                let place = list.windows.place_from(0, window);
                list.windows.in_window(place, window).bits
            });
            let here: Vec<u64> = here.collect();
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
    best: Best,
    /// The terms in the window that is looked at.
    here: Vec<Here>,
    /// What each term of the question adds to the score of a passage.
    scores: Vec<f32>,
}

impl<'a> Search<'a> {
    fn new(asking: &'a Asking<'a>, terms: &'a [Term<'a>], count: usize) -> Self {
        Self {
            asking,
            terms,
            best: Best { count, heap: BinaryHeap::new() },
            here: Vec::with_capacity(terms.len()),
            scores: vec![0.0; asking.lists.len()],
        }
    }

    /// Looks at the window `number`, in which nothing scores more than `bound`.
    fn window(&mut self, number: usize, bound: f32) {
        let Some(part) = self.asking.parts.part(number) else { return };
        let (slack, worst) = (bound * ROUNDING, self.best.worst());
        let (mut rest, mut some) = (bound + slack, 0);
        self.here.clear();
        for term in self.terms {
            let here = term.here(number);
            // A passage that has none of the first terms has to be good enough by the others.
            if rest >= worst {
                some |= here.window.bits;
            }
            rest -= here.bound;
            self.here.push(here);
        }
        let allowed = self.asking.allowed.get(number).copied().unwrap_or_default();
        for bit in bits(some & allowed) {
            let can = |here: &Here| if here.has(bit) { here.bound } else { 0.0 };
            let can = slack + self.here.iter().map(can).sum::<f32>();
            if can >= self.best.worst() {
                self.passage(part, number, bit, can);
            }
        }
    }

    /// Looks at the entry `bit` of the window `number`, which cannot score more than `can`.
    fn passage(&mut self, part: &Part, number: usize, bit: u32, mut can: f32) {
        let (doc, norms) = (part.begin(number) + bit, self.asking.norms);
        let (length, worst) = (part.lengths.fieldnorm_id(doc), self.best.worst());
        let mut has = Has::default();
        self.scores.fill(0.0);
        for (term, here) in self.terms.iter().zip(&self.here).filter(|(_, here)| here.has(bit)) {
            let count = term.windows.times(here.window, number, bit);
            let score = term.weight * norms.part(length, count);
            can += score - here.bound;
            if can < worst {
                return;
            }
            has.add(term.at);
            if let Some(at) = self.scores.get_mut(term.at) {
                *at = score;
            }
        }
        // In the order of the terms: by another one, equal passages could differ.
        let score = self.scores.iter().sum();
        if score > 0.0
            && score >= worst
            && let Some(key) = part.key(doc)
        {
            self.best.offer(Candidate { score, key, at: part.address(doc), has });
        }
    }
}

/// The bound of the window with the `n`-th highest; 0 where there are fewer.
fn nth(windows: &[(f32, u32)], n: usize) -> f32 {
    let mut bounds: Vec<f32> = windows.iter().map(|(bound, _)| *bound).collect();
    if n >= bounds.len() {
        return 0.0;
    }
    *bounds.select_nth_unstable_by(n, |a, b| b.total_cmp(a)).1
}
