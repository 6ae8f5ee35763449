//! An index at one moment, as searches see it.

use std::{
    collections::{BTreeMap, HashSet},
    hash::{Hash, Hasher},
    ops::Range,
};

use tantivy::{DocAddress, DocId, DocSet, Searcher, TERMINATED, Term, schema::IndexRecordOption};

use super::{
    fields::{Fields, Head, PLACE},
    lists::Lists,
    parts::{Part, Parts},
    vectors::{Kept, Vectors},
};
use crate::{document::Passage, error::BoxError, kept};

/// One commit.
#[derive(Debug)]
pub(super) struct View {
    pub(super) fields: Fields,
    /// The documents by their source.
    pub(super) heads: BTreeMap<String, Head>,
    pub(super) vectors: Vectors,
    pub(super) parts: Parts,
    pub(super) lists: Lists,
    passages: usize,
    terms: u64,
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
            parts: Parts::default(),
            lists: Lists::default(),
            fields,
            heads: BTreeMap::new(),
            vectors: Vectors::default(),
            passages: 0,
            terms: 0,
        };
        view.read_again(searcher)?;
        Ok(view)
    }

    /// Goes on to `searcher`, whatever changed. After an error it is what it was.
    pub(super) fn read_again(&mut self, searcher: Searcher) -> Result<(), BoxError> {
        let (fields, mut heads) = (self.fields, BTreeMap::new());
        let parts = Parts::of(&searcher, fields, &self.parts.parts)?;
        each(&parts, &fields.heads(), |at| {
            let head = Head::read(at.part.bodies.of(at.doc))?;
            heads.insert(head.source.clone(), head);
            Ok(())
        })?;
        let passages = heads.values().map(|head: &Head| head.keys.len()).sum();
        if searcher.num_docs() != (passages + heads.len()) as u64 {
            return Err("its documents and its passages do not fit together".into());
        }
        let (mut new, mut all) = (Vec::new(), HashSet::new());
        each(&parts, &fields.with_vector(), |at| {
            let key = at.key()?;
            if all.insert(key) && !self.vectors.has(key) {
                new.push((key, Kept::from_bytes(at.part.vectors.of(at.doc))?));
            }
            Ok(())
        })?;
        self.vectors.retain(|key| all.contains(&key));
        new.iter().for_each(|(key, vector)| self.vectors.put(*key, vector));
        self.terms = heads.values().map(|head| head.terms).sum();
        (self.parts, self.heads, self.passages) = (parts, heads, passages);
        Ok(())
    }

    /// Goes on to `searcher`, in which `changed` are other documents. After an error it is what it was.
    pub(super) fn advance(
        &mut self,
        searcher: Searcher,
        changed: Vec<Changed>,
    ) -> Result<(), BoxError> {
        let parts = Parts::of(&searcher, self.fields, &self.parts.parts)?;
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
        self.parts = parts;
        Ok(())
    }

    /// The passage at `place`.
    pub(super) fn passage(&self, place: Place) -> Result<Passage, BoxError> {
        let known = place.entry.or_else(|| self.parts.entry(place.key));
        let entry = known.ok_or("a passage is gone")?;
        kept::unpack(self.parts.body(entry)?)
    }

    /// The passages of `source` whose places are in `places`, in their order.
    pub(super) fn passages_of(
        &self,
        source: &str,
        places: &Range<usize>,
    ) -> Result<Vec<Passage>, BoxError> {
        let mut found = Vec::new();
        each(&self.parts, &self.fields.of(source), |at| {
            if at.place()?.is_some_and(|place| places.contains(&place)) {
                found.push(kept::unpack(at.part.bodies.of(at.doc))?);
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

    /// How many terms they have on average.
    pub(super) fn mean(&self) -> f32 {
        self.terms as f32 / self.passages.max(1) as f32
    }
}

/// An entry of the index.
struct At<'a> {
    part: &'a Part,
    doc: DocId,
}

impl At<'_> {
    fn key(&self) -> Result<u64, BoxError> {
        self.part.key(self.doc).ok_or_else(|| "a passage has no key".into())
    }

    fn place(&self) -> Result<Option<usize>, BoxError> {
        let place = self.part.reader.fast_fields().u64(PLACE)?.first(self.doc);
        Ok(place.and_then(|place| usize::try_from(place).ok()))
    }
}

/// Does something with every entry of `parts` that has `term`.
fn each(
    parts: &Parts,
    term: &Term,
    mut work: impl FnMut(At<'_>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    for part in &parts.parts {
        let index = part.reader.inverted_index(term.field())?;
        let Some(mut found) = index.read_postings(term, IndexRecordOption::Basic)? else {
            continue;
        };
        while found.doc() != TERMINATED {
            if !part.reader.is_deleted(found.doc()) {
                work(At { part, doc: found.doc() })?;
            }
            found.advance();
        }
    }
    Ok(())
}
