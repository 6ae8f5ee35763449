//! Names of people in a question.

use std::fmt::Display;

use crate::offline::words::{is_asking, is_hangul, words};

crate::offline::tables::lists! { LONG_FAMILIES TITLES JOINED NO_NAMES FAMILIES NO_FAMILIES DOUBTFUL ENDS_NO_NAME }

/// A name that a question has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) sure: Sure,
}

/// How likely a name is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// It may as well be a word with a particle.
    Doubtful,
    /// It is built like a name.
    Likely,
    /// A title stands behind it.
    Titled,
}

/// The likeliest name of a person in `question`, of equal ones the first.
pub(crate) fn named(question: &str) -> Option<Named> {
    let words = words(question);
    let mut names: Vec<Named> = Vec::new();
    let mut rest = words.as_slice();
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        if is_asking(word) && word.text.chars().count() > 1 {
            continue;
        }
        let text = |at: usize| behind.get(at).map_or("", |word| word.text.as_str());
        if let Some(name) = two_words(&word.text, text(0)) {
            names.push(Named { sure: sure(&name, &word.text, text(1)), name });
            rest = behind.get(1..).unwrap_or_default();
        } else if let Some(name) = whole(&word.text, is_titled(&word.text, text(0))) {
            names.push(Named { sure: sure(&name, &word.text, text(0)), name });
        }
    }
    names.extend(latin(question).map(|name| Named { name, sure: Sure::Likely }));
    let best = names.iter().map(|name| name.sure).max()?;
    names.into_iter().find(|name| name.sure == best)
}

fn sure(name: &str, word: &str, next: &str) -> Sure {
    match is_titled(word, next) {
        true => Sure::Titled,
        false if name.ends_with(|c| in_any(&DOUBTFUL, c)) => Sure::Doubtful,
        false => Sure::Likely,
    }
}

/// Whether a title ends the word or stands behind it.
fn is_titled(word: &str, next: &str) -> bool {
    word.ends_with(['님', '씨']) || TITLES.iter().any(|title| next.starts_with(title))
}

/// The name that `word` is, without what is joined to it.
fn whole(word: &str, titled: bool) -> Option<String> {
    if is_name(word, titled) {
        return Some(word.to_owned());
    }
    let bare =
        JOINED.iter().find_map(|end| word.strip_suffix(end).filter(|name| is_name(name, titled)));
    bare.map(str::to_owned)
}

/// `김 하늘`.
fn two_words(family: &str, given: &str) -> Option<String> {
    let is_family =
        family.chars().count() == 1 && in_any(&FAMILIES, family) && !in_any(&NO_FAMILIES, family);
    let given = JOINED.iter().find_map(|end| given.strip_suffix(end)).unwrap_or(given);
    let name = format!("{family}{given}");
    (is_family && is_name(&name, false)).then_some(name)
}

/// Whether one of `texts` has it.
fn in_any(texts: &[&str], letter: impl Display) -> bool {
    texts.iter().any(|text| text.contains(&letter.to_string()))
}

fn is_name(word: &str, titled: bool) -> bool {
    let ends = !titled && word.ends_with(|c| in_any(&ENDS_NO_NAME, c));
    if ends || !word.chars().all(is_hangul) || NO_NAMES.contains(&word) {
        return false;
    }
    let count = word.chars().count();
    if LONG_FAMILIES.iter().any(|family| word.starts_with(family)) {
        return count == 4;
    }
    let family = word.chars().next().is_some_and(|c| in_any(&FAMILIES, c));
    family && (count == 3 || (count == 2 && titled))
}

/// `Haneul Kim`: two words that begin with a capital and do not begin the sentence.
fn latin(question: &str) -> Option<String> {
    let words = question.split_whitespace().skip(1).collect::<Vec<_>>();
    let bare = |word: &str| {
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let is_capital = |word: &str| {
        word.len() > 1
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().skip(1).all(|c| c.is_ascii_lowercase())
    };
    let pair = words.iter().zip(words.iter().skip(1)).map(|(a, b)| (bare(a), bare(b)));
    let mut pairs = pair.filter(|(a, b)| is_capital(a) && is_capital(b));
    pairs.next().map(|(given, family)| format!("{given} {family}"))
}

/// The first word that names a team: 디자인팀.
pub(crate) fn team(question: &str) -> Option<String> {
    let mut stems = words(question).into_iter().map(|word| word.stem);
    stems.find(|stem| stem.chars().count() >= 3 && (stem.ends_with('팀') || stem.ends_with("본부")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words_that_begin_like_them() {
        for (question, want) in [
            ("김하늘 연차 며칠 남았어?", Some("김하늘")),
            ("이도윤의 내선번호", Some("이도윤")),
            ("남궁민서가 어느 팀이야", Some("남궁민서")),
            ("진솔 님 이메일 알려줘", Some("진솔")),
            ("박서연한테 전화하려면?", Some("박서연")),
            ("최 가람 팀장 자리", Some("최가람")),
            ("how many days does Haneul Kim have left?", Some("Haneul Kim")),
            ("배우자 출산하면 며칠 쉬나요", None),
            ("노트북을 잃어버렸어요", None),
            ("연차는 며칠 전에 신청해야 돼?", None),
            ("123 * 456은?", None),
            ("회의실 빈 곳", None),
            ("복지포인트 안 쓰면 어떻게 돼?", None),
            ("내 차로 가면 유류비 주나요", None),
        ] {
            let name = named(question).map(|named| named.name);
            assert_eq!(name.as_deref(), want, "{question}");
        }
    }
}
