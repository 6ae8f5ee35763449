//! Which of several things fit a question, by their descriptions.

use crate::offline::{
    intent::has,
    prompt::Listed,
    tables,
    words::{Held, content, small},
};

/// The share of the best that something has at least to fit beside it.
const LEAST_OF_BEST: f32 = 0.55;

/// All that fit `question`: where the program knows the words by which they are asked for, those whose words stand in it; else the
/// best first, by the words of the descriptions. A word counts more the fewer descriptions have it; without a word that any of them has,
/// nothing fits.
pub(crate) fn fitting(question: &str, listed: &[Listed]) -> Vec<String> {
    let cues: Vec<Vec<String>> = listed.iter().map(cues).collect();
    if cues.iter().any(|cues| !cues.is_empty()) {
        return by_cues(question, listed, &cues);
    }
    let asked = content(question);
    // What changes something is asked for in so many words, and never by a word that its description happens to share.
    let may_change = asks_for_change(question);
    let listed: Vec<&Listed> =
        listed.iter().filter(|listed| may_change || !changes(&listed.name)).collect();
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
    let mut scored: Vec<(f32, &Listed)> =
        held.iter().map(score).zip(listed.iter().copied()).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let fits = scored.iter().filter(|(score, _)| best > 0.0 && *score >= LEAST_OF_BEST * best);
    fits.map(|(_, listed)| listed.name.clone()).collect()
}

/// The words by which something is asked for, as the program knows them.
fn cues(listed: &Listed) -> Vec<String> {
    listed.aliases.iter().map(|alias| alias.to_lowercase()).collect()
}

/// Those that the question asks for in their own words, in the order of these.
fn by_cues(question: &str, listed: &[Listed], cues: &[Vec<String>]) -> Vec<String> {
    let question = question.to_lowercase();
    let first = |cue: &String| places(cue, &question)?.first().copied();
    let place = |cues: &[String]| cues.iter().filter_map(first).min();
    let mut asked: Vec<_> = listed
        .iter()
        .zip(cues)
        .filter_map(|(listed, cues)| Some((place(cues)?, listed.name.clone())))
        .collect();
    asked.sort_by_key(|(place, _)| *place);
    asked.into_iter().map(|(_, name)| name).collect()
}

/// Where the words of `cue` stand in the question, in their order. One of a single letter stands in another word than the one before it:
/// `메모 지` is not in `메모지`.
fn places(cue: &str, question: &str) -> Option<Vec<usize>> {
    let mut from = 0;
    let place = |part: &str| {
        let is_short = from > 0 && part.chars().count() == 1;
        let rest = question.get(from..)?;
        let apart = rest.find(char::is_whitespace).filter(|_| is_short);
        let begin = if is_short { apart? } else { 0 };
        let at = from + begin + rest.get(begin..)?.find(part)?;
        from = at + part.len();
        Some(at)
    };
    cue.split_whitespace().map(place).collect()
}

/// The words of the question, by their places in it, in which one of `aliases` stands: that whose words are nearest to each other, and the
/// longest of such.
pub(crate) fn cue_in(question: &str, aliases: &[String]) -> Option<Vec<usize>> {
    let question = question.to_lowercase();
    let word_at = |at: usize| {
        let before = question.get(..at).unwrap_or_default();
        let is_within = before.ends_with(|c: char| !c.is_whitespace());
        before.split_whitespace().count() - usize::from(is_within)
    };
    let found = aliases.iter().filter_map(|alias| {
        let alias = alias.to_lowercase();
        let at: Vec<_> = places(&alias, &question)?.into_iter().map(word_at).collect();
        Some((at.last()?.saturating_sub(*at.first()?), usize::MAX - alias.len(), at))
    });
    found.min().map(|(_, _, at)| at)
}

/// Whether something changes what there is, by the first verb of its name: `files__write_file`.
fn changes(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().any(|word| tables::CHANGING.contains(&word.to_lowercase().as_str()))
}

/// Whether a question asks for something to be changed.
fn asks_for_change(question: &str) -> bool {
    let question = question.to_lowercase();
    tables::ASKS_CHANGE.iter().any(|word| has(&question, word))
}

/// A description without the sentences that say what something is not for, and without the names in brackets.
fn positive(said: &str) -> String {
    let is_negative = |sentence: &&str| {
        ["쓰지 않", "하지 않", "않습니다", " not "].iter().any(|words| sentence.contains(words))
    };
    let sentences = said.split_inclusive(". ").filter(|sentence| !is_negative(sentence));
    sentences.collect()
}
