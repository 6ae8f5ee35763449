//! How fast it is, in a release build: `cargo test --release -p hanok-retrieval --features local --test local -- --ignored
//! --nocapture speed`.

use std::time::{Duration, Instant};

use hanok_retrieval::{
    Document, DocumentStore, LocalOptions, LocalStore, Passage, Query, Retriever, Splitter,
};
use hanok_testkit::block_on;

/// Draws numbers.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }

    /// A word of a language in which the `n`th word is `n` times as rare as the first.
    fn word<'a>(&mut self, words: &'a [String]) -> &'a str {
        let at = (words.len() as f64).powf(self.below(1 << 24) as f64 / f64::from(1 << 24));
        &words[at as usize - 1]
    }
}

/// Words of two to four syllables, the frequent ones of Korean.
fn words(draw: &mut Draw) -> Vec<String> {
    let syllables: Vec<char> = ('가'..='힣').step_by(19).collect();
    let word = |draw: &mut Draw| -> String {
        (0..2 + draw.below(3)).map(|_| syllables[draw.below(syllables.len())]).collect()
    };
    (0..20_000).map(|_| word(draw)).collect()
}

/// Passages of some 200 characters, 20 a document.
fn passages(count: usize, draw: &mut Draw, words: &[String]) -> Vec<Passage> {
    let mut all = Vec::new();
    for at in 0..count / 20 {
        let mut text = String::new();
        for article in 0..20 {
            text += &format!("## 제{article}조\n");
            let begin = text.chars().count();
            while text.chars().count() - begin < 200 {
                text += draw.word(words);
                text.push(' ');
            }
            text += "\n\n";
        }
        all.extend(Splitter::new().split(&Document::new(format!("{}/{at}.md", at % 10), text)));
    }
    all
}

/// So many seconds has this process worked.
fn worked_for() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let times = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
    times.map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    format!(
        "p50 {:?}, p95 {:?}, p99 {:?}",
        times[times.len() / 2],
        times[times.len() * 95 / 100],
        times[times.len() * 99 / 100]
    )
}

#[test]
#[ignore = "it says how fast a release build is"]
fn speed_of_the_index_of_words() {
    let mut draw = Draw(7);
    let words = words(&mut draw);
    let all = passages(100_000, &mut draw, &words);
    let chars: usize = all.iter().map(|it| it.text.chars().count()).sum();
    println!("{} passages of {} characters", all.len(), chars / all.len());
    let folder = tempfile::tempdir().unwrap();
    let store = block_on(LocalStore::open(folder.path(), LocalOptions::new())).unwrap();
    let (begin, worked) = (Instant::now(), worked_for());
    for batch in all.chunks(5_000) {
        block_on(store.upsert(batch.to_vec())).unwrap();
    }
    let took = begin.elapsed();
    let work = worked_for() - worked;
    println!("indexed in {took:?}, {:.0} in a second of one core", all.len() as f64 / work);
    let ask = |draw: &mut Draw, filter: bool| {
        let mut times = Vec::new();
        for _ in 0..2_000 {
            let text: Vec<&str> = (0..3).map(|_| draw.word(&words)).collect();
            let query = Query::new(text.join(" "));
            let query = if filter { query.under("3") } else { query };
            let begin = Instant::now();
            let hits = block_on(store.search(&query)).unwrap();
            times.push(begin.elapsed());
            assert!(!hits.is_empty());
        }
        percentiles(times)
    };
    println!("at once: {}", ask(&mut draw, false));
    std::thread::sleep(Duration::from_secs(5));
    println!("worked for {:.1} s with merges", worked_for() - worked);
    println!("merged: {}", ask(&mut draw, false));
    println!("in a folder of ten: {}", ask(&mut draw, true));
    drop(store);
    let begin = Instant::now();
    drop(block_on(LocalStore::open(folder.path(), LocalOptions::new())).unwrap());
    println!("opened in {:?}", begin.elapsed());
}
