//! Bytes that a part of an index keeps for each of its entries, in a file of their own.
//!
//! First come the bytes of all entries, then, for each, where its bytes end: 8 bytes, the lowest first. So an entry is read
//! where it stands, however large the file is, and whatever else is kept for it stands elsewhere.

use std::{any::Any, fmt, io, io::Write, ops::Range, slice};

use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, Segment, SegmentPlugin,
    TantivyDocument, TantivyError,
    directory::{OwnedBytes, TerminatingWrite, WritePtr},
    error::DataCorruption,
    index::{SegmentComponent, SegmentReader},
    indexer::DocIdMapping,
    schema::{Field, Schema, Value, document::ErasedDocument},
};

/// How many bytes an end takes.
const END: usize = size_of::<u64>();

/// Writes what the entries have in one field, and merges it.
#[derive(Debug)]
pub(super) struct Storing {
    pub(super) field: Field,
    /// The end of the file's name.
    pub(super) name: &'static str,
}

/// What is stored for the entries of one part.
pub(super) struct Stored {
    bytes: OwnedBytes,
    ends: OwnedBytes,
}

/// A file that is being written.
struct File {
    file: WritePtr,
    end: u64,
    ends: Vec<u8>,
}

/// Writes the entries of a new part as they come.
struct Writing {
    field: Field,
    file: File,
}

impl Storing {
    pub(super) fn component(&self) -> SegmentComponent {
        SegmentComponent::Custom(self.name.to_owned())
    }

    /// What is stored in the part of `reader`.
    pub(super) fn open(&self, reader: &SegmentReader) -> tantivy::Result<Stored> {
        let file = reader.open_read(self.component())?.read_bytes()?;
        let ends = (reader.max_doc() as usize).saturating_mul(END);
        let middle = file.len().checked_sub(ends).ok_or_else(|| damaged("is too short"))?;
        let (bytes, ends) = file.split(middle);
        let stored = Stored { bytes, ends };
        match stored.ends().is_sorted() && stored.ends().last().unwrap_or(0) == middle {
            true => Ok(stored),
            false => Err(damaged("has entries that end nowhere")),
        }
    }
}

impl SegmentPlugin for Storing {
    fn extensions(&self) -> &[&str] {
        slice::from_ref(&self.name)
    }

    fn create_writer(
        &self,
        to: &PluginWriterContext<'_>,
    ) -> tantivy::Result<Box<dyn PluginWriter>> {
        let file = File::new(to.segment.open_write(self.component())?);
        Ok(Box::new(Writing { field: self.field, file }))
    }

    fn merge(&self, merge: PluginMergeContext<'_>) -> tantivy::Result<()> {
        if merge.settings.sort_by_field.is_some() {
            return Err(sorted());
        }
        let mut file = File::new(merge.target_segment.open_write(self.component())?);
        for reader in merge.readers {
            let stored = self.open(reader)?;
            reader.doc_ids_alive().try_for_each(|doc| file.put(stored.of(doc)))?;
        }
        Ok(file.close()?)
    }
}

impl PluginWriter for Writing {
    fn add_document(
        &mut self,
        _: DocId,
        entry: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        let entry = entry.as_any().downcast_ref::<TantivyDocument>();
        let value = entry.and_then(|entry| entry.get_first(self.field));
        Ok(self.file.put(value.and_then(|value| value.as_bytes()).unwrap_or_default())?)
    }

    fn serialize(
        self: Box<Self>,
        _: &Segment,
        order: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        match order {
            None => Ok(self.file.close()?),
            Some(_) => Err(sorted()),
        }
    }

    fn mem_usage(&self) -> usize {
        self.file.ends.capacity()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl File {
    fn new(file: WritePtr) -> Self {
        Self { file, end: 0, ends: Vec::new() }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        self.ends.extend(self.end.to_le_bytes());
        Ok(())
    }

    fn close(mut self) -> io::Result<()> {
        self.file.write_all(&self.ends)?;
        self.file.terminate()
    }
}

impl Stored {
    /// The bytes of an entry; none where nothing is stored for it.
    pub(super) fn of(&self, doc: DocId) -> &[u8] {
        let doc = doc as usize;
        let begin = doc.checked_sub(1).map_or(Some(0), |before| self.end(before));
        let range: Option<Range<usize>> = begin.zip(self.end(doc)).map(|(begin, end)| begin..end);
        range.and_then(|range| self.bytes.get(range)).unwrap_or_default()
    }

    fn end(&self, doc: usize) -> Option<usize> {
        end(self.ends.get(doc * END..)?.first_chunk()?)
    }

    /// Where the entries end; a number that is too large for this machine is no end.
    fn ends(&self) -> impl Iterator<Item = usize> {
        self.ends.as_chunks().0.iter().map(|bytes| end(bytes).unwrap_or(usize::MAX))
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

fn end(bytes: &[u8; END]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes)).ok()
}

fn damaged(what: &str) -> TantivyError {
    DataCorruption::comment_only(format!("what is stored {what}")).into()
}

fn sorted() -> TantivyError {
    TantivyError::InvalidArgument("the entries of an index of ours are not sorted".into())
}
