//! The contract that is asked about, and the standard one.

use std::path::{Path, PathBuf};

use hanok_retrieval::{
    Article, ArticleNumber, Contract, Document, DocumentStore, Hit, LoadOptions, MIN_COVERAGE,
    Query, RetrievalError, Retriever, SharedDocumentStore, Skipped, contract_passages,
};
use serde::{Deserialize, Serialize};
use terminal::failure::Failure;

use crate::Options;

/// The most characters of an article that a model is shown.
const LONGEST: usize = 3_000;

/// Of the contract's titles, the share that a standard contract has to have to be compared with.
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
    store: SharedDocumentStore,
}

impl Paper {
    fn read(origin: Origin, path: &Path) -> Result<Self, Skipped> {
        Ok(Self::of(origin, Document::open(path, &LoadOptions::new())?))
    }

    fn of(origin: Origin, document: Document) -> Self {
        let contract = Contract::parse(document.text.as_str());
        Self { origin, document, contract }
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

    /// From which to which article it goes.
    pub(crate) fn extent(&self) -> String {
        let mut numbers: Vec<_> = self.contract.articles.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        match (numbers.first(), numbers.last()) {
            (Some(first), Some(last)) => format!("{first}부터 {last}까지 있습니다"),
            _ => "조로 나뉘어 있지 않습니다".to_owned(),
        }
    }
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
        let chosen = options.standard.is_some();
        let standard = match chosen {
            true => standards.into_iter().next(),
            false => nearest(&user, standards),
        };
        Self::of(user, standard, options.store.open()).await
    }

    /// A book of these texts, for tests.
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
        Self::of(Paper::of(Origin::Contract, contract), standard, store).await
    }

    async fn of(
        user: Paper,
        standard: Option<Paper>,
        store: SharedDocumentStore,
    ) -> Result<Self, Failure> {
        let papers = [Some(&user), standard.as_ref()];
        for paper in papers.into_iter().flatten() {
            let document = paper.document.clone().with("origin", paper.origin.name());
            let passages = contract_passages(&document, &paper.contract);
            let put = store.upsert(passages).await;
            put.map_err(|error| Failure::unreadable("계약서를", error))?;
        }
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
            standard.unwrap_or("없음")
        )
    }

    /// What a search for `query` finds in the contract of `origin`, the best first.
    pub(crate) async fn search(
        &self,
        origin: Origin,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Material>, RetrievalError> {
        let query =
            Query::new(query).only("origin", origin.name()).limit(limit).min_coverage(MIN_COVERAGE);
        let hits = self.store.search(&query).await?;
        let paper = match origin {
            Origin::Contract => Some(&self.user),
            Origin::Standard => self.standard.as_ref(),
        };
        let found = hits.into_iter().filter_map(|hit| Some(material(paper?, hit)));
        let mut found: Vec<Material> = found.collect();
        // Two pieces of one article are the same article.
        let mut seen = Vec::new();
        found.retain(|it| {
            !seen.contains(&it.label) && {
                seen.push(it.label.clone());
                true
            }
        });
        Ok(found)
    }

    /// How much of `question` the contract has, from 0 to 1.
    pub(crate) async fn coverage(&self, question: &str) -> Result<f32, RetrievalError> {
        let hits = self.store.search(&Query::new(question).limit(3)).await?;
        Ok(hits.iter().map(|hit| hit.coverage).fold(0.0, f32::max))
    }
}

/// A hit as material: the whole article, where it is one.
fn material(paper: &Paper, hit: Hit) -> Material {
    let passage = hit.passage;
    let number = passage.metadata.get("article").and_then(|key| key.parse().ok());
    let article = number.and_then(|number| paper.contract.numbered(number).next());
    match article {
        Some(article) => paper.material(article, false),
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

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}… (이하 생략)", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(origin: Origin, path: &Path) -> Result<Paper, Failure> {
    Paper::read(origin, path).map_err(|skipped| Failure::unreadable("계약서를", skipped))
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
    let share = |paper: &Paper| {
        let known =
            titles.iter().filter(|title| !paper.contract.by_title(title).is_empty()).count();
        known as f32 / titles.len().max(1) as f32
    };
    let best = standards.into_iter().map(|paper| (share(&paper), paper));
    let best = best.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(share, _)| *share >= ALIKE).map(|(_, paper)| paper)
}
