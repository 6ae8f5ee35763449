//! Opening a folder: what is in it is an index of ours, whole, or nothing.

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tantivy::{
    Directory, Index, IndexReader, ReloadPolicy, TantivyError,
    directory::{INDEX_WRITER_LOCK, MmapDirectory, error::LockError},
    index::SegmentComponent,
};

use super::{fields::Fields, view::View};
use crate::{
    error::{BoxError, RetrievalError},
    terms::Terms,
};

/// The file that says what the index is now. It is replaced as a whole.
const META: &str = "meta.json";

/// How often files are read again that are replaced before they are read.
const TRIES: usize = 50;

/// What a part of an index is made of, beside what is [stored](Fields::storing).
const PARTS: [SegmentComponent; 7] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::Delete,
];

/// The form of what this version writes.
const FORMAT: u32 = 2;

/// What every commit says of the index.
#[derive(Serialize, Deserialize)]
struct Label {
    hanok: u32,
    terms: String,
}

/// What a commit of an index with these terms says of it.
pub(super) fn label(terms: &Terms) -> Result<String, BoxError> {
    Ok(serde_json::to_string(&Label { hanok: FORMAT, terms: terms.named() })?)
}

/// An index that was opened.
pub(super) struct Opened {
    pub(super) index: Index,
    pub(super) reader: IndexReader,
    pub(super) view: View,
}

/// Opens the index in the folder `path`; `make` makes one where there is nothing.
pub(super) fn open(path: &Path, terms: &Terms, make: bool) -> Result<Opened, RetrievalError> {
    if make {
        fs::create_dir_all(path).map_err(|source| folder(path, source))?;
    } else if !path.is_dir() {
        return Err(RetrievalError::NoFolder { path: path.to_owned() });
    }
    beside_others(path, || {
        // What tantivy takes for impossible in its files, it may panic at.
        let opened = catch_unwind(AssertUnwindSafe(|| read(path, terms, make)));
        opened
            .unwrap_or_else(|_panic| Err("a file of the index cannot be read".into()))
            .map_err(|error| told(path, error))
    })
}

/// Does `work` with the files in the folder `path`, and does it again when it failed and they were replaced meanwhile: another
/// store that writes there removes what it needs no more.
pub(super) fn beside_others<T, E>(
    path: &Path,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut before = meta(path).ok();
    for _ in 0..TRIES {
        let done = work();
        let now = meta(path).ok();
        if done.is_ok() || before == now {
            return done;
        }
        before = now;
    }
    work()
}

/// What the index is now.
pub(super) fn meta(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path.join(META))
}

/// What a caller is told of `error`.
pub(super) fn told(path: &Path, error: BoxError) -> RetrievalError {
    let error = match error.downcast::<RetrievalError>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    let held =
        |error: &TantivyError| matches!(error, TantivyError::LockFailure(LockError::LockBusy, _));
    match error.downcast::<TantivyError>() {
        Ok(error) if held(&error) => RetrievalError::Held { path: path.to_owned() },
        Ok(error) if denied(&error) => RetrievalError::Unavailable(error),
        Ok(error) => unfit(path, error),
        Err(error) => unfit(path, error),
    }
}

fn unfit(path: &Path, source: BoxError) -> RetrievalError {
    match names(path).is_ok_and(|names| names.iter().all(|name| is_ours(name))) {
        true => RetrievalError::Damaged { path: path.to_owned(), source },
        false => RetrievalError::NoIndex { path: path.to_owned(), source },
    }
}

fn denied(error: &TantivyError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if kind == Some(io::ErrorKind::PermissionDenied) {
            return true;
        }
        cause = error.source();
    }
    format!("{error:?}").contains("PermissionDenied")
}

fn folder(path: &Path, source: io::Error) -> RetrievalError {
    RetrievalError::Folder { path: path.to_owned(), source }
}

fn read(path: &Path, terms: &Terms, make: bool) -> Result<Opened, BoxError> {
    let (fields, schema) = Fields::new();
    let directory = MmapDirectory::open(path).map_err(TantivyError::from)?;
    if make && !path.join(META).exists() {
        let made = fields.builder(schema.clone());
        // Of two that would make it, one does.
        let lock = directory.acquire_lock(&INDEX_WRITER_LOCK);
        let lock = lock.map_err(|error| TantivyError::LockFailure(error, None))?;
        if !path.join(META).exists() {
            if names(path)?.iter().any(|name| !is_beginning(name)) {
                return Err("there are files, and none says that they are an index".into());
            }
            made.open_or_create(directory.clone())?;
        }
        drop(lock);
    }
    let mut index = Index::open(directory)?;
    fields.storing().into_iter().for_each(|storing| index.register_plugin(Arc::new(storing)));
    // Nothing is stored there.
    index.settings_mut().docstore_compress_dedicated_thread = false;
    if index.schema() != schema {
        return Err("it has other fields than this version writes".into());
    }
    check(path, &index, fields, terms)?;
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let view = View::read(reader.searcher(), fields)?;
    Ok(Opened { index, reader, view })
}

/// Every file of the last commit is as it was written, and a version that can be read.
fn check(path: &Path, index: &Index, fields: Fields, terms: &Terms) -> Result<(), BoxError> {
    let metas = index.load_metas()?;
    let ours = index.directory().list_managed_files();
    if let Some(foreign) = ours.iter().find(|file| !file.to_str().is_some_and(is_ours)) {
        return Err(format!("it claims the file `{}`", foreign.display()).into());
    }
    match &metas.payload {
        Some(payload) => {
            let said: Label = serde_json::from_str(payload)?;
            if said.hanok != FORMAT {
                return Err(format!("it is of the form {}, and not {FORMAT}", said.hanok).into());
            }
            terms.fit(&said.terms)?;
        }
        None if metas.segments.is_empty() => {}
        None => return Err("it is not one of ours".into()),
    }
    for segment in &metas.segments {
        let stored = fields.storing().map(|storing| storing.component());
        for component in PARTS.into_iter().chain(stored) {
            let file: PathBuf = segment.relative_path(component.clone());
            let needed = match component {
                SegmentComponent::Delete => segment.has_deletes(),
                SegmentComponent::Custom(_) => true,
                _ => path.join(&file).exists(),
            };
            if needed && !index.directory().validate_checksum(&file).map_err(TantivyError::from)? {
                return Err(
                    format!("the file `{}` is not as it was written", file.display()).into()
                );
            }
        }
    }
    Ok(())
}

/// The names of what is in the folder `path`.
fn names(path: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(path)?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Whether a file of that name can be there before there is an index.
fn is_beginning(name: &str) -> bool {
    name.starts_with(".tantivy-") || name.starts_with(".tmp") || name == ".managed.json"
}

/// Whether a file of that name is one of an index.
fn is_ours(name: &str) -> bool {
    let of_segment =
        |(id, _): (&str, &str)| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_beginning(name) || name == META || name.split_once('.').is_some_and(of_segment)
}
