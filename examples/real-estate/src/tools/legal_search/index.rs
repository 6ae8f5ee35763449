//! The index of the articles: what each says, with the words that people use for it.

use hanok_checkpoint::Vector;
use hanok_retrieval::{
    Document, Hit, MemoryIndex, Mode, NgramEmbedder, Passage, Query, RetrievalError, Splitter,
    Terms,
};

use super::refer::Scope;
use crate::data::Law;
use crate::data::law::LawArticle;

/// More than any article is long, so that each is one passage.
const WHOLE: usize = 100_000;

/// How much of a question one article at least has to have. Below it are questions about something else.
const COVERED: f32 = 0.2;

/// How like a question an article has to be by its letters.
const ALIKE: f32 = 0.25;

/// The key of an article's place.
const PLACE: &str = "place";

/// The key of its law, of which a decree is a part.
const PARENT: &str = "parent";

/// The articles, searched by words and by letters: the latter finds what is misspelled.
#[derive(Debug)]
pub(super) struct Index {
    articles: MemoryIndex,
    letters: NgramEmbedder,
}

impl Index {
    /// The index of all articles.
    pub(super) fn new(law: &Law) -> Self {
        let letters = NgramEmbedder::default();
        let places = law.articles().iter().enumerate();
        let passages = places.flat_map(|(place, article)| passages(place, article, &letters));
        Self { articles: MemoryIndex::new(passages, Terms::default()), letters }
    }

    /// The places of the articles that fit, the best first.
    pub(super) fn ranked(
        &self,
        question: &str,
        scope: &Scope,
        law: &Law,
    ) -> Result<Vec<usize>, RetrievalError> {
        let query = Query::new(question)
            .limit(law.articles().len())
            .min_coverage(COVERED)
            .min_similarity(ALIKE);
        let query = match vector(question, &self.letters) {
            Some(vector) => query.mode(Mode::Hybrid).vector(vector),
            None => query,
        };
        let query = match scope {
            Scope::All => query,
            Scope::Law(parent) => query.only(PARENT, parent),
        };
        let hits = self.articles.ask(&query)?;
        Ok(hits.iter().filter_map(place).collect())
    }
}

fn place(hit: &Hit) -> Option<usize> {
    hit.passage.metadata.get(PLACE)?.parse().ok()
}

fn passages(place: usize, article: &LawArticle, letters: &NgramEmbedder) -> Vec<Passage> {
    let words = article.words.join(", ");
    let text = format!("{}\n{words}\n{}", article.title, article.text);
    let document = Document::new(article.law.as_str(), &text)
        .with(PLACE, place.to_string())
        .with(PARENT, article.parent());
    let mut passages = Splitter::new().max_chars(WHOLE).split(&document);
    for passage in &mut passages {
        passage.vector = vector(&passage.text, letters);
    }
    passages
}

/// `None` for what has no letters.
fn vector(text: &str, letters: &NgramEmbedder) -> Option<Vector> {
    Vector::new(&letters.vector(text)).ok()
}
