//! Opening a folder: what is in it is an index of this crate, whole, or nothing.

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use hanok_retrieval::{BoxError, RetrievalError, Terms};
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, TantivyError,
    directory::error::LockError, schema::Schema,
};

/// The file that says what the index is now. It is replaced as a whole.
const META: &str = "meta.json";

/// tantivy's list of the files that are its own, and that it removes once it needs them no more.
const MANAGED: &str = ".managed.json";

/// How often files are read again that are replaced while they are read.
const TRIES: usize = 50;

/// The memory in which changes are put together, in bytes.
const BUFFER: usize = 50_000_000;

/// The form of what this version writes.
const FORMAT: u32 = 3;

/// What every commit says of the index.
#[derive(Serialize, Deserialize)]
struct Label {
    hanok: u32,
    terms: String,
}

/// An index, opened.
pub(crate) struct Opened {
    pub(crate) reader: IndexReader,
    /// `None` where it is only read.
    pub(crate) writer: Option<IndexWriter>,
}

/// Opens the index of `schema` in the folder `path`. One that is written is made where there is nothing.
pub(crate) fn open(
    path: &Path,
    schema: &Schema,
    terms: &Terms,
    read_only: bool,
) -> Result<Opened, RetrievalError> {
    let folder = |source| RetrievalError::Folder { path: path.to_owned(), source };
    let damaged = |source| RetrievalError::Damaged { path: path.to_owned(), source };
    if read_only && !path.is_dir() {
        return Err(RetrievalError::NoFolder { path: path.to_owned() });
    }
    fs::create_dir_all(path).map_err(folder)?;
    let is_index = is_index(path).map_err(|source| match source {
        Unfit::Folder(source) => folder(source),
        Unfit::Files(source) => RetrievalError::NoIndex { path: path.to_owned(), source },
    })?;
    if read_only && !is_index {
        return Err(damaged("there is no index in it yet".into()));
    }
    only_own_files(path).map_err(damaged)?;
    let index = match is_index {
        true => beside_writers(path, || whole(path, schema)).map_err(damaged)?,
        false => {
            let settings = IndexSettings::default();
            let made = Index::builder().schema(schema.clone()).settings(settings);
            made.create_in_dir(path).map_err(|error| damaged(error.into()))?
        }
    };
    let writer = match read_only {
        true => None,
        false => Some(index.writer_with_num_threads(1, BUFFER).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => {
                RetrievalError::Held { path: path.to_owned() }
            }
            error => damaged(error.into()),
        })?),
    };
    let mut opened =
        Opened { reader: reader(&index).map_err(|error| damaged(error.into()))?, writer };
    let payload = index.load_metas().map_err(|error| damaged(error.into()))?.payload;
    match (payload, &mut opened.writer) {
        (Some(payload), _) => {
            let label: Label =
                serde_json::from_str(&payload).map_err(|error| damaged(error.into()))?;
            if label.hanok != FORMAT {
                return Err(damaged("it was written by another version".into()));
            }
            terms.fit(&label.terms)?;
        }
        (None, Some(writer)) => commit(writer, terms).map_err(damaged)?,
        (None, None) => return Err(damaged("there is no index in it yet".into())),
    }
    Ok(opened)
}

/// Commits what `writer` holds.
pub(crate) fn commit(writer: &mut IndexWriter, terms: &Terms) -> Result<(), BoxError> {
    let label = serde_json::to_string(&Label { hanok: FORMAT, terms: terms.named() })?;
    let mut prepared = writer.prepare_commit()?;
    prepared.set_payload(&label);
    prepared.commit()?;
    Ok(())
}

fn reader(index: &Index) -> tantivy::Result<IndexReader> {
    index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()
}

/// Why a folder is not taken.
enum Unfit {
    Folder(io::Error),
    /// It holds the files of something else.
    Files(BoxError),
}

/// Whether there is an index in the folder, and not nothing.
fn is_index(path: &Path) -> Result<bool, Unfit> {
    let mut is_empty = true;
    for entry in fs::read_dir(path).map_err(Unfit::Folder)? {
        let name = entry.map_err(Unfit::Folder)?.file_name();
        // A lock is left where nothing was made.
        is_empty &= name.to_string_lossy().ends_with(".lock");
    }
    if is_empty {
        return Ok(false);
    }
    let meta = fs::read(path.join(META)).map_err(|error| Unfit::Files(error.into()))?;
    let is_ours = |meta: &serde_json::Value| meta.get("segments").is_some();
    match serde_json::from_slice(&meta) {
        Ok(meta) if is_ours(&meta) => Ok(true),
        // Cut off or overwritten in part, it is still an index, and damaged.
        Err(_) if path.join(MANAGED).exists() => Ok(true),
        _ => Err(Unfit::Files(format!("`{META}` is none of an index").into())),
    }
}

/// Refuses a list of files with the name of another one: tantivy would remove it.
fn only_own_files(path: &Path) -> Result<(), BoxError> {
    let list = match fs::read(path.join(MANAGED)) {
        Ok(list) => list,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let names: Vec<String> = serde_json::from_slice(&list)?;
    let is_own = |name: &String| {
        let (stem, _) = name.split_once('.').unwrap_or((name, ""));
        name == META || (stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    match names.iter().find(|name| !is_own(name)) {
        Some(other) => {
            Err(format!("`{MANAGED}` lists `{other}`, which is no file of an index").into())
        }
        None => Ok(()),
    }
}

/// The index in the folder, all of whose files are whole.
fn whole(path: &Path, schema: &Schema) -> Result<Index, BoxError> {
    let read = || -> Result<Index, BoxError> {
        let index = Index::open_in_dir(path)?;
        if index.schema() != *schema {
            return Err("it has other fields".into());
        }
        if let Some(damaged) = index.validate_checksum()?.into_iter().next() {
            return Err(format!("`{}` is damaged", damaged.display()).into());
        }
        reader(&index)?;
        Ok(index)
    };
    // What tantivy takes for impossible in its files, it may panic at.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_panic| Err("a file cannot be read".into()))
}

/// Does `work` again when it failed and the files were replaced meanwhile: another store that writes removes what it needs no
/// more.
pub(crate) fn beside_writers<T, E>(path: &Path, work: impl Fn() -> Result<T, E>) -> Result<T, E> {
    let meta = || fs::read(path.join(META)).ok();
    let mut before = meta();
    for _ in 0..TRIES {
        let done = work();
        let now = meta();
        if done.is_ok() || before == now {
            return done;
        }
        before = now;
    }
    work()
}
