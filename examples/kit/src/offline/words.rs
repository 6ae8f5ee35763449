//! Words of Korean and English, and how much of one stands in a text.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use crate::offline::tables::{self, everyday};

/// A question is a few sentences; of a longer text this many characters are read.
const MOST_CHARS: usize = 2_000;

/// `text` as it is read: composed, without control characters, blanks as spaces, cut where it is no question any more.
pub(crate) fn clean(text: &str) -> String {
    let composed = text.chars().take(MOST_CHARS).nfc();
    composed
        .map(|c| if c.is_whitespace() || c.is_control() || is_hidden(c) { ' ' } else { c })
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Marks that reorder or hide text.
fn is_hidden(c: char) -> bool {
    matches!(u32::from(c), 0x061C | 0x200B | 0x200E..=0x200F | 0x2028..=0x202E | 0x2060..=0x2069 | 0xFEFF)
}

pub(crate) fn is_hangul(c: char) -> bool {
    ('가'..='힣').contains(&c)
}

/// A word as it stands in a text, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    /// As it was written.
    pub(crate) text: String,
    /// In lower case, without particles and endings.
    pub(crate) stem: String,
    /// What texts say instead, each as the stems of its words.
    pub(crate) also: Vec<Vec<String>>,
    /// Whether it is of the question before, from which this one goes on.
    pub(crate) is_earlier: bool,
}

impl Word {
    fn new(text: String) -> Self {
        let stem = stem(&text.to_lowercase());
        Self { text, stem, also: Vec::new(), is_earlier: false }
    }
}

/// What stands between the words of the question before and one that goes on from it.
pub(crate) const GOES_ON: &str = " ‖ ";

/// The stems of what texts say instead of something.
fn stems(written: &str) -> Vec<String> {
    words(written).into_iter().map(|word| word.stem).collect()
}

/// The words of `text`. A particle that is joined to something else is left out: `VPN을` is `VPN`, `‘휴가’는` is `휴가`.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut run, mut joined, mut before) = (String::new(), false, ' ');
    let mut end = |run: &mut String, joined: bool| {
        let run = std::mem::take(run);
        let particle = joined && tables::PARTICLES.contains(&run.as_str());
        if !run.is_empty() && !particle {
            words.push(Word::new(run));
        }
    };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let in_number = before.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit);
        if is_hangul(c) && before.is_ascii_alphabetic() {
            end(&mut run, joined);
        }
        if c.is_alphanumeric() || (c == '.' && in_number) {
            if run.is_empty() {
                joined = !before.is_whitespace();
            }
            run.push(c);
        } else if !(c == ',' && in_number) {
            end(&mut run, joined);
        }
        before = c;
    }
    end(&mut run, joined);
    words
}

/// The words that say what is asked for, each once and with what texts say instead: those of asking left out, and those of a phrase
/// that texts say otherwise as one.
pub(crate) fn content(text: &str) -> Vec<Word> {
    let mut content: Vec<Word> = Vec::new();
    let phrases: Vec<_> = everyday().of_phrases(text).collect();
    let lower = |word: &Word| word.text.to_lowercase();
    let is_in = |word: &Word, phrase: &str| {
        phrase.split(' ').any(|part| lower(word) == part)
            || phrase.rsplit(' ').next().is_some_and(|last| lower(word).starts_with(last))
    };
    let before = text.split_once(GOES_ON).map_or(0, |(before, _)| words(before).len());
    for (at, mut word) in words(text).into_iter().enumerate() {
        word.is_earlier = at < before;
        let in_phrase = phrases.iter().any(|(phrase, _)| is_in(&word, phrase));
        word.also = everyday().of_word(&word.text).map(stems).collect();
        let asks = is_asking(&word) && word.also.is_empty();
        if !in_phrase && !asks && !content.iter().any(|it| it.stem == word.stem) {
            content.push(word);
        }
    }
    content.extend(phrases.into_iter().map(|(phrase, written)| {
        let also = written.iter().map(|text| stems(text)).collect();
        Word { also, ..Word::new(phrase.to_owned()) }
    }));
    content
}

/// Whether a word only asks.
pub(crate) fn is_asking(word: &Word) -> bool {
    let written = word.text.to_lowercase();
    tables::ASKING.contains(&written.as_str())
        || tables::ASKING.contains(&word.stem.as_str())
        || tables::ASKING_BEGINS.iter().any(|begin| written.starts_with(begin))
}

/// A word without what Korean and English join to its end.
fn stem(word: &str) -> String {
    if word.chars().any(is_hangul) {
        return korean(word).to_owned();
    }
    for (end, instead) in [("ies", "y"), ("sses", "ss"), ("s", ""), ("ing", ""), ("ed", "")] {
        let Some(rest) = word.strip_suffix(end) else { continue };
        if rest.len() >= 3 && !rest.ends_with('s') {
            return format!("{rest}{instead}");
        }
    }
    word.to_owned()
}

/// The word without its longest particle, or else its longest ending. Two syllables are left, or a number with its unit.
fn korean(word: &str) -> &str {
    let is_noun = tables::NOUN_ENDS.iter().any(|end| word.ends_with(end));
    let fits = |rest: &&str| {
        let count = rest.chars().count();
        count >= 2 || (count == 1 && rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let without = |ends: &[&str]| {
        let rests = ends.iter().filter_map(|end| word.strip_suffix(end)).filter(fits);
        rests.min_by_key(|rest| rest.len())
    };
    let bare = if is_noun { None } else { without(&tables::PARTICLES) };
    bare.or_else(|| without(&tables::ENDINGS)).unwrap_or(word)
}

/// What a text holds, for asking how much of a word stands in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    stems: BTreeSet<String>,
    pairs: BTreeSet<(char, char)>,
}

impl Held {
    pub(crate) fn of(text: &str) -> Self {
        let mut held = Self::default();
        held.add(text);
        held
    }

    pub(crate) fn add(&mut self, text: &str) {
        for word in words(text) {
            // Korean words that are written apart are often asked for together.
            self.pairs.extend(pairs(&word.text.to_lowercase()));
            self.stems.insert(word.stem);
        }
    }

    /// How much of `word`, or of what texts say instead, the text has, from 0 to 1.
    pub(crate) fn share(&self, word: &Word) -> f32 {
        let also = |stems: &Vec<String>| {
            let shares = stems.iter().map(|stem| self.has(stem));
            shares.reduce(f32::min).unwrap_or_default()
        };
        let also = word.also.iter().map(also).fold(0.0, f32::max);
        self.has(&word.stem).max(INSTEAD * also)
    }

    /// How much of a word of this stem the text has. Korean words are compared by pairs of syllables, others whole.
    pub(crate) fn has(&self, stem: &str) -> f32 {
        if self.stems.contains(stem) {
            return 1.0;
        }
        if !stem.starts_with(is_hangul) {
            return 0.0;
        }
        let wanted: Vec<_> = pairs(stem).collect();
        if wanted.is_empty() {
            return 0.0;
        }
        let found = wanted.iter().filter(|pair| self.pairs.contains(pair)).count();
        let share = small(found) / small(wanted.len());
        // One pair of a long word is chance, and all of them may stand within another word.
        if share < 0.4 { 0.0 } else { share.min(WITHIN) }
    }
}

/// What a word counts for that stands within others: 부모 in 조부모.
const WITHIN: f32 = 0.97;

/// What a word that texts say instead counts for.
const INSTEAD: f32 = 0.9;

fn pairs(word: &str) -> impl Iterator<Item = (char, char)> + '_ {
    word.chars().zip(word.chars().skip(1)).filter(|(a, b)| is_hangul(*a) && is_hangul(*b))
}

/// The mean share of `words` in `held`; 0 without words.
pub(crate) fn coverage(words: &[Word], held: &Held) -> f32 {
    if words.is_empty() {
        return 0.0;
    }
    words.iter().map(|word| held.share(word)).sum::<f32>() / small(words.len())
}

/// A count as a number to weigh with.
pub(crate) fn small(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_loses_what_is_joined_to_its_end() {
        for (text, want) in [
            ("연차휴가는", "연차휴가"),
            ("출산하면", "출산"),
            ("VPN을 쓰려면", "vpn 쓰려면"),
            ("3년이", "3년"),
            ("1,250,000원은 3.5%", "1250000원 3.5"),
            ("서울에서의", "서울"),
            ("leaves policies meeting", "leave policy meet"),
            ("\u{1112}\u{1161}\u{11ab}옥", "한옥"),
        ] {
            let stems: Vec<_> = words(&clean(text)).into_iter().map(|word| word.stem).collect();
            assert_eq!(stems.join(" "), want, "{text}");
        }
    }

    #[test]
    fn words_of_asking_say_nothing_of_what_is_asked_for() {
        for (text, want) in [
            ("회사 휴가 정책 알려줘", "회사 휴가 정책"),
            ("점심시간은 언제예요?", "점심시간"),
            ("what is the dress code", "dress code"),
            ("그건 어떻게 하나요", ""),
        ] {
            let stems: Vec<_> = content(text).into_iter().map(|word| word.stem).collect();
            assert_eq!(stems.join(" "), want, "{text}");
        }
    }

    #[test]
    fn what_hides_or_acts_is_not_read() {
        assert_eq!(clean("  휴가\u{1b}[31m\n정책\u{202e}\t "), "휴가 [31m 정책");
        assert_eq!(clean(&"가".repeat(10_000)).chars().count(), MOST_CHARS);
    }
}
