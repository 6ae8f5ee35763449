//! Which of several things a question is for: agents, tools, teams, values of a list.

use hanok_figures::Arithmetic;
use hanok_tools::time_zone_in;

use crate::offline::{
    listed::Listed,
    names, tables,
    words::{Held, Word, content, coverage, small, words},
};

/// What a question can be about, and what is for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Numbers to calculate with.
    Arithmetic,
    /// The time or the date now.
    Clock,
    /// People, and how to reach them.
    People,
    /// Meeting rooms.
    Rooms,
    /// What is written somewhere.
    Documents,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] =
        [Self::Arithmetic, Self::Clock, Self::People, Self::Rooms, Self::Documents];

    /// Whether a description says that it is for this.
    pub(crate) fn is_in(self, description: &str) -> bool {
        let words = match self {
            Self::Arithmetic => &tables::FOR_ARITHMETIC,
            Self::Clock => &tables::FOR_CLOCK,
            Self::People => &tables::FOR_PEOPLE,
            Self::Rooms => &tables::ROOMS,
            Self::Documents => &tables::FOR_DOCUMENTS,
        };
        has_any(&description.to_lowercase(), words)
    }

    /// How strongly a question is about this. Where nothing speaks for another kind, it is written somewhere.
    pub(crate) fn weight(self, question: &str) -> f32 {
        let lower = question.to_lowercase();
        let has = |words: &[&str]| has_any(&lower, words);
        let weight = |is: bool, weight: f32| if is { weight } else { 0.0 };
        match self {
            Self::Arithmetic => weight(expression(question).is_some(), 6.0)
                .max(weight(has(&tables::CALCULATE), 2.5)),
            Self::Clock => {
                let words = content(question).len();
                let is_now = has(&tables::NOW) && has(&tables::TIME);
                let is_short = words <= 4 && !has(&tables::PLANS);
                let is_hour =
                    has(&tables::HOUR) && (words == 0 || time_zone_in(question).is_some());
                weight(is_hour || is_short && (is_now || has(&tables::WEEKDAY)), 5.0)
            }
            Self::People => {
                let is_own = tables::MINE.iter().any(|word| format!(" {lower}").contains(word));
                let is_somebody = is_own || names::person(question).is_some();
                let is_left = has(&tables::LEAVE) && has(&tables::LEFT) && is_somebody;
                let is_team = names::team(question).is_some() && has(&tables::MEMBERS);
                weight(has(&tables::CONTACT) || is_left || is_team, 4.5)
            }
            Self::Rooms => weight(has(&tables::ROOMS), 4.2),
            Self::Documents => 2.0 + weight(has(&tables::WRITTEN), 1.0),
        }
    }
}

/// Whether `text` has one of `words`.
pub(crate) fn has_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| has(text, word))
}

/// Whether `text` has `word`; a Latin one at the beginning of a word, a short one as a whole word.
pub(crate) fn has(text: &str, word: &str) -> bool {
    if !word.is_ascii() || word.contains(' ') {
        return text.contains(word);
    }
    let mut runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.any(|run| if word.len() <= 4 { run == word } else { run.starts_with(word) })
}

/// The calculation that `question` asks for, if it does. One that its words do not call so is meant where nothing else is asked.
pub(crate) fn expression(question: &str) -> Option<String> {
    let Arithmetic { expression, is_certain } = Arithmetic::in_question(question)?;
    let is_number = |word: &Word| word.stem.starts_with(|c: char| c.is_ascii_digit());
    (is_certain || content(question).iter().all(is_number)).then_some(expression)
}

/// What it counts for that a question asks for something in the words by which that is asked for: more than any likeness.
const ASKED_FOR: f32 = 10.0;

/// What is for a question has this share of the best, and some likeness at all.
const LEAST: f32 = 0.5;

/// How well each of `listed` fits the question, the best first; of equal ones, as they are listed.
pub(crate) fn scored<'l>(question: &str, listed: &'l [Listed]) -> Vec<(f32, &'l Listed)> {
    let asked = content(question);
    let score = |listed: &Listed| {
        let said = listed.said();
        let shared = coverage(&asked, &Held::of(&said));
        let kinds = Kind::ALL.into_iter().filter(|kind| kind.is_in(&said));
        let kind = kinds.map(|kind| kind.weight(question)).reduce(f32::max);
        let is_asked_for = cue(question, &listed.aliases).is_some();
        // What is for something else again is known by its words alone.
        kind.map_or(5.0 * shared, |kind| kind + shared) + if is_asked_for { ASKED_FOR } else { 0.0 }
    };
    let mut scored: Vec<_> = listed.iter().map(|listed| (score(listed), listed)).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored
}

/// The names of those that fit, best first. Without any, the first.
pub(crate) fn ranked(question: &str, listed: &[Listed]) -> Vec<String> {
    let scored = scored(question, listed);
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let fits = scored.iter().filter(|(score, _)| *score >= (best * LEAST).max(LEAST.min(best)));
    fits.map(|(_, listed)| listed.name.clone()).collect()
}

/// The share of the best that something has at least to fit beside it.
const LEAST_OF_BEST: f32 = 0.55;

/// All that fit `question`: where the program knows the words by which they are asked for, those whose words stand in it, in the order of
/// these; else those whose descriptions have its words, best first. A word counts more the fewer descriptions have it; without a word that
/// any of them has, nothing fits.
pub(crate) fn fitting(question: &str, listed: &[Listed]) -> Vec<String> {
    if listed.iter().any(|listed| !listed.aliases.is_empty()) {
        let place = |listed: &Listed| {
            Some((*cue(question, &listed.aliases)?.first()?, listed.name.clone()))
        };
        let mut asked: Vec<_> = listed.iter().filter_map(place).collect();
        asked.sort_by_key(|(place, _)| *place);
        return asked.into_iter().map(|(_, name)| name).collect();
    }
    // What changes something is asked for in so many words, and never by a word that its description happens to share.
    let lower = question.to_lowercase();
    let may_change = has_any(&lower, &tables::ASKS_CHANGE);
    let changes = |listed: &&Listed| {
        let mut words = listed.name.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| tables::CHANGING.contains(&word.to_lowercase().as_str()))
    };
    let listed: Vec<_> = listed.iter().filter(|it| may_change || !changes(it)).collect();
    let asked = content(question);
    let held: Vec<Held> = listed.iter().map(|listed| Held::of(&positive(&listed.said()))).collect();
    let weight = |word| {
        let has = held.iter().filter(|held| held.share(word) >= 0.5).count();
        (1.0 + small(listed.len()) / (0.5 + small(has))).ln()
    };
    let weights: Vec<f32> = asked.iter().map(weight).collect();
    let score = |held: &Held| -> f32 {
        asked.iter().zip(&weights).map(|(word, weight)| held.share(word) * weight).sum()
    };
    let mut scored: Vec<_> = held.iter().map(score).zip(listed).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    let fits = scored.iter().filter(|(score, _)| best > 0.0 && *score >= LEAST_OF_BEST * best);
    fits.map(|(_, listed)| listed.name.clone()).collect()
}

/// A description without the sentences that say what something is not for.
fn positive(said: &str) -> String {
    let is_negative = |sentence: &&str| {
        ["쓰지 않", "하지 않", "않습니다", " not "].iter().any(|words| sentence.contains(words))
    };
    said.split_inclusive(". ").filter(|sentence| !is_negative(sentence)).collect()
}

/// The words of the question, by their places in it, in which one of `aliases` stands: that whose words are nearest to each other, and the
/// longest of such.
pub(crate) fn cue(question: &str, aliases: &[String]) -> Option<Vec<usize>> {
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

/// Where the words of `cue` stand in the question, in their order. One of a single letter stands in another word than the one before it:
/// `메모 지` is not in `메모지`.
fn places(cue: &str, question: &str) -> Option<Vec<usize>> {
    let mut from = 0;
    let place = |part: &str| {
        let is_short = from > 0 && part.chars().count() == 1;
        let rest = question.get(from..)?;
        let begin = if is_short { rest.find(char::is_whitespace)? } else { 0 };
        let at = from + begin + rest.get(begin..)?.find(part)?;
        from = at + part.len();
        Some(at)
    };
    cue.split_whitespace().map(place).collect()
}

/// The most questions in one message.
const MOST_QUESTIONS: usize = 4;

/// The questions in a message that asks several; the message itself otherwise.
pub(crate) fn parts(question: &str) -> Vec<String> {
    let sentences = question.split_inclusive(['?', '？', '!']);
    let parts = sentences.flat_map(|sentence| sentence.split(" 그리고 "));
    let parts = parts.map(|part| part.trim().trim_start_matches("그리고 ").trim());
    let parts: Vec<_> = parts.filter(|part| !content(part).is_empty()).map(str::to_owned).collect();
    match parts.len() {
        2..=MOST_QUESTIONS => parts,
        _ => vec![question.to_owned()],
    }
}

pub(crate) fn is_greeting(question: &str) -> bool {
    let greets = |word: &Word| {
        let text = word.text.to_lowercase();
        tables::GREETINGS.contains(&text.as_str())
            || tables::GREETINGS.contains(&word.stem.as_str())
    };
    let words = words(question);
    words.len() <= 4 && words.iter().any(greets) && content(question).iter().all(greets)
}
