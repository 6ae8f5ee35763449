//! Which of several things fit a question, by their descriptions.

use crate::{
    intent::has,
    prompt::Listed,
    tables,
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

/// Those that the question asks for in their own words, in the order of these.
fn by_cues(question: &str, listed: &[Listed], cues: &[Vec<String>]) -> Vec<String> {
    let question = question.to_lowercase();
    let place = |cues: &[String]| cues.iter().filter_map(|cue| place(cue, &question)).min();
    let mut asked: Vec<_> = listed
        .iter()
        .zip(cues)
        .filter_map(|(listed, cues)| Some((place(cues)?, listed.name.clone())))
        .collect();
    asked.sort_by_key(|(place, _)| *place);
    asked.into_iter().map(|(_, name)| name).collect()
}

/// Where the words of `cue` stand in the question, in their order: the place of the first one.
fn place(cue: &str, question: &str) -> Option<usize> {
    let (mut begin, mut from) = (None, 0);
    for word in cue.split_whitespace() {
        let at = from + question.get(from..)?.find(word)?;
        begin = begin.or(Some(at));
        from = at + word.len();
    }
    begin
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
