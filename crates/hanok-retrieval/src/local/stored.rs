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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tantivy::{Directory, Index, IndexWriter, directory::RamDirectory, indexer::NoMergePolicy};

    use super::{super::fields::Fields, *};
    use crate::{document::Document, split::Splitter, terms::Terms};

    /// The bodies of all entries that are left, sorted: parts have no order.
    fn bodies(index: &Index, fields: Fields) -> Vec<Vec<u8>> {
        let searcher = index.reader().unwrap().searcher();
        let of = |reader: &SegmentReader| {
            let stored = fields.bodies().open(reader).unwrap();
            assert!(stored.of(reader.max_doc()).is_empty(), "there is no such entry");
            reader.doc_ids_alive().map(|doc| stored.of(doc).to_vec()).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = searcher.segment_readers().iter().flat_map(of).collect();
        all.sort();
        all
    }

    fn put(writer: &IndexWriter, fields: Fields, source: &str) -> Vec<Vec<u8>> {
        let passages = Splitter::new().split(&Document::new(source, source.repeat(900)));
        let entries = fields.entries(&passages, &Terms::Words).unwrap().unwrap().entries;
        let body = |entry: &TantivyDocument| {
            entry.get_first(fields.bodies().field).unwrap().as_bytes().unwrap().to_vec()
        };
        let bodies = entries.iter().map(body).collect();
        for entry in entries {
            writer.add_document(entry).unwrap();
        }
        bodies
    }

    #[test]
    fn what_was_put_is_read_after_merges_too_and_what_was_removed_is_not() {
        let (fields, schema) = Fields::new();
        let index = fields.builder(schema).create_in_ram().unwrap();
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut all = Vec::new();
        for commit in 0..3 {
            let sources = ["a", "b", "c"].map(|name| format!("{name}{commit}.md "));
            all.push(sources.map(|source| put(&writer, fields, &source)));
            writer.commit().unwrap();
        }
        let is = |all: &[[Vec<Vec<u8>>; 3]]| {
            let mut want = all.as_flattened().concat();
            want.sort();
            assert!(bodies(&index, fields) == want, "{} bodies", want.len());
        };
        is(&all);
        writer.delete_term(fields.of("b1.md "));
        writer.commit().unwrap();
        all[1][1].clear();
        is(&all);
        let parts = index.searchable_segment_ids().unwrap();
        writer.merge(&parts).wait().unwrap();
        assert_eq!(index.searchable_segment_ids().unwrap().len(), 1);
        is(&all);
    }

    /// Even where the sums over files say that these are as they were written.
    #[test]
    fn a_table_that_says_nonsense_is_an_error() {
        let (fields, schema) = Fields::new();
        let directory = RamDirectory::create();
        let index = fields.builder(schema).open_or_create(directory.clone()).unwrap();
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        put(&writer, fields, "a.md");
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        let reader = searcher.segment_reader(0);
        let entries = reader.max_doc() as usize;
        assert!(entries > 1);
        let far = [&[0; 8][..], &[0xFF; 8].repeat(entries)].concat();
        let falling =
            [&vec![7; 8 * entries][..], &8_u64.to_le_bytes(), &[0; 8].repeat(entries - 1)];
        for broken in [vec![0; 8 * entries - 1], far, falling.concat()] {
            let name = reader.segment_id().uuid_string() + ".body";
            let path = Path::new(&name);
            drop(directory.delete(path));
            let mut file = index.directory().open_write(path).unwrap();
            file.write_all(&broken).unwrap();
            file.terminate().unwrap();
            let error = fields.bodies().open(reader).map(drop).unwrap_err();
            assert!(matches!(error, TantivyError::DataCorruption(_)), "{error}");
        }
    }
}
