//! The questions, asked by keywords, vectors and both.

use std::fmt::Write;

use hanok_checkpoint::Vector;
use hanok_model::{Embedder, SharedEmbedder};
use hanok_retrieval::{
    Embedded, Hit, MIN_COVERAGE, Mode, Query, Retriever, SharedDocumentStore, Splitter, Terms, sync,
};
use tempfile::TempDir;

use crate::{
    Result, embedders,
    measure::Times,
    questions::{KINDS, Question, documents},
    score::{Score, told_apart},
    stores::{ALL, Store},
};

/// The ways to ask.
pub(crate) const MODES: [Mode; 3] = [Mode::Keyword, Mode::Vector, Mode::Hybrid];

/// A question with its vector.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) vector: Vector,
}

impl Asked {
    /// Ten hits are wanted.
    pub(crate) fn query(&self, mode: Mode) -> Query {
        Query::new(self.question.text).mode(mode).vector(self.vector.clone()).limit(10)
    }
}

/// What one way found.
#[derive(Debug, Default)]
struct Found {
    hits: Vec<Vec<Hit>>,
    times: Times,
}

/// The tables of one embedder, by each store. Keywords are `terms`.
pub(crate) async fn tables(embedder: &SharedEmbedder, terms: &Terms) -> Result<String> {
    let mut times = Times::default();
    let asked = asked(embedder, &mut times).await?;
    let mut shown = format!(
        "## `{}`\n\nA question's vector is made in {:.2} ms, 99 of 100 within {:.2} ms.\n",
        embedder.name(),
        times.millis(0.5),
        times.millis(0.99)
    );
    // Of so few passages the graph is not asked.
    for store in ALL {
        let filled = filled(store, embedder, terms).await?;
        let mut found = Vec::new();
        for mode in MODES {
            found.push(ask(&filled.store, &asked, mode).await?);
        }
        write!(shown, "\n### In the store `{}`\n\n{}", store.name(), drawn(&asked, &mut found))?;
    }
    Ok(shown)
}

/// Every question with its vector, and how long these took.
pub(crate) async fn asked(embedder: &SharedEmbedder, times: &mut Times) -> Result<Vec<Asked>> {
    let mut asked = Vec::new();
    for question in Question::all()? {
        let vector = times.of(embedders::vector(embedder, question.text)).await?;
        asked.push(Asked { question, vector });
    }
    Ok(asked)
}

/// A store with the sample documents, and the folder of its files, which goes with it.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) store: SharedDocumentStore,
    _folder: TempDir,
}

/// `store` with the sample documents, by `terms`.
pub(crate) async fn filled(
    store: Store,
    embedder: &SharedEmbedder,
    terms: &Terms,
) -> Result<Filled> {
    let folder = tempfile::tempdir()?;
    let opened = store.open(folder.path(), terms.clone()).await?;
    let embedded = Embedded::new(opened.clone(), embedder.clone(), embedders::call());
    sync(&embedded, &Splitter::new(), documents()?.documents()).await?;
    Ok(Filled { store: opened, _folder: folder })
}

async fn ask(store: &SharedDocumentStore, asked: &[Asked], mode: Mode) -> Result<Found> {
    let mut found = Found::default();
    for one in asked {
        let query = one.query(mode);
        // Once before, so that it is not the first that is measured.
        store.search(&query).await?;
        found.hits.push(found.times.of(store.search(&query)).await?);
    }
    Ok(found)
}

fn drawn(asked: &[Asked], found: &mut [Found]) -> String {
    let mut lines = vec![
        "| questions | by | recall@1 | recall@3 | recall@10 | nDCG@10 | MRR | p50 ms | p99 ms |"
            .to_owned(),
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for held in [false, true] {
        for (mode, found) in MODES.iter().zip(found.iter_mut()) {
            let score = score(asked, found, |question| question.held == held);
            lines.push(format!(
                "| {} {} | {mode} | {:.2} | {:.2} | {:.2} | {:.3} | {:.3} | {:.2} | {:.2} |",
                score.count(),
                if held { "held" } else { "open" },
                score.recall(1),
                score.recall(3),
                score.recall(10),
                score.ndcg(),
                score.mrr(),
                found.times.millis(0.5),
                found.times.millis(0.99),
            ));
        }
    }
    lines.extend(["", "nDCG@10 by how they are asked:", ""].map(str::to_owned));
    lines.push(
        "| questions | open | keyword | vector | hybrid | held | keyword | vector | hybrid |"
            .to_owned(),
    );
    lines.push("| --- | --- | --- | --- | --- | --- | --- | --- | --- |".to_owned());
    for kind in KINDS {
        let cells = [false, true].map(|held| {
            let of = |question: &Question| question.held == held && question.kind == kind;
            let scores = found.iter().map(|found| score(asked, found, of));
            let scores: Vec<Score> = scores.collect();
            let numbers = scores.iter().map(|score| format!("{:.3}", score.ndcg()));
            let count = scores.first().map_or(0, Score::count);
            format!("{count} | {}", numbers.collect::<Vec<_>>().join(" | "))
        });
        lines.push(format!("| {kind} | {} |", cells.join(" | ")));
    }
    lines.push(String::new());
    lines.extend(unanswered(asked, found));
    lines.join("\n") + "\n"
}

/// The places of the answers of those questions that `of` takes.
fn score(asked: &[Asked], found: &Found, of: impl Fn(&Question) -> bool) -> Score {
    let mut score = Score::default();
    let pairs = asked.iter().zip(&found.hits);
    pairs
        .filter(|(asked, _)| asked.question.has_answer() && of(&asked.question))
        .for_each(|(asked, hits)| score.add(asked.question.rank(hits)));
    score
}

/// How well the questions that have no answer are told from the others.
fn unanswered(asked: &[Asked], found: &[Found]) -> Vec<String> {
    let highest = |found: &Found, number: fn(&Hit) -> f32| {
        let each = asked.iter().zip(&found.hits).map(|(asked, hits)| {
            (asked.question.has_answer(), hits.iter().map(number).fold(0.0, f32::max))
        });
        let (with, without): (Vec<_>, Vec<_>) = each.partition(|(has, _)| *has);
        let plain = |some: Vec<(bool, f32)>| some.into_iter().map(|(_, it)| it).collect::<Vec<_>>();
        (plain(with), plain(without))
    };
    let (keyword, vector) = match found {
        [keyword, vector, ..] => {
            (highest(keyword, |hit| hit.coverage), highest(vector, |hit| hit.score))
        }
        _ => return Vec::new(),
    };
    let kept = |some: &[f32]| {
        some.iter().filter(|it| **it >= MIN_COVERAGE).count() as f64 / some.len().max(1) as f64
    };
    vec![format!(
        "{} questions have no answer. Which of two, one with an answer and one without, has the higher coverage by \
             keywords is right {:.2} of the time, the higher similarity of vectors {:.2}; 0.5 is chance. A coverage of \
             {MIN_COVERAGE} keeps {:.2} of those with and {:.2} of those without.",
        keyword.1.len(),
        told_apart(&keyword.0, &keyword.1),
        told_apart(&vector.0, &vector.1),
        kept(&keyword.0),
        kept(&keyword.1),
    )]
}
