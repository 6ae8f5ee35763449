//! The parts of an index at one moment, laid out in windows.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use tantivy::{
    DocAddress, DocId, Searcher, SegmentReader, columnar::Column, fieldnorm::FieldNormReader,
    index::SegmentId,
};

use super::{
    fields::{Fields, KEY},
    stored::Stored,
};
use crate::error::BoxError;

/// So many entries of the index are a window: as many as a word has bits. A part begins with a window of its own.
pub(super) const WINDOW: usize = 64;

/// All parts of one commit.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    /// Where they are. No other commit has the same one.
    pub(super) spans: Arc<[Span]>,
    /// The entries of every window that are not removed.
    pub(super) alive: Vec<u64>,
}

/// Which windows are those of a part.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) id: SegmentId,
    pub(super) windows: Range<usize>,
}

/// A part: a segment of tantivy, which never changes but for what is removed.
pub(super) struct Part {
    pub(super) span: Span,
    ord: u32,
    pub(super) reader: SegmentReader,
    pub(super) lengths: FieldNormReader,
    pub(super) bodies: Arc<Stored>,
    pub(super) vectors: Arc<Stored>,
    keys: Column<u64>,
    by_key: ByKey,
}

/// The entries of a part by their keys, once one is looked for. They stay the same with every commit that has the part.
type ByKey = Arc<OnceLock<Vec<(u64, DocId)>>>;

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("span", &self.span).finish_non_exhaustive()
    }
}

impl Parts {
    /// Those of `searcher`. What is known of parts that were there `before` is kept.
    pub(super) fn of(
        searcher: &Searcher,
        fields: Fields,
        before: &[Part],
    ) -> Result<Self, BoxError> {
        let (mut parts, mut alive) = (Vec::new(), Vec::new());
        for (ord, reader) in (0..).zip(searcher.segment_readers()) {
            let first = alive.len();
            alive.extend(living(reader));
            let known = before.iter().find(|part| part.span.id == reader.segment_id());
            let (bodies, vectors) = match known {
                Some(part) => (Arc::clone(&part.bodies), Arc::clone(&part.vectors)),
                None => {
                    (fields.bodies().open(reader)?.into(), fields.vectors().open(reader)?.into())
                }
            };
            parts.push(Part {
                span: Span { id: reader.segment_id(), windows: first..alive.len() },
                ord,
                reader: reader.clone(),
                bodies,
                vectors,
                lengths: reader.get_fieldnorms_reader(fields.terms)?,
                keys: reader.fast_fields().u64(KEY)?,
                by_key: known.map(|part| Arc::clone(&part.by_key)).unwrap_or_default(),
            });
        }
        let spans = parts.iter().map(|part| part.span.clone()).collect();
        Ok(Self { parts, spans, alive })
    }

    /// Where the passage of that key stands.
    pub(super) fn entry(&self, key: u64) -> Option<DocAddress> {
        self.parts.iter().find_map(|part| part.entry(key))
    }

    /// The body of an entry.
    pub(super) fn body(&self, at: DocAddress) -> Result<&[u8], BoxError> {
        let part = self.parts.get(at.segment_ord as usize).ok_or("a part is gone")?;
        Ok(part.bodies.of(at.doc_id))
    }

    /// How many windows there are.
    pub(super) fn windows(&self) -> usize {
        self.alive.len()
    }

    /// The part that has the window of this number.
    pub(super) fn part(&self, window: usize) -> Option<&Part> {
        let after = self.parts.partition_point(|part| part.span.windows.start <= window);
        self.parts.get(after.checked_sub(1)?)
    }
}

impl Part {
    /// The entry with which a window of it begins.
    pub(super) fn begin(&self, window: usize) -> DocId {
        DocId::try_from((window - self.span.windows.start) * WINDOW).unwrap_or(DocId::MAX)
    }

    pub(super) fn address(&self, doc: DocId) -> DocAddress {
        DocAddress::new(self.ord, doc)
    }

    /// The entry of that key, if it is not removed.
    fn entry(&self, key: u64) -> Option<DocAddress> {
        let all = self.by_key.get_or_init(|| {
            let docs = 0..self.reader.max_doc();
            let mut all: Vec<_> = docs.filter_map(|doc| Some((self.key(doc)?, doc))).collect();
            all.sort_unstable();
            all
        });
        let from = all.partition_point(|(before, _)| *before < key);
        let mut same = all.iter().skip(from).take_while(|(same, _)| *same == key);
        let there = same.find(|(_, doc)| !self.reader.is_deleted(*doc));
        there.map(|(_, doc)| self.address(*doc))
    }

    /// The key of an entry.
    pub(super) fn key(&self, doc: DocId) -> Option<u64> {
        self.keys.first(doc)
    }
}

/// The entries of `reader` that are not removed, window by window.
fn living(reader: &SegmentReader) -> Vec<u64> {
    let end = reader.max_doc() as usize;
    let mut words = vec![u64::MAX; end.div_ceil(WINDOW)];
    if let Some(last) = words.last_mut()
        && !end.is_multiple_of(WINDOW)
    {
        *last = (1 << (end % WINDOW)) - 1;
    }
    let Some(alive) = reader.alive_bitset() else { return words };
    for (word, begin) in words.iter_mut().zip((0..reader.max_doc()).step_by(WINDOW)) {
        let docs = (0..64).filter(|bit| *word >> bit & 1 == 1 && alive.is_alive(begin + bit));
        *word = docs.fold(0, |word, bit| word | 1 << bit);
    }
    words
}
