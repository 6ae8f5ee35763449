//! Which of several things fit a question, by their descriptions.

use crate::{
    prompt::Listed,
    words::{Held, content, small},
};

/// The share of the best that something has at least to fit beside it.
const LEAST_OF_BEST: f32 = 0.55;

/// All that fit `question`, best first. A word counts more the fewer descriptions have it; without a word that any of them has,
/// nothing fits.
pub(crate) fn fitting(question: &str, listed: &[Listed]) -> Vec<String> {
    let asked = content(question);
    let held: Vec<Held> = listed.iter().map(|listed| Held::of(&positive(&listed.said()))).collect();
    let weight = |word| {
        let has = held.iter().filter(|held| held.share(word) >= 0.5).count();
        (1.0 + small(listed.len()) / (0.5 + small(has))).ln()
    };
    let weights: Vec<f32> = asked.iter().map(weight).collect();
    let score = |held: &Held| {
        let words = asked.iter().zip(&weights);
        words.map(|(word, weight)| held.share(word) * weight).sum::<f32>()
    };
    let mut scored: Vec<(f32, &Listed)> = held.iter().map(score).zip(listed).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let fits = scored.iter().filter(|(score, _)| best > 0.0 && *score >= LEAST_OF_BEST * best);
    fits.map(|(_, listed)| listed.name.clone()).collect()
}

/// A description without the sentences that say what something is not for, and without the names in brackets.
fn positive(said: &str) -> String {
    let is_negative = |sentence: &&str| {
        ["쓰지 않", "하지 않", "않습니다", " not "].iter().any(|words| sentence.contains(words))
    };
    let sentences = said.split_inclusive(". ").filter(|sentence| !is_negative(sentence));
    sentences.collect()
}
