//! The entries that have a term, by windows, in memory.

use std::ops::Range;

use tantivy::{Term, schema::IndexRecordOption};

use super::{
    parts::{Part, Parts, Span, WINDOW},
    weights::Norms,
};
use crate::error::BoxError;

/// A bound is kept as so many parts of 1.
const FINE: f32 = 255.0;

/// Above rounding.
const MORE: f32 = 1.0001;

/// Bounds are of use while the mean length of passages is not further from that for which they were made.
const FIT: Range<f32> = 0.9..1.1;

/// With more entries than this share of all, each has a place for its count.
const FLAT: usize = 8;

/// A count that does not fit is among `many`.
const MANY: u8 = u8::MAX;

/// Where a term is, how often in each passage, and how much it can add to a score in each window.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// The numbers of the windows that have it; `None` where every window has its place, those without it, too.
    at: Option<Vec<u32>>,
    /// The highest `count / (count + norm)` of each, once more, for all of them are added up at once.
    bounds: Vec<u8>,
    all: Vec<Window>,
    /// The counts of those that have it; where these are many, of every entry.
    counts: Vec<u8>,
    flat: bool,
    /// Entries, numbered through all windows, with their counts.
    many: Vec<(u64, u32)>,
    /// How many entries have it.
    entries: u32,
    /// The mean length that the bounds are for.
    mean: f32,
}

/// A window that has a term.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Window {
    /// The entries that have it.
    pub(super) bits: u64,
    /// Where their counts begin.
    start: u32,
    bound: u8,
}

impl Window {
    /// How much the term can add to a score here, with this [`unit`](Windows::unit).
    pub(super) fn bound(self, unit: f32) -> f32 {
        f32::from(self.bound) * unit
    }
}

impl Windows {
    /// Those of `term`. What `old` has of parts that are still there is taken from it. Without `norms`, nothing is counted.
    pub(super) fn read(
        term: &Term,
        parts: &Parts,
        norms: Option<&Norms>,
        old: Option<(&Self, &[Span])>,
    ) -> Result<Self, BoxError> {
        let of_use = |old: &Self| norms.is_none_or(|norms| old.fits(norms.mean()));
        let old = old.filter(|(old, _)| !old.all.is_empty() && of_use(old));
        let norms = norms.map(|norms| match old {
            Some((old, _)) => Norms::new(old.mean),
            None => norms.clone(),
        });
        let mut made = Self { at: Some(Vec::new()), ..Self::default() };
        made.mean = norms.as_ref().map_or(0.0, Norms::mean);
        for part in &parts.parts {
            let known = old.and_then(|(old, spans)| {
                Some((old, spans.iter().find(|span| span.id == part.span.id)?))
            });
            match known {
                Some((old, span)) => made.take(old, span, part.span.windows.start),
                None => made.decode(term, part, norms.as_ref())?,
            }
        }
        made.spread(parts.windows());
        Ok(made)
    }

    /// Whether the bounds are of use for this mean length.
    pub(super) fn fits(&self, mean: f32) -> bool {
        self.all.is_empty() || FIT.contains(&(mean / self.mean))
    }

    /// Takes what `old` has of the part at `span`, which now begins with the window `first`.
    fn take(&mut self, old: &Self, span: &Span, first: usize) {
        let Range { start, end } = span.windows;
        for (at, window) in old.places(start..end) {
            let from = old.all.get(at).copied().unwrap_or_default();
            if from.bits != 0 {
                self.push(window - start + first, from.bits, from.bound);
                let counts = old.counts.get(from.start as usize..).unwrap_or_default();
                let counts = counts.iter().copied().filter(|count| !old.flat || *count > 0);
                self.counts.extend(counts.take(from.bits.count_ones() as usize));
            }
        }
        let [start, end, first] = [start, end, first].map(|window| (window * WINDOW) as u64);
        let many = old.many.iter().filter(|(entry, _)| (start..end).contains(entry));
        self.many.extend(many.map(|(entry, count)| (entry - start + first, *count)));
    }

    fn decode(&mut self, term: &Term, part: &Part, norms: Option<&Norms>) -> Result<(), BoxError> {
        let option = match norms {
            Some(_) => IndexRecordOption::WithFreqs,
            None => IndexRecordOption::Basic,
        };
        let index = part.reader.inverted_index(term.field())?;
        let Some(mut block) = index.read_block_postings(term, option)? else { return Ok(()) };
        let (first, end) = (part.span.windows.start, part.reader.max_doc());
        let (mut window, mut bits, mut least) = (0, 0, f32::INFINITY);
        let mut ratios = Vec::new();
        while block.block_len() > 0 {
            let docs = block.docs();
            let docs = docs.get(..docs.partition_point(|doc| *doc < end)).unwrap_or_default();
            let counts = norms.and_then(|_| block.freqs().get(..docs.len())).unwrap_or_default();
            self.count(counts, docs, first);
            ratios.clear();
            if let Some(norms) = norms {
                let lengths = docs.iter().map(|doc| part.lengths.fieldnorm_id(*doc));
                let both = lengths.zip(counts);
                ratios.extend(both.map(|(length, count)| norms.ratio(length, *count)));
            }
            ratios.resize(docs.len(), f32::INFINITY);
            for (doc, ratio) in docs.iter().zip(&ratios) {
                let entry = *doc as usize;
                if entry / WINDOW != window {
                    self.close(first + window, bits, least);
                    (window, bits, least) = (entry / WINDOW, 0, f32::INFINITY);
                }
                bits |= 1_u64 << (entry % WINDOW);
                least = if *ratio < least { *ratio } else { least };
            }
            block.advance();
        }
        self.close(first + window, bits, least);
        Ok(())
    }

    /// Keeps the counts of `docs`, of a part that begins with the window `first`.
    fn count(&mut self, counts: &[u32], docs: &[u32], first: usize) {
        self.counts.extend(counts.iter().map(|count| (*count).min(u32::from(MANY)) as u8));
        let many = counts.iter().zip(docs).filter(|(count, _)| **count >= u32::from(MANY));
        let numbered =
            |(count, doc): (&u32, &u32)| ((first * WINDOW) as u64 + u64::from(*doc), *count);
        self.many.extend(many.map(numbered));
    }

    fn close(&mut self, window: usize, bits: u64, least: f32) {
        if bits != 0 {
            // Never too low: a passage may score as much as it does.
            self.push(window, bits, ((FINE * MORE / (1.0 + least)) as u8).saturating_add(1));
        }
    }

    fn push(&mut self, window: usize, bits: u64, bound: u8) {
        let at = self.at.get_or_insert_default();
        at.push(u32::try_from(window).unwrap_or(u32::MAX));
        self.bounds.push(bound);
        self.all.push(Window { bits, start: self.entries, bound });
        self.entries += bits.count_ones();
    }

    /// Gives each of `all` windows its place, where most of them have the term.
    fn spread(&mut self, all: usize) {
        if let Some(at) = self.at.take_if(|at| at.len() * 2 >= all) {
            let (mut bounds, mut places) = (vec![0; all], vec![Window::default(); all]);
            for (at, window) in at.iter().zip(&self.all) {
                if let Some(place) = places.get_mut(*at as usize) {
                    *place = *window;
                }
                if let Some(bound) = bounds.get_mut(*at as usize) {
                    *bound = window.bound;
                }
            }
            (self.bounds, self.all) = (bounds, places);
            self.flatten();
        }
        self.at.iter_mut().for_each(Vec::shrink_to_fit);
        self.bounds.shrink_to_fit();
        self.all.shrink_to_fit();
        self.counts.shrink_to_fit();
    }

    /// Gives each entry a place for its count, where many have one.
    fn flatten(&mut self) {
        if self.counts.is_empty() || (self.entries as usize) * FLAT < self.all.len() * WINDOW {
            return;
        }
        let (mut flat, mut counts) = (vec![0; self.all.len() * WINDOW], self.counts.iter());
        for (window, counted) in self.all.iter().zip(flat.chunks_exact_mut(WINDOW)) {
            for (bit, count) in bits(window.bits).zip(&mut counts) {
                if let Some(place) = counted.get_mut(bit as usize) {
                    *place = *count;
                }
            }
        }
        for (window, start) in self.all.iter_mut().zip((0..).step_by(WINDOW)) {
            window.start = start;
        }
        (self.counts, self.flat) = (flat, true);
    }

    /// The places of those of the windows `windows` that have one, each with its window.
    fn places(&self, windows: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let range = match &self.at {
            None => windows.clone(),
            Some(at) => {
                let before = |end: usize| at.partition_point(|window| (*window as usize) < end);
                before(windows.start)..before(windows.end)
            }
        };
        range.map(|place| (place, self.window(place)))
    }

    fn window(&self, place: usize) -> usize {
        let at = self.at.as_ref().and_then(|at| at.get(place));
        at.map_or(place, |window| *window as usize)
    }

    /// The place of the window of this number or of the first one after it, looked for from `place` on.
    pub(super) fn place_from(&self, place: usize, number: usize) -> usize {
        let Some(at) = &self.at else { return number };
        let before = |place: usize| at.get(place).is_some_and(|at| (*at as usize) < number);
        let mut place = match place.checked_sub(1) {
            Some(last) if !before(last) => 0,
            _ => place,
        };
        let mut step = 1;
        while before(place + step) {
            place += step;
            step *= 2;
        }
        while step > 0 {
            if before(place + step - 1) {
                place += step;
            }
            step /= 2;
        }
        place
    }

    /// What is at `place`, if that is the window of this number.
    pub(super) fn in_window(&self, place: usize, number: usize) -> Window {
        match self.all.get(place) {
            Some(window) if self.window(place) == number => *window,
            _ => Window::default(),
        }
    }

    /// How often the entry `bit` of the window of this number, which is `here`, has the term.
    pub(super) fn times(&self, here: Window, number: usize, bit: u32) -> u32 {
        let entry = number * WINDOW + bit as usize;
        let before = (here.bits & ((1 << bit) - 1)).count_ones() as usize;
        match here.bits >> bit & 1 {
            0 => 0,
            _ if self.flat => self.counted(entry, entry),
            _ => self.counted(here.start as usize + before, entry),
        }
    }

    fn counted(&self, at: usize, entry: usize) -> u32 {
        match self.counts.get(at) {
            Some(&MANY) => self.large(entry as u64),
            Some(count) => u32::from(*count),
            None => 0,
        }
    }

    fn large(&self, entry: u64) -> u32 {
        let at = self.many.binary_search_by_key(&entry, |(entry, _)| *entry);
        let count = at.ok().and_then(|at| self.many.get(at));
        count.map_or(u32::from(MANY), |(_, count)| *count)
    }

    /// How many of the entries are among `alive`.
    pub(super) fn found(&self, alive: &[u64]) -> u64 {
        let both = |(place, here): (usize, &Window)| {
            let alive = alive.get(self.window(place)).copied().unwrap_or_default();
            u64::from((here.bits & alive).count_ones())
        };
        self.all.iter().enumerate().map(both).sum()
    }

    /// Leaves in `entries` those that have it.
    pub(super) fn restrict(&self, entries: &mut Vec<u64>) {
        let mut left = vec![0; entries.len()];
        for (place, here) in self.all.iter().enumerate() {
            let window = self.window(place);
            if let (Some(left), Some(entries)) = (left.get_mut(window), entries.get(window)) {
                *left = entries & here.bits;
            }
        }
        *entries = left;
    }

    /// What a bound is to be multiplied with: `weight`, where passages have `mean` terms on average. A longer mean lets terms
    /// weigh more, at most as much more as it is longer.
    pub(super) fn unit(&self, weight: f32, mean: f32) -> f32 {
        weight * (mean / self.mean).max(1.0) * MORE / FINE
    }

    /// Adds the bound of every window to its sum.
    pub(super) fn add_bounds(&self, unit: f32, sums: &mut [f32]) {
        match &self.at {
            None => {
                for (sum, bound) in sums.iter_mut().zip(&self.bounds) {
                    *sum += f32::from(*bound) * unit;
                }
            }
            Some(at) => {
                for (window, bound) in at.iter().zip(&self.bounds) {
                    if let Some(sum) = sums.get_mut(*window as usize) {
                        *sum += f32::from(*bound) * unit;
                    }
                }
            }
        }
    }

    /// Adds `share` to the sum of every window that has it.
    pub(super) fn add_share(&self, share: f32, sums: &mut [f32]) {
        for (place, _) in self.all.iter().enumerate().filter(|(_, here)| here.bits != 0) {
            if let Some(sum) = sums.get_mut(self.window(place)) {
                *sum += share;
            }
        }
    }

    /// How much memory it takes.
    pub(super) fn size(&self) -> usize {
        let at = self.at.as_ref().map_or(0, Vec::len);
        size_of::<Self>() + at * 4 + self.all.len() * 17 + self.counts.len() + self.many.len() * 16
    }
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}
