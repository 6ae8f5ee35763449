//! The documents, searched without a model.

use std::path::{Path, PathBuf};

use hanok_documents::Library;
use hanok_retrieval::{Query, RetrievalError, Retriever, SharedRetriever};
use kit::{
    Meaning,
    failure::Failure,
    load_options,
    meaning::searched,
    passages::{few, observation},
};

use crate::store::StoreOptions;

/// The folder of the documents (`None`: the samples, where the example was built).
pub(crate) fn folder(given: Option<&Path>) -> PathBuf {
    let samples = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("rag").join("documents");
    given.map_or_else(samples, Path::to_owned)
}

/// The documents of `folder`, in the store that `store` names, found by their words and, with a `meaning`, by that too.
pub(crate) async fn open(
    folder: &Path,
    store: &StoreOptions,
    meaning: Option<Meaning>,
) -> Result<SharedRetriever, Failure> {
    let library = Library::open(load_options(), folder);
    let library = library.map_err(|error| Failure::unreadable("문서를", error))?;
    searched(&library, store.open().await?, meaning).await
}

/// The passages that fit `question`, and where they are from. Where none does, it is searched together with `before`, what was
/// asked before.
pub(crate) async fn search(
    documents: &SharedRetriever,
    question: &str,
    before: Option<&str>,
) -> Result<(String, Vec<String>), RetrievalError> {
    let ask = |text: String| async move { documents.search(&few(Query::new(&text))).await };
    let mut hits = ask(question.to_owned()).await?;
    if let (true, Some(before)) = (hits.is_empty(), before) {
        hits = ask(format!("{before} {question}")).await?;
    }
    let sources = hits.iter().map(|hit| hit.passage.source.to_string()).collect();
    Ok((observation(question, &hits), sources))
}
