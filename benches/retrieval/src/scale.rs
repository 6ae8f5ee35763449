//! Many passages: how fast they are indexed and found, and what they take.

use std::{cmp::Reverse, collections::BTreeSet, process::Command, time::Instant};

use hanok_checkpoint::Vector;
use hanok_model::{Embedder, SharedEmbedder};
use hanok_retrieval::{
    DocumentStore, Mode, NgramEmbedder, Passage, Query, Retriever, SharedDocumentStore, Terms,
};
use serde::{Deserialize, Serialize};

use crate::{
    Result, embedders, korean,
    measure::{Times, cpu, disk, resident},
    stores::{ALL, Store},
};

const SEED: u64 = 20_261_122;

/// So many passages are put at once.
const BATCH: usize = 5_000;

/// So many questions are asked, and a tenth of them before, so that none is the first.
const QUESTIONS: usize = 200;

/// So many other questions are asked by keywords before those of a store that is in use.
const OTHERS: usize = 2_000;

/// As long as the vectors of many models.
fn embedder() -> NgramEmbedder {
    NgramEmbedder::new(512)
}

/// What one store took.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    store: String,
    /// Passages without vectors per second of wall time and of CPU time, and the same with vectors put along.
    plain: [f64; 2],
    speed: [f64; 2],
    /// What is resident and on disk, in MB.
    memory: f64,
    disk: f64,
    /// The times within which half and 99 of 100 questions are answered, in milliseconds: by keywords after few others, and
    /// after many; by vectors; by both.
    times: Vec<[f64; 2]>,
    /// The share of the ten nearest vectors that it found.
    recall: f64,
}

/// Fills every store in a process of its own, and prints what they took.
pub(crate) fn table(passages: usize) -> Result<String> {
    let mut lines = vec![
        format!("{passages} generated passages, vectors of `{}`:\n", embedder().name()),
        "| store | passages/s | of CPU | with vectors/s | of CPU | memory MB | disk MB | first by keyword: p50, p99 ms | keyword | vector | hybrid | recall@10 of the nearest |".to_owned(),
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for store in ALL {
        let count = passages.to_string();
        let program = Command::new(std::env::current_exe()?)
            .args(["--store", store.name(), "--passages", &count])
            .stderr(std::process::Stdio::inherit())
            .output()?;
        if !program.status.success() {
            return Err(format!("the store `{}` could not be measured", store.name()).into());
        }
        lines.push(serde_json::from_slice::<Row>(&program.stdout)?.drawn());
    }
    Ok(lines.join("\n") + "\n")
}

impl Row {
    fn drawn(&self) -> String {
        let times = self.times.iter().map(|[half, most]| format!("{half:.2}, {most:.2}"));
        format!(
            "| {} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {} | {:.3} |",
            self.store,
            self.plain[0],
            self.plain[1],
            self.speed[0],
            self.speed[1],
            self.memory,
            self.disk,
            times.collect::<Vec<_>>().join(" | "),
            self.recall
        )
    }
}

/// Fills `store` and asks it.
pub(crate) async fn measure(store: Store, passages: usize) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let embedder = SharedEmbedder::new(embedder());
    let mut asked = Vec::new();
    for number in 0..QUESTIONS {
        let text = korean::question(SEED, number, passages);
        let vector = embedders::vector(&embedder, &text).await?;
        asked.push(Query::new(text).vector(vector).limit(10));
    }
    let before = resident()?;
    let opened = store.open(folder.path(), Terms::default()).await?;
    let speed = fill(&opened, passages, embedded).await?;
    let memory = resident()? - before;
    let mut times = Vec::new();
    let mut nearest = Vec::new();
    times.push(ask(&opened, &asked, Mode::Keyword).await?.0);
    for number in QUESTIONS..QUESTIONS + OTHERS {
        opened.search(&Query::new(korean::question(SEED, number, passages)).limit(10)).await?;
    }
    for mode in crate::found::MODES {
        let (took, hits) = ask(&opened, &asked, mode).await?;
        times.push(took);
        if mode == Mode::Vector {
            nearest = hits;
        }
    }
    let recall = recall(&nearest, &truth(&asked, passages)?);
    let disk = disk(folder.path())?;
    drop(opened);
    let plain = tempfile::tempdir()?;
    let plain = fill(&store.open(plain.path(), Terms::default()).await?, passages, Ok).await?;
    Ok(Row { store: store.name().to_owned(), plain, speed, memory, disk, times, recall })
}

/// Asks all of `asked`, a tenth of them once more before. The times, and what was found.
async fn ask(
    store: &SharedDocumentStore,
    asked: &[Query],
    mode: Mode,
) -> Result<([f64; 2], Vec<BTreeSet<Place>>)> {
    for query in asked.iter().take(QUESTIONS / 10) {
        store.search(&query.clone().mode(mode)).await?;
    }
    let (mut took, mut found) = (Times::default(), Vec::new());
    for query in asked {
        let query = query.clone().mode(mode);
        let hits = took.of(store.search(&query)).await?;
        found.push(hits.into_iter().map(|hit| place(&hit.passage)).collect());
    }
    Ok(([took.millis(0.5), took.millis(0.99)], found))
}

/// What a passage is known by.
type Place = (String, usize);

fn place(passage: &Passage) -> Place {
    (passage.source.clone(), passage.ordinal)
}

/// Puts the passages as `made` beforehand. Passages per second of wall time and of CPU time.
async fn fill(
    store: &SharedDocumentStore,
    passages: usize,
    made: impl Fn(Vec<Passage>) -> Result<Vec<Passage>>,
) -> Result<[f64; 2]> {
    let (mut wall, mut work, mut count) = (0.0, 0.0, 0);
    let mut batch: Vec<Passage> = Vec::new();
    let mut documents = korean::documents(SEED, passages).peekable();
    while let Some(document) = documents.next() {
        batch.extend(made(document)?);
        if batch.len() >= BATCH || documents.peek().is_none() {
            count += batch.len();
            let (begun, used) = (Instant::now(), cpu());
            store.upsert(std::mem::take(&mut batch)).await?;
            wall += begun.elapsed().as_secs_f64();
            work += cpu() - used;
        }
    }
    Ok([count as f64 / wall, count as f64 / work])
}

fn embedded(mut passages: Vec<Passage>) -> Result<Vec<Passage>> {
    let embedder = embedder();
    for passage in &mut passages {
        let numbers = embedder.vector(&format!("{}\n{}", passage.heading, passage.text));
        passage.vector = Some(Vector::new(&numbers)?.made_by(embedder.name()));
    }
    Ok(passages)
}

/// The ten nearest passages of each question, by comparing all of them: no store is asked.
fn truth(asked: &[Query], passages: usize) -> Result<Vec<BTreeSet<Place>>> {
    let mut best: Vec<Vec<(f32, Place)>> = vec![Vec::new(); asked.len()];
    for document in korean::documents(SEED, passages) {
        for passage in embedded(document)? {
            let Some(vector) = &passage.vector else { continue };
            for (query, best) in asked.iter().zip(&mut best) {
                let Some(meaning) = query.meaning() else { continue };
                let similarity = meaning.similarity(vector);
                if best.len() < 10 || best.last().is_some_and(|(least, _)| similarity > *least) {
                    best.push((similarity, place(&passage)));
                    best.sort_by(|(a, x), (b, y)| {
                        b.total_cmp(a).then_with(|| Reverse(y).cmp(&Reverse(x)))
                    });
                    best.truncate(10);
                }
            }
        }
    }
    Ok(best.into_iter().map(|best| best.into_iter().map(|(_, place)| place).collect()).collect())
}

/// The share of `truth` that was found.
fn recall(found: &[BTreeSet<Place>], truth: &[BTreeSet<Place>]) -> f64 {
    let all: usize = truth.iter().map(BTreeSet::len).sum();
    let both = found.iter().zip(truth).map(|(found, truth)| found.intersection(truth).count());
    both.sum::<usize>() as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compares_all_finds_all_that_is_nearest() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for store in ALL {
            let row = runtime.block_on(measure(store, 300)).unwrap();
            assert!(row.recall > 0.99, "{row:?}");
            assert!(row.times.len() == 4 && row.plain[0].min(row.speed[0]) > 0.0, "{row:?}");
            assert_eq!(row.disk > 0.0, store.name() != "memory", "{row:?}");
            assert!(row.drawn().starts_with(&format!("| {store} | ")), "{}", row.drawn());
        }
        let [none, some] = [0, 1].map(|n| [BTreeSet::from([("a".to_owned(), n)])]);
        assert_eq!((recall(&some, &none), recall(&some, &some)), (0.0, 1.0));
    }
}
