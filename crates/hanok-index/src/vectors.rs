//! The vectors of an index, in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hanok_checkpoint::Vector;
use hanok_retrieval::BoxError;
use tantivy::{DocId, Searcher, SegmentReader, TantivyDocument, index::SegmentId};

use crate::schema::Fields;

/// The vectors of each segment that was searched. A segment never changes: what is deleted is passed over.
#[derive(Debug, Default)]
pub(crate) struct Vectors(Mutex<HashMap<SegmentId, Arc<[Row]>>>);

/// The vector of a passage.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entry: DocId,
    pub(crate) source: String,
    pub(crate) ordinal: usize,
    pub(crate) vector: Vector,
}

impl Vectors {
    /// The rows of each segment of `searcher`, in its order. Those of new segments are read.
    pub(crate) fn of(
        &self,
        searcher: &Searcher,
        fields: Fields,
    ) -> Result<Vec<Arc<[Row]>>, BoxError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for segment in searcher.segment_readers() {
            let id = segment.segment_id();
            let rows = match known.get(&id) {
                Some(rows) => Arc::clone(rows),
                None => rows_of(segment, fields)?.into(),
            };
            all.push((id, rows));
        }
        known.clear();
        known.extend(all.iter().map(|(id, rows)| (*id, Arc::clone(rows))));
        Ok(all.into_iter().map(|(_, rows)| rows).collect())
    }
}

fn rows_of(segment: &SegmentReader, fields: Fields) -> Result<Vec<Row>, BoxError> {
    let store = segment.get_store_reader(1)?;
    let mut rows = Vec::new();
    for entry in segment.doc_ids_alive() {
        let stored: TantivyDocument = store.get(entry)?;
        if let Some(vector) = fields.vector(&stored)? {
            let passage = fields.passage(&stored)?;
            rows.push(Row { entry, source: passage.source, ordinal: passage.ordinal, vector });
        }
    }
    Ok(rows)
}
