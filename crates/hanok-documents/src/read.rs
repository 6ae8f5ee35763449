//! One file: read, decoded and split, or known from the last time.

use std::{
    fs::File,
    io::{self, Read},
    sync::Arc,
    time::{Duration, SystemTime},
};

use hanok_retrieval::{Document, Passage, backend::of_file};

use crate::{
    deadline, decode,
    options::LoadOptions,
    reader::{FileReader, FileText},
    skip::{SkipReason, unreadable},
    walk::Found,
};

/// What is known of a file since it was last read.
#[derive(Debug)]
pub(crate) struct Known {
    len: u64,
    /// `None` when a later write could bear the same time.
    modified: Option<SystemTime>,
    hash: Option<blake3::Hash>,
    pub(crate) outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Document { document: Document, passages: Vec<Passage> },
    Skipped(SkipReason),
}

/// File systems keep times this coarsely (FAT does); what was written this close to being read can be
/// written again without its time showing it.
const COARSEST: Duration = Duration::from_secs(2);

impl Known {
    /// Reads `file`, or keeps `old` where it is the same. `fits` says whether so many bytes of text may
    /// still be added.
    pub(crate) fn read(
        file: &Found,
        old: Option<Self>,
        options: &LoadOptions,
        fits: impl Fn(usize) -> Result<(), SkipReason>,
    ) -> Self {
        let old = old.map(|old| old.within(&fits));
        let same_stamp = |old: &Self| {
            old.len == file.len && old.modified.is_some() && old.modified == file.modified
        };
        match old {
            Some(Ok(old)) if same_stamp(&old) => old,
            Some(Ok(old)) => Self::reread(file, Some(old), options, &fits),
            _ => Self::reread(file, None, options, &fits),
        }
    }

    /// Whether what is known can stay under the limit; `Err` to read it again now that it fits.
    fn within(mut self, fits: impl Fn(usize) -> Result<(), SkipReason>) -> Result<Self, ()> {
        match &self.outcome {
            Outcome::Document { document, .. } => {
                if let Err(reason) = fits(document.text.len()) {
                    self.outcome = Outcome::Skipped(reason);
                }
                Ok(self)
            }
            Outcome::Skipped(SkipReason::TextBudget { bytes, .. }) => match fits(*bytes) {
                Ok(()) => Err(()),
                Err(reason) => Ok(Self { outcome: Outcome::Skipped(reason), ..self }),
            },
            Outcome::Skipped(_) => Ok(self),
        }
    }

    fn reread(
        file: &Found,
        old: Option<Self>,
        options: &LoadOptions,
        fits: &impl Fn(usize) -> Result<(), SkipReason>,
    ) -> Self {
        let now = SystemTime::now();
        let settled = |time: &SystemTime| now.duration_since(*time).is_ok_and(|age| age > COARSEST);
        let (len, modified) = (file.len, file.modified.filter(settled));
        let bytes = match contents(file, options.max_file_bytes) {
            Ok(bytes) => bytes,
            Err(reason) => {
                // What the system refuses once it may give the next time: no stamp.
                return Self { len, modified: None, hash: None, outcome: Outcome::Skipped(reason) };
            }
        };
        let content = blake3::hash(&bytes);
        let hash = Some(content);
        let outcome = match old {
            Some(old) if old.hash == hash => old.outcome,
            _ => Outcome::of(file, content, bytes, options, fits),
        };
        Self { len, modified, hash, outcome }
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        match &self.outcome {
            Outcome::Document { document, .. } => Some(document),
            Outcome::Skipped(_) => None,
        }
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.document().map(|document| document.id.as_str())
    }

    pub(crate) fn passages(&self) -> &[Passage] {
        match &self.outcome {
            Outcome::Document { passages, .. } => passages,
            Outcome::Skipped(_) => &[],
        }
    }
}

impl Outcome {
    fn of(
        file: &Found,
        hash: blake3::Hash,
        bytes: Vec<u8>,
        options: &LoadOptions,
        fits: &impl Fn(usize) -> Result<(), SkipReason>,
    ) -> Self {
        match document(file, hash, bytes, options) {
            Ok(document) => match fits(document.text.len()) {
                Ok(()) => {
                    let passages = options.splitter.split(&document);
                    Self::Document { document, passages }
                }
                Err(reason) => Self::Skipped(reason),
            },
            Err(reason) => Self::Skipped(reason),
        }
    }
}

/// The bytes of `file`, which may have grown since it was listed.
pub(crate) fn contents(file: &Found, limit: u64) -> Result<Vec<u8>, SkipReason> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(&file.path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|cause| unreadable(&cause))?;
    if bytes.len() as u64 > limit { Err(SkipReason::TooLarge { limit }) } else { Ok(bytes) }
}

pub(crate) fn document(
    file: &Found,
    hash: blake3::Hash,
    bytes: Vec<u8>,
    options: &LoadOptions,
) -> Result<Document, SkipReason> {
    let FileText { text, pages, title } = text_of(file.reader.as_ref(), bytes, options)?;
    if text.trim().is_empty() {
        return Err(SkipReason::Empty);
    }
    let mut document = of_file(hash.to_hex().to_string(), file.source.clone(), text, pages);
    // A heading in the text says more than the title of a page's head.
    let headed = document.text.lines().any(|line| line.starts_with("# "));
    if let Some(title) = title.filter(|_| !headed) {
        document.title = title;
    }
    document.modified = file.modified;
    Ok(document)
}

fn text_of(
    reader: Option<&Arc<dyn FileReader>>,
    bytes: Vec<u8>,
    options: &LoadOptions,
) -> Result<FileText, SkipReason> {
    let Some(reader) = reader else { return Ok(FileText::new(decode::decode(&bytes)?)) };
    let (reader, limits) = (Arc::clone(reader), options.clone());
    let read = move |deadline| reader.read(bytes, &limits, deadline);
    deadline::within(options.max_decode_time, read)
}
