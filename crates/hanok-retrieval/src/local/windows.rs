//! The entries that have a term, in memory.

use std::{iter, ops::Range};

use tantivy::{Term, schema::IndexRecordOption};

use super::{
    parts::{Part, Parts, Span, WINDOW},
    weights::{FINE, Impacts, MORE, Norms},
};
use crate::error::BoxError;

/// Impacts are of use while the mean length of passages is not further from that for which they were made.
const FIT: Range<f32> = 0.9..1.1;

/// So many windows are a block.
pub(super) const BLOCK: usize = 64;

/// So many entries that follow each other are a run,
pub(super) const RUN: usize = 16;

/// and so many runs are a window.
pub(super) const RUNS: usize = WINDOW / RUN;

/// The sums of a block, one for each entry, run by run.
pub(super) type Sums = [[u16; RUN]; BLOCK * RUNS];

/// With more entries than this share of all, each has a place.
const FLAT: usize = 8;

/// A count that does not fit is among `many`.
const MANY: u8 = u8::MAX;

/// Where a term is, how often in each passage, and how much it can add to its score.
#[derive(Debug, Default)]
pub(super) struct Windows {
    places: Places,
    /// How often each has it; nothing, where nobody asked for that.
    counts: Vec<u8>,
    /// Entries, numbered through all windows, with their counts.
    many: Vec<(u32, u32)>,
    /// The mean length that the impacts are for.
    mean: f32,
}

/// The entries that have a term.
#[derive(Debug)]
enum Places {
    /// Few: where each stands within its block, where the blocks begin among them, and the [`Impacts`] on each. Counts are in
    /// their order.
    Few { offsets: Vec<u16>, blocks: Vec<u32>, impacts: Vec<u8> },
    /// Many: a bit for each entry, and the impacts, with the highest in each window and in each run. Every entry has its count,
    /// which may be 0.
    Many { bits: Vec<u64>, impacts: Vec<Line>, highest: Vec<u8>, runs: Vec<[u8; RUNS]> },
}

/// The impacts of a window: a line of a processor's cache.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Line([u8; WINDOW]);

impl Default for Places {
    fn default() -> Self {
        Self::Few { offsets: Vec::new(), blocks: Vec::new(), impacts: Vec::new() }
    }
}

/// What is being read: entries, numbered through all windows, which rise.
#[derive(Debug, Default)]
struct Read {
    entries: Vec<u32>,
    counts: Vec<u8>,
    impacts: Vec<u8>,
    many: Vec<(u32, u32)>,
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
        let old = old.filter(|(old, _)| !old.is_empty() && of_use(old));
        let norms = norms.map(|norms| match old {
            Some((old, _)) => Norms::new(old.mean),
            None => norms.clone(),
        });
        let mean = norms.as_ref().map_or(0.0, Norms::mean);
        let (mut read, impacts) = (Read::default(), norms.map(Impacts::new));
        for part in &parts.parts {
            let known = old.and_then(|(old, spans)| {
                Some((old, spans.iter().find(|span| span.id == part.span.id)?))
            });
            match known {
                Some((old, span)) => read.take(old, span, part.span.windows.start),
                None => read.decode(term, part, impacts.as_ref())?,
            }
        }
        Ok(read.placed(parts.windows(), mean))
    }

    /// One that no entry has, for impacts of this mean length.
    #[cfg(test)]
    pub(super) fn of_mean(mean: f32) -> Self {
        Self { mean, ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        match &self.places {
            Places::Few { offsets, .. } => offsets.is_empty(),
            Places::Many { .. } => false,
        }
    }

    /// Whether the impacts are of use for this mean length.
    pub(super) fn fits(&self, mean: f32) -> bool {
        self.is_empty() || FIT.contains(&(mean / self.mean))
    }

    /// Whether so many entries have it that each has its place.
    pub(super) fn is_flat(&self) -> bool {
        matches!(self.places, Places::Many { .. })
    }

    /// Does something with every entry of `windows` that has it, and with the place of its count.
    fn each(&self, windows: Range<usize>, mut work: impl FnMut(usize, usize)) {
        match &self.places {
            Places::Few { offsets, blocks, .. } => {
                for block in windows.start / BLOCK..windows.end.div_ceil(BLOCK) {
                    let range = range(blocks, block);
                    let entry = |offset: &u16| block * BLOCK * WINDOW + usize::from(*offset);
                    let all = offsets.get(range.clone()).unwrap_or_default().iter().map(entry);
                    for (entry, place) in all.zip(range) {
                        if windows.contains(&(entry / WINDOW)) {
                            work(entry, place);
                        }
                    }
                }
            }
            Places::Many { bits: words, .. } => {
                for (number, word) in windows.clone().zip(words.get(windows).unwrap_or_default()) {
                    for bit in bits(*word) {
                        let entry = number * WINDOW + bit as usize;
                        work(entry, entry);
                    }
                }
            }
        }
    }

    /// All windows.
    fn all(&self) -> Range<usize> {
        match &self.places {
            Places::Few { blocks, .. } => 0..blocks.len().saturating_sub(1) * BLOCK,
            Places::Many { bits, .. } => 0..bits.len(),
        }
    }

    /// The places of the entries of the window of this number, where few have it.
    fn few(&self, number: usize) -> Range<usize> {
        let Places::Few { offsets, blocks, .. } = &self.places else { return 0..0 };
        let range = range(blocks, number / BLOCK);
        let block = offsets.get(range.clone()).unwrap_or_default();
        let from = number % BLOCK * WINDOW;
        let before = |end: usize| range.start + block.partition_point(|it| usize::from(*it) < end);
        before(from)..before(from + WINDOW)
    }

    /// The entries of the window of this number that have it.
    pub(super) fn bits(&self, number: usize) -> u64 {
        match &self.places {
            Places::Few { offsets, .. } => {
                let here = offsets.get(self.few(number)).unwrap_or_default();
                here.iter().fold(0, |bits, offset| bits | 1 << (usize::from(*offset) % WINDOW))
            }
            Places::Many { bits, .. } => bits.get(number).copied().unwrap_or_default(),
        }
    }

    /// How often the entry `bit` of the window of this number has the term.
    pub(super) fn times(&self, number: usize, bit: u32) -> u32 {
        let entry = number * WINDOW + bit as usize;
        let place = match &self.places {
            Places::Few { offsets, .. } => {
                let mut here = self.few(number);
                let is = |place: &usize| {
                    let offset = offsets.get(*place).copied().map(usize::from);
                    offset.is_some_and(|offset| offset % WINDOW == bit as usize)
                };
                here.find(is)
            }
            Places::Many { .. } => Some(entry),
        };
        match place.and_then(|place| self.counts.get(place)) {
            Some(&MANY) => self.large(entry as u32),
            Some(count) => u32::from(*count),
            None => 0,
        }
    }

    fn large(&self, entry: u32) -> u32 {
        let at = self.many.binary_search_by_key(&entry, |(entry, _)| *entry);
        let count = at.ok().and_then(|at| self.many.get(at));
        count.map_or(u32::from(MANY), |(_, count)| *count)
    }

    /// How many of the entries are among `alive`.
    pub(super) fn found(&self, alive: &[u64]) -> u64 {
        let mut found = 0;
        let alive =
            |entry: usize| alive.get(entry / WINDOW).map(|word| word >> (entry % WINDOW) & 1);
        self.each(self.all(), |entry, _| found += alive(entry).unwrap_or_default());
        found
    }

    /// Leaves in `entries` those that have it.
    pub(super) fn restrict(&self, entries: &mut [u64]) {
        if let Places::Many { bits, .. } = &self.places {
            let both = entries.iter_mut().zip(bits.iter().copied().chain(iter::repeat(0)));
            return both.for_each(|(entries, bits)| *entries &= bits);
        }
        let mut has = vec![0; entries.len()];
        self.each(self.all(), |entry, _| {
            if let Some(word) = has.get_mut(entry / WINDOW) {
                *word |= 1 << (entry % WINDOW);
            }
        });
        entries.iter_mut().zip(has).for_each(|(entries, has)| *entries &= has);
    }

    /// What an impact is to be multiplied with: `weight`, where passages have `mean` terms on average. A longer mean lets terms
    /// weigh more, at most as much more as it is longer.
    pub(super) fn unit(&self, weight: f32, mean: f32) -> f32 {
        weight * (mean / self.mean).max(1.0) * MORE / FINE
    }

    /// The part of what [units](Self::unit) and impacts less 1 say that the term adds at least.
    pub(super) fn sure(&self, mean: f32) -> f32 {
        let longer = mean / self.mean;
        longer.min(1.0) / longer.max(1.0) / (MORE * MORE * MORE)
    }

    /// The highest impacts in the windows of these numbers, where every entry has its place.
    pub(super) fn highest(&self, windows: Range<usize>) -> &[u8] {
        let Places::Many { highest, .. } = &self.places else { return &[] };
        highest.get(windows.start..windows.end.min(highest.len())).unwrap_or_default()
    }

    /// The highest impacts in the runs of the window of this number, where every entry has its place.
    pub(super) fn runs(&self, number: usize) -> [u8; RUNS] {
        match &self.places {
            Places::Few { .. } => [0; RUNS],
            Places::Many { runs, .. } => runs.get(number).copied().unwrap_or_default(),
        }
    }

    /// Where few have it: adds the impacts on the entries of the block of this number to their sums, each as `shares` says.
    pub(super) fn add_few(&self, block: usize, shares: &[u16; 256], sums: &mut Sums) {
        let Places::Few { offsets, blocks, impacts } = &self.places else { return };
        let (range, sums) = (range(blocks, block), sums.as_flattened_mut());
        let offsets = offsets.get(range.clone()).unwrap_or_default();
        let impacts = impacts.get(range).unwrap_or_default();
        for (offset, impact) in offsets.iter().zip(impacts) {
            if let Some(sum) = sums.get_mut(usize::from(*offset)) {
                let share = shares.get(usize::from(*impact)).copied();
                *sum = sum.saturating_add(share.unwrap_or_default());
            }
        }
    }

    /// Where every entry has its place: adds the impacts on those of a run of the window of this number, each
    /// [as a share](share) of `weight`. One instruction does several.
    pub(super) fn add_many(&self, number: usize, run: usize, weight: u16, sums: &mut [u16; RUN]) {
        let Places::Many { impacts, .. } = &self.places else { return };
        let line = impacts.get(number).map(|Line(line)| line.as_chunks::<RUN>().0);
        let Some(impacts) = line.and_then(|runs| runs.get(run)) else { return };
        for (sum, impact) in sums.iter_mut().zip(impacts) {
            *sum = sum.saturating_add(share(*impact, weight));
        }
    }

    /// The impact on the entry at `place`, as [`each`](Self::each) tells it.
    fn impact(&self, place: usize) -> Option<u8> {
        match &self.places {
            Places::Few { impacts, .. } => impacts.get(place).copied(),
            Places::Many { impacts, .. } => {
                let Line(here) = impacts.get(place / WINDOW)?;
                here.get(place % WINDOW).copied()
            }
        }
    }

    /// Adds `share` to the sum of every window that has it.
    pub(super) fn add_share(&self, share: f32, sums: &mut [f32]) {
        let mut last = None;
        self.each(self.all(), |entry, _| {
            let number = entry / WINDOW;
            if last.replace(number) != Some(number)
                && let Some(sum) = sums.get_mut(number)
            {
                *sum += share;
            }
        });
    }

    /// How much memory it takes.
    pub(super) fn size(&self) -> usize {
        let places = match &self.places {
            Places::Few { offsets, blocks, impacts } => {
                offsets.len() * 2 + blocks.len() * 4 + impacts.len()
            }
            Places::Many { bits, impacts, highest, runs } => {
                bits.len() * 8 + impacts.len() * WINDOW + highest.len() + runs.len() * RUNS
            }
        };
        size_of::<Self>() + places + self.counts.len() + self.many.len() * 8
    }
}

impl Read {
    /// Takes what `old` has of the part at `span`, which now begins with the window `first`.
    fn take(&mut self, old: &Windows, span: &Span, first: usize) {
        let now = |entry: usize| (entry + first * WINDOW - span.windows.start * WINDOW) as u32;
        old.each(span.windows.clone(), |entry, place| {
            self.entries.push(now(entry));
            self.counts.extend(old.counts.get(place));
            self.impacts.extend(old.impact(place));
        });
        let many = old.many.iter().map(|(entry, count)| (*entry as usize, *count));
        let of_part = many.filter(|(entry, _)| span.windows.contains(&(entry / WINDOW)));
        self.many.extend(of_part.map(|(entry, count)| (now(entry), count)));
    }

    fn decode(
        &mut self,
        term: &Term,
        part: &Part,
        impacts: Option<&Impacts>,
    ) -> Result<(), BoxError> {
        let option = match impacts {
            Some(_) => IndexRecordOption::WithFreqs,
            None => IndexRecordOption::Basic,
        };
        let index = part.reader.inverted_index(term.field())?;
        let Some(mut block) = index.read_block_postings(term, option)? else { return Ok(()) };
        let (first, end) = ((part.span.windows.start * WINDOW) as u32, part.reader.max_doc());
        while block.block_len() > 0 {
            let docs = block.docs();
            let docs = docs.get(..docs.partition_point(|doc| *doc < end)).unwrap_or_default();
            self.entries.extend(docs.iter().map(|doc| first + doc));
            if let Some(impacts) = impacts {
                let counts = block.freqs().get(..docs.len()).unwrap_or_default();
                self.counts.extend(counts.iter().map(|it| (*it).min(u32::from(MANY)) as u8));
                let both = docs.iter().zip(counts);
                self.impacts.extend(
                    both.clone()
                        .map(|(doc, count)| impacts.of(part.lengths.fieldnorm_id(*doc), *count)),
                );
                let many = both.filter(|(_, count)| **count >= u32::from(MANY));
                self.many.extend(many.map(|(doc, count)| (first + doc, *count)));
            }
            block.advance();
        }
        Ok(())
    }

    /// With its places, in an index of so many windows.
    fn placed(self, windows: usize, mean: f32) -> Windows {
        if self.entries.len() * FLAT >= windows * WINDOW && !self.entries.is_empty() {
            return self.flat(windows, mean);
        }
        let (size, count) = (BLOCK * WINDOW, windows.div_ceil(BLOCK));
        let Self { entries, mut counts, mut impacts, many } = self;
        let mut blocks = Vec::with_capacity(count + 1);
        let begin = |block: usize| entries.partition_point(|it| (*it as usize) < block * size);
        blocks.extend((0..=count).map(|block| begin(block) as u32));
        let offsets = entries.iter().map(|entry| (*entry as usize % size) as u16).collect();
        counts.shrink_to_fit();
        impacts.shrink_to_fit();
        Windows { places: Places::Few { offsets, blocks, impacts }, counts, many, mean }
    }

    /// With a place for every entry.
    fn flat(self, windows: usize, mean: f32) -> Windows {
        let Self { entries, counts: few, impacts: told, many } = self;
        let (mut bits, counted) = (vec![0; windows], if few.is_empty() { 0 } else { windows });
        let mut counts = vec![0; counted * WINDOW];
        let mut impacts = vec![Line([0; WINDOW]); counted];
        for (at, entry) in entries.iter().map(|entry| *entry as usize).enumerate() {
            if let Some(word) = bits.get_mut(entry / WINDOW) {
                *word |= 1 << (entry % WINDOW);
            }
            if let (Some(place), Some(count)) = (counts.get_mut(entry), few.get(at)) {
                *place = *count;
            }
            let line = impacts.get_mut(entry / WINDOW);
            let place = line.and_then(|Line(line)| line.get_mut(entry % WINDOW));
            if let (Some(place), Some(impact)) = (place, told.get(at)) {
                *place = *impact;
            }
        }
        let highest = |impacts: &[u8]| impacts.iter().copied().max().unwrap_or(0);
        let runs = |Line(line): &Line| {
            let (runs, mut highest_of) = (line.as_chunks::<RUN>().0, [0; RUNS]);
            highest_of.iter_mut().zip(runs).for_each(|(of, run)| *of = highest(run));
            highest_of
        };
        let runs: Vec<[u8; RUNS]> = impacts.iter().map(runs).collect();
        let highest = runs.iter().map(|runs| highest(runs)).collect();
        Windows { places: Places::Many { bits, impacts, highest, runs }, counts, many, mean }
    }
}

/// What of the places is of the block of this number.
fn range(blocks: &[u32], block: usize) -> Range<usize> {
    match blocks.get(block..).and_then(<[u32]>::first_chunk) {
        Some([begin, end]) => *begin as usize..*end as usize,
        None => 0..0,
    }
}

/// As many of the 256 parts of `weight` as `impact` says, and up to 1 more: where there is an impact, this is not 0.
pub(super) fn share(impact: u8, weight: u16) -> u16 {
    let (impact, [low, high]) = (u16::from(impact), weight.to_le_bytes());
    // Neither product is more than 255 times 255: a register holds eight of them. All together are 65,280 at most.
    impact * u16::from(high) + ((impact * u16::from(low)) >> 8) + impact.min(1)
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        bit
    })
}
