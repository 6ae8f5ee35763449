use std::{
    collections::{BTreeMap, btree_map},
    path::{Path, PathBuf},
    sync::Arc,
};

use hanok_retrieval::{
    Changes, Document, Hit, MIN_COVERAGE, MemoryIndex, Query, RetrievalError, Retriever,
};

use crate::{
    error::LoadError,
    options::LoadOptions,
    read::{Known, Outcome},
    skip::{SkipReason, Skipped},
    walk::walk,
};

/// A folder of documents, read, split and indexed in this process.
///
/// ```
/// use hanok_documents::{Library, LoadOptions};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("인사규정.md"), "# 인사규정\n\n연차휴가는 연 15일이다.\n")?;
///
/// let library = Library::open(LoadOptions::new(), folder.path())?;
/// assert_eq!(library.report().documents, 1);
///
/// let hits = library.search("휴가는 며칠이야?", 3);
/// assert_eq!(hits[0].passage.source, "인사규정.md");
/// assert!(library.search("weather in Busan", 3).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Library {
    folder: PathBuf,
    options: LoadOptions,
    known: BTreeMap<String, Known>,
    index: Arc<MemoryIndex>,
    report: LoadReport,
}

/// What a library holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadReport {
    /// How many documents.
    pub documents: usize,
    /// How many passages they were split into.
    pub passages: usize,
    /// What was left out and why, in the order of the paths.
    pub skipped: Vec<Skipped>,
}

impl Library {
    /// Reads every `.txt` and `.md` file below `folder`, and those of the [readers](LoadOptions::reader).
    ///
    /// Blocks until all is read: call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`LoadError`], which says what is wrong with the folder. A file
    /// that cannot be used is not an error; it is in the [`report`](Self::report).
    pub fn open(options: LoadOptions, folder: impl AsRef<Path>) -> Result<Self, LoadError> {
        let mut library = Self {
            folder: folder.as_ref().to_owned(),
            index: Arc::new(MemoryIndex::new([], options.terms.clone())),
            options,
            known: BTreeMap::new(),
            report: LoadReport::default(),
        };
        library.refresh()?;
        Ok(library)
    }

    /// Reads what has changed in the folder since it was last read.
    ///
    /// A file of the same size and time is taken as unchanged, unless it was written within two seconds of
    /// being read, when its time says nothing yet. Any other is read, and decoded if its hash is new.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open). The library is then as it was.
    pub fn refresh(&mut self) -> Result<Changes, LoadError> {
        let found = walk(&self.folder, &self.options)?;
        let mut before = std::mem::take(&mut self.known);
        let mut skipped = found.skipped;
        let mut changes = Changes::default();
        let mut budget = Budget { limit: self.options.max_text_bytes, used: 0 };

        for file in found.files {
            let old = before.remove(&file.source);
            let was = old.as_ref().and_then(Known::id).map(str::to_owned);
            let known = Known::read(&file, old, &self.options, |bytes| budget.fits(bytes));
            match &known.outcome {
                Outcome::Document { document, .. } => {
                    budget.used += document.text.len();
                    count(&mut changes, was.as_deref(), Some(&document.id));
                }
                Outcome::Skipped(reason) => {
                    count(&mut changes, was.as_deref(), None);
                    skipped.push(Skipped { path: file.source.clone(), reason: reason.clone() });
                }
            }
            self.known.insert(file.source, known);
        }
        changes.removed += before.values().filter(|known| known.id().is_some()).count();
        changes.skipped = skipped.len();
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        self.publish(skipped, changes);
        Ok(changes)
    }

    fn publish(&mut self, skipped: Vec<Skipped>, changes: Changes) {
        if changes.added + changes.changed + changes.removed > 0 {
            let passages = self.known.values().flat_map(Known::passages).cloned();
            Arc::make_mut(&mut self.index).update(passages);
        }
        self.report = LoadReport {
            documents: self.documents().count(),
            passages: self.index.passages().len(),
            skipped,
        };
    }

    /// The folder it was opened on.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was read and what was left out.
    #[must_use]
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// The documents, in the order of their sources.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        let known: btree_map::Values<'_, String, Known> = self.known.values();
        known.filter_map(Known::document)
    }

    /// The index as it is now. It stays as it is when the library is refreshed, so searches need not wait
    /// for a refresh.
    #[must_use]
    pub fn index(&self) -> Arc<MemoryIndex> {
        Arc::clone(&self.index)
    }

    /// At most `k` passages that fit `question`, the best first; none when no passage covers
    /// [`MIN_COVERAGE`] of it, so a question about nothing in the documents mostly finds nothing.
    #[must_use]
    pub fn search(&self, question: &str, k: usize) -> Vec<Hit> {
        self.index.find(&Query::new(question).limit(k).min_coverage(MIN_COVERAGE))
    }
}

impl Retriever for Library {
    /// Searches with the query's own settings.
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        Retriever::search(&*self.index, query).await
    }
}

fn count(changes: &mut Changes, was: Option<&str>, is: Option<&str>) {
    let counter = match (was, is) {
        (None, Some(_)) => &mut changes.added,
        (Some(_), None) => &mut changes.removed,
        (Some(was), Some(is)) if was != is => &mut changes.changed,
        (Some(_), Some(_)) => &mut changes.unchanged,
        (None, None) => return,
    };
    *counter += 1;
}

/// What is left for texts.
#[derive(Debug, Clone, Copy)]
struct Budget {
    limit: usize,
    used: usize,
}

impl Budget {
    fn fits(self, bytes: usize) -> Result<(), SkipReason> {
        let Self { limit, used } = self;
        if bytes <= limit.saturating_sub(used) {
            Ok(())
        } else {
            Err(SkipReason::TextBudget { bytes, limit })
        }
    }
}
