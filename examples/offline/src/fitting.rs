//! Which of several things fit a question, by their descriptions.

use crate::{
    prompt::Listed,
    words::{Held, content, small},
};

/// The share of the best that something has at least to fit beside it.
const LEAST_OF_BEST: f32 = 0.55;

/// All that fit `question`: where descriptions list the words by which they are asked for, those whose words stand in it; else the
/// best first, by the words of the descriptions. A word counts more the fewer descriptions have it; without a word that any of them has,
/// nothing fits.
pub(crate) fn fitting(question: &str, listed: &[Listed]) -> Vec<String> {
    let cues: Vec<Vec<String>> = listed.iter().map(cues).collect();
    if cues.iter().any(|cues| !cues.is_empty()) {
        return by_cues(question, listed, &cues);
    }
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

/// What stands before the words by which something is asked for.
const CUES: [&str; 2] = ["이런 말에 씁니다:", "Asked for by:"];

/// The words by which something is asked for: as the program knows them, or else as its description says them.
fn cues(listed: &Listed) -> Vec<String> {
    if !listed.aliases.is_empty() {
        return listed.aliases.iter().map(|alias| alias.to_lowercase()).collect();
    }
    let after = CUES.iter().find_map(|mark| Some(listed.description.split_once(mark)?.1));
    let list = after.and_then(|after| after.split(['.', '(']).next()).unwrap_or_default();
    list.split(',').map(|cue| cue.trim().to_lowercase()).filter(|cue| !cue.is_empty()).collect()
}

/// Those that the question asks for in their own words.
fn by_cues(question: &str, listed: &[Listed], cues: &[Vec<String>]) -> Vec<String> {
    let question = question.to_lowercase();
    let fits = |cues: &[String]| cues.iter().any(|cue| stands(cue, &question));
    let listed = listed.iter().zip(cues).filter(|(_, cues)| fits(cues));
    listed.map(|(listed, _)| listed.name.clone()).collect()
}

/// Whether the words of `cue` stand in the question, in their order.
fn stands(cue: &str, question: &str) -> bool {
    let mut rest = question;
    cue.split_whitespace().all(|word| match rest.split_once(word) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// A description without the sentences that say what something is not for, and without the names in brackets.
fn positive(said: &str) -> String {
    let is_negative = |sentence: &&str| {
        ["쓰지 않", "하지 않", "않습니다", " not "].iter().any(|words| sentence.contains(words))
    };
    let sentences = said.split_inclusive(". ").filter(|sentence| !is_negative(sentence));
    sentences.collect()
}
