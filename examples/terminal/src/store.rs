//! The store that documents are searched in, as the command line names it.

use std::path::PathBuf;

use hanok_retrieval::{RetrievalError, SharedDocumentStore, StoreKind, StoreSettings, Terms};

use crate::failure::Failure;

/// The variable that names the server of a store where the option does not. A password is not for a command line.
const URL: &str = "STORE_URL";

/// The options of a program that searches documents.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct StoreOptions {
    #[arg(long, value_name = "NAME", default_value_t = StoreKind::Memory, help = kinds())]
    #[expect(missing_docs, reason = "its help names the stores of this build")]
    pub store: StoreKind,

    /// The folder of a store in files (`--store local`)
    #[arg(long, value_name = "FOLDER")]
    pub index: Option<PathBuf>,

    /// The server of the stores `opensearch` and `pgvector` [default: the variable STORE_URL]
    #[arg(long, value_name = "URL")]
    pub store_url: Option<String>,
}

/// The help of `--store`.
fn kinds() -> String {
    let names: Vec<_> = StoreKind::ALL.iter().map(|kind| kind.name()).collect();
    format!("The store that is searched in, of this build: {}", names.join(", "))
}

impl StoreOptions {
    /// Opens the store, whose texts are read by `terms`. `what` is what it holds, with its particle: `문서를`.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] when the store needs an option that is missing, else [`Failure::Unreadable`].
    pub async fn open(
        &self,
        terms: Terms,
        what: &'static str,
    ) -> Result<SharedDocumentStore, Failure> {
        let url = || std::env::var(URL).ok().filter(|url| !url.is_empty());
        self.open_at(self.store_url.clone().or_else(url), terms, what).await
    }

    async fn open_at(
        &self,
        url: Option<String>,
        terms: Terms,
        what: &'static str,
    ) -> Result<SharedDocumentStore, Failure> {
        let settings = StoreSettings::new().terms(terms);
        let settings = match &self.index {
            Some(folder) => settings.path(folder),
            None => settings,
        };
        let settings = url.into_iter().fold(settings, StoreSettings::url);
        self.store.open(&settings).await.map_err(|error| match error {
            RetrievalError::Setting { store, setting: "path" } => Failure::Usage(format!(
                "저장소 {store}에는 폴더가 있어야 합니다. --index 폴더를 주세요."
            )),
            RetrievalError::Setting { store, setting: "url" } => Failure::Usage(format!(
                "저장소 {store}에는 서버가 있어야 합니다. --store-url 주소나 환경 변수 {URL}을 주세요."
            )),
            error => Failure::unreadable(what, error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every store of this build opens, or says with which option it would.
    #[tokio::test]
    async fn a_store_that_is_offered_takes_its_settings() {
        for kind in StoreKind::ALL {
            let options = StoreOptions { store: *kind, ..StoreOptions::default() };
            let opened = options.open_at(None, Terms::Bigrams, "문서를").await;
            match (kind, opened) {
                (StoreKind::Memory, opened) => assert!(opened.is_ok(), "{opened:?}"),
                (_, Err(Failure::Usage(line))) => assert!(line.contains("--"), "{line}"),
                (_, opened) => panic!("{kind}: {opened:?}"),
            }
            assert!(kinds().contains(kind.name()));
        }
    }
}
