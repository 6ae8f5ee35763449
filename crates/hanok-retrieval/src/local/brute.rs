//! What is found without looking at everything is what looking at everything finds.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::cmp::{Ordering, Reverse};

use proptest::{prelude::*, test_runner::TestRng};
use tantivy::{
    DocSet, IndexWriter, TERMINATED, Term, indexer::NoMergePolicy, postings::Postings,
    query::Bm25Weight, schema::IndexRecordOption,
};

use super::{
    best::{Asking, Has},
    fields::{Fields, KEY},
    view::View,
    weights::{Norms, weight},
};
use crate::{
    document::{Document, Passage},
    query::Query,
    split::Splitter,
    terms::Terms,
};

const WORDS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// A passage of up to `most` words, low ones much more often.
fn passage(rng: &mut TestRng, source: &str, ordinal: usize, most: usize) -> Passage {
    let word = |rng: &mut TestRng| WORDS[rng.random_range(0..WORDS.len().pow(2)).isqrt()];
    let mut text: Vec<&str> = (0..rng.random_range(1..=most)).map(|_| word(rng)).collect();
    if rng.random_range(0..40) == 0 {
        text.extend(std::iter::repeat_n(word(rng), rng.random_range(200..600)));
    }
    let document = Document::new(source, text.join(" ")).with("team", WORDS[ordinal % 3]);
    let passage = Splitter::new().split(&document).swap_remove(0);
    Passage { ordinal, text: text.join(" "), ..passage }
}

/// By comparing every passage: scores, keys, and how many of the terms each has.
fn every(view: &View, terms: &[Term], filters: &[Term]) -> Vec<(f32, u64, usize)> {
    let mut counted: Vec<(u64, u8, Vec<Option<u32>>, bool)> = Vec::new();
    for reader in view.parts.parts.iter().map(|part| &part.reader) {
        let counts = |term: &Term| {
            let index = reader.inverted_index(term.field()).unwrap();
            let mut counts = vec![None; reader.max_doc() as usize];
            let mut found = index.read_postings(term, IndexRecordOption::WithFreqs).unwrap();
            while let Some(found) = found.as_mut().filter(|found| found.doc() != TERMINATED) {
                counts[found.doc() as usize] = Some(found.term_freq());
                found.advance();
            }
            counts
        };
        let terms: Vec<_> = terms.iter().map(counts).collect();
        let filters: Vec<_> = filters.iter().map(counts).collect();
        let keys = reader.fast_fields().u64(KEY).unwrap();
        let lengths = reader.get_fieldnorms_reader(view.fields.terms).unwrap();
        for doc in reader.doc_ids_alive() {
            let of = |counts: &Vec<Option<u32>>| counts[doc as usize];
            let allowed = filters.iter().all(|filter| of(filter).is_some());
            let (key, length) = (keys.first(doc).unwrap(), lengths.fieldnorm_id(doc));
            counted.push((key, length, terms.iter().map(of).collect(), allowed));
        }
    }
    let found = |at: usize| counted.iter().filter(|(_, _, counts, _)| counts[at].is_some()).count();
    let weigh = |at: usize| {
        let (found, all) = (found(at) as u64, view.passages() as u64);
        Bm25Weight::for_one_term_without_explain(found, all, view.mean())
    };
    let weights: Vec<Bm25Weight> = (0..terms.len()).map(weigh).collect();
    let mut scored = Vec::new();
    for (key, length, counts, _) in counted.iter().filter(|(.., allowed)| *allowed) {
        let had =
            weights.iter().zip(counts).filter_map(|(weight, count)| Some((weight, (*count)?)));
        let score: f32 = had.clone().map(|(weight, count)| weight.score(*length, count)).sum();
        scored.extend((score > 0.0).then(|| (score, *key, had.count())));
    }
    let order = |(score, key, _): &(f32, u64, usize)| (Reverse(Score(*score)), *key);
    scored.sort_by_key(order);
    scored
}

#[derive(PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Asks `view` at random, and compares.
fn compare(view: &View, rng: &mut TestRng) {
    let some =
        |rng: &mut TestRng| WORDS.into_iter().filter(|_| rng.random_range(0..3) == 0).collect();
    let asked: Vec<&str> = some(rng);
    let terms = asked.iter().chain(&["zz"]).map(|word| format!("w{word}"));
    let terms: Vec<Term> =
        terms.map(|word| Term::from_field_text(view.fields.terms, &word)).collect();
    let mut query = Query::new("");
    if rng.random_range(0..3) == 0 {
        query = query.only("team", WORDS[rng.random_range(0..4)]);
    }
    let filters = view.fields.filters(&query);
    let every = every(view, &terms, &filters);

    let norms = Norms::new(view.mean());
    let lists = view.lists.of(&terms, &view.parts, Some(&norms)).unwrap();
    let mut allowed = view.parts.alive.clone();
    for filter in view.lists.of(&filters, &view.parts, None).unwrap() {
        filter.windows.restrict(&mut allowed);
    }
    let all = view.passages() as u64;
    let weights: Vec<f32> = lists.iter().map(|list| weight(list.found, all)).collect();
    let asking = Asking {
        parts: &view.parts,
        allowed: &allowed,
        lists: &lists,
        weights: &weights,
        norms: &norms,
    };
    let had = |has: Has| (0..terms.len()).filter(|term| has.has(*term)).count();
    for count in [1, 3, 10, 1_000] {
        let best = asking.best(count);
        let best: Vec<_> = best.iter().map(|it| (it.score, it.key, had(it.has))).collect();
        assert_eq!(best, every[..count.min(every.len())], "{asked:?} {count}");
    }
    let shares = vec![1.0 / terms.len() as f32; terms.len()];
    for least in 1..=terms.len() {
        let want = every.iter().any(|(.., had)| *had >= least);
        let any =
            asking.any(&shares, least as f32 / terms.len() as f32 * 0.999, |has| had(has) >= least);
        assert_eq!(any, want, "{asked:?} {least}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Over parts that come and go, passages that are removed, and passages that get longer.
    #[test]
    fn the_best_are_the_best_of_all(mut rng in any::<()>().prop_perturb(|(), rng| rng)) {
        let (fields, schema) = Fields::new();
        let index = fields.builder(schema).create_in_ram().unwrap();
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let reader = index.reader().unwrap();
        let mut view = View::read(reader.searcher(), fields).unwrap();
        for commit in 0..6 {
            let most = [4, 30, 5, 120][rng.random_range(0..4)];
            for _ in 0..rng.random_range(1..6) {
                let source = format!("{}.md", rng.random_range(0..9));
                // Together they may be more than a block.
                let longest = [120, 120, 120, 1_200][rng.random_range(0..4)];
                let count = rng.random_range(1..longest);
                let passages: Vec<Passage> =
                    (0..count).map(|at| passage(&mut rng, &source, at, most)).collect();
                writer.delete_term(fields.of(&source));
                if rng.random_range(0..5) > 0 {
                    let entries = fields.entries(&passages, &Terms::Words).unwrap().unwrap();
                    for entry in entries.entries {
                        writer.add_document(entry).unwrap();
                    }
                }
            }
            writer.commit().unwrap();
            let parts = index.searchable_segment_ids().unwrap();
            if commit % 3 == 2 && parts.len() > 1 {
                writer.merge(&parts[..2]).wait().unwrap();
            }
            reader.reload().unwrap();
            view.read_again(reader.searcher()).unwrap();
            for _ in 0..4 {
                compare(&view, &mut rng);
            }
        }
    }
}
