//! An index at one moment, as searches see it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{Hash, Hasher},
    io,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use tantivy::{
    DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term,
    query::Bm25StatisticsProvider,
    schema::{Field, IndexRecordOption},
    store::StoreReader,
};

use super::{
    fields::{Fields, Head, KEY, PLACE},
    vectors::{Kept, Vectors},
};
use crate::{document::Passage, error::BoxError};

/// So many frequencies are remembered.
const FREQUENCIES: usize = 65_536;

/// One commit.
#[derive(Debug)]
pub(super) struct View {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    /// The documents by their source.
    pub(super) heads: BTreeMap<String, Head>,
    pub(super) vectors: Vectors,
    passages: usize,
    terms: u64,
    /// How many passages have a term, where counting them took walking them.
    frequencies: Mutex<HashMap<Term, u64>>,
}

/// What a passage is known by: its key, and the place of its entry where that is known already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) key: u64,
    pub(super) entry: Option<DocAddress>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// What became of a document.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) source: String,
    pub(super) head: Option<Head>,
    pub(super) vectors: Vec<(u64, Kept)>,
}

impl View {
    /// The view of `searcher`, all of it read.
    pub(super) fn read(searcher: Searcher, fields: Fields) -> Result<Self, BoxError> {
        let mut view = Self {
            searcher: searcher.clone(),
            fields,
            heads: BTreeMap::new(),
            vectors: Vectors::default(),
            passages: 0,
            terms: 0,
            frequencies: Mutex::default(),
        };
        view.read_again(searcher)?;
        Ok(view)
    }

    /// Goes on to `searcher`, whatever changed. After an error it is what it was.
    pub(super) fn read_again(&mut self, searcher: Searcher) -> Result<(), BoxError> {
        let (fields, mut heads) = (self.fields, BTreeMap::new());
        each(&searcher, &fields.heads(), |at| {
            let head = fields.head(&at.entry()?)?;
            heads.insert(head.source.clone(), head);
            Ok(())
        })?;
        let passages = heads.values().map(|head: &Head| head.keys.len()).sum();
        if searcher.num_docs() != (passages + heads.len()) as u64 {
            return Err("its documents and its passages do not fit together".into());
        }
        let (mut new, mut all) = (Vec::new(), HashSet::new());
        each(&searcher, &fields.with_vector(), |at| {
            let key = at.key()?;
            if all.insert(key) && !self.vectors.has(key) {
                new.push((key, fields.vector(&at.entry()?)?));
            }
            Ok(())
        })?;
        self.vectors.retain(|key| all.contains(&key));
        new.iter().for_each(|(key, vector)| self.vectors.put(*key, vector));
        self.terms = heads.values().map(|head| head.terms).sum();
        (self.searcher, self.heads, self.passages) = (searcher, heads, passages);
        self.known().clear();
        Ok(())
    }

    /// Goes on to `searcher`, in which `changed` are other documents.
    pub(super) fn advance(&mut self, searcher: Searcher, changed: Vec<Changed>) {
        let count = |head: &Head| (head.keys.len(), head.terms);
        for Changed { source, head, vectors } in changed {
            let (passages, terms) = head.as_ref().map_or((0, 0), count);
            let old = match head {
                Some(head) => self.heads.insert(source, head),
                None => self.heads.remove(&source),
            };
            let gone = old.as_ref().map_or((0, 0), count);
            old.into_iter().flat_map(|old| old.keys).for_each(|key| self.vectors.remove(key));
            vectors.iter().for_each(|(key, vector)| self.vectors.put(*key, vector));
            self.passages = (self.passages + passages).saturating_sub(gone.0);
            self.terms = (self.terms + terms).saturating_sub(gone.1);
        }
        self.searcher = searcher;
        self.known().clear();
    }

    /// The passage at `place`.
    pub(super) fn passage(&self, place: Place) -> Result<Passage, BoxError> {
        // The searcher keeps what it opened for others.
        let entry = place.entry.map_or_else(|| self.entry(place.key), Ok)?;
        self.fields.passage(&self.searcher.doc(entry)?)
    }

    /// Where the passage of that key stands.
    fn entry(&self, key: u64) -> Result<DocAddress, BoxError> {
        let term = self.fields.keyed(key);
        for (ord, reader) in (0..).zip(self.searcher.segment_readers()) {
            let index = reader.inverted_index(term.field())?;
            let Some(mut found) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            while found.doc() != TERMINATED {
                if !reader.is_deleted(found.doc()) {
                    return Ok(DocAddress::new(ord, found.doc()));
                }
                found.advance();
            }
        }
        Err("a passage is gone".into())
    }

    /// The passages of `source` whose places are in `places`, in their order.
    pub(super) fn passages_of(
        &self,
        source: &str,
        places: &Range<usize>,
    ) -> Result<Vec<Passage>, BoxError> {
        let mut found = Vec::new();
        each(&self.searcher, &self.fields.of(source), |at| {
            if at.place()?.is_some_and(|place| places.contains(&place)) {
                found.push(self.fields.passage(&at.entry()?)?);
            }
            Ok(())
        })?;
        found.sort_by_key(|passage| passage.ordinal);
        Ok(found)
    }

    /// How many passages there are.
    pub(super) fn passages(&self) -> usize {
        self.passages
    }

    /// How many terms they have together.
    pub(super) fn terms(&self) -> u64 {
        self.terms
    }

    /// Whether nothing is removed that is not merged away.
    pub(super) fn is_whole(&self) -> bool {
        self.searcher.segment_readers().iter().all(|reader| !reader.has_deletes())
    }

    /// How many living passages have `term`.
    pub(super) fn frequency(&self, term: &Term) -> io::Result<u64> {
        let known = self.known().get(term).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let (mut sum, mut walked) = (0, false);
        for reader in self.searcher.segment_readers() {
            let index = reader.inverted_index(term.field()).map_err(io::Error::other)?;
            sum += match reader.alive_bitset() {
                None => u64::from(index.doc_freq(term)?),
                Some(alive) => {
                    let postings = index.read_postings(term, IndexRecordOption::Basic)?;
                    walked |= postings.is_some();
                    postings.map_or(0, |it| u64::from(it.doc_freq_given_deletes(alive)))
                }
            };
        }
        if walked {
            let mut known = self.known();
            if known.len() < FREQUENCIES {
                known.insert(term.clone(), sum);
            }
        }
        Ok(sum)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Term, u64>> {
        self.frequencies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An entry of the index.
struct At<'a> {
    reader: &'a SegmentReader,
    store: &'a StoreReader,
    doc: DocId,
}

impl At<'_> {
    fn entry(&self) -> Result<TantivyDocument, BoxError> {
        Ok(self.store.get(self.doc)?)
    }

    fn key(&self) -> Result<u64, BoxError> {
        let key = self.reader.fast_fields().u64(KEY)?.first(self.doc);
        key.ok_or_else(|| "a passage has no key".into())
    }

    fn place(&self) -> Result<Option<usize>, BoxError> {
        let place = self.reader.fast_fields().u64(PLACE)?.first(self.doc);
        Ok(place.and_then(|place| usize::try_from(place).ok()))
    }
}

/// Does something with every entry that has `term`.
fn each(
    searcher: &Searcher,
    term: &Term,
    mut work: impl FnMut(At<'_>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    for reader in searcher.segment_readers() {
        let index = reader.inverted_index(term.field())?;
        let Some(mut found) = index.read_postings(term, IndexRecordOption::Basic)? else {
            continue;
        };
        let store = reader.get_store_reader(1)?;
        while found.doc() != TERMINATED {
            if !reader.is_deleted(found.doc()) {
                work(At { reader, store: &store, doc: found.doc() })?;
            }
            found.advance();
        }
    }
    Ok(())
}

/// What BM25 has to know of an index. Tantivy's own count has what was removed and not merged away yet.
#[derive(Debug)]
pub(super) struct Statistics {
    pub(super) passages: usize,
    pub(super) terms: u64,
    pub(super) found: HashMap<Term, u64>,
}

impl Statistics {
    /// Whether any passage has `term`.
    pub(super) fn has(&self, term: &Term) -> bool {
        self.found.get(term).is_some_and(|found| *found > 0)
    }

    /// How many terms a passage has on average.
    pub(super) fn mean(&self) -> f32 {
        self.terms as f32 / self.passages.max(1) as f32
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.terms)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.passages as u64)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.found.get(term).copied().unwrap_or_default())
    }
}
