//! What people say instead of the words of the texts.

use std::{str::FromStr, sync::Arc};

use hanok_core::{Script, words};
use thiserror::Error;

use crate::stem::stem;

/// What may be joined to a word of one syllable; whatever else follows makes another word of it.
const JOINED: &[&str] = &[
    "", "은", "는", "이", "가", "을", "를", "도", "의", "에", "로", "만", "랑", "이랑", "와", "과",
    "한테", "에게", "보다", "라도",
];

/// Words that people use, each with the words that texts have instead: a search for the one finds the others.
///
/// A line of its text is `grandmother, grandfather = grandparent`: before the `=` what people say, behind it what stands in
/// texts, with commas between. Lines that begin with `#` and empty ones are not read. A Korean word stands for all that begin
/// with it, and one of a single syllable only for itself with a particle; an English one for all words of its stem; several
/// words for themselves in this order. Clones are the same.
///
/// ```
/// use hanok_retrieval::{Document, MemoryIndex, Query, Splitter, Synonyms, Terms};
///
/// let everyday: Synonyms = "할머니, 할아버지 = 조부모\n돌아가 = 사망".parse()?;
/// let rules = Document::new("rules.md", "조부모가 사망하면 3일을 쉰다.");
/// let index = MemoryIndex::new(Splitter::new().split(&rules), Terms::default());
///
/// let query = Query::new("할머니가 돌아가시면");
/// assert!(index.find(&query).is_empty());
/// assert_eq!(index.find(&query.synonyms(&everyday)).len(), 1);
/// # Ok::<(), hanok_retrieval::SynonymsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synonyms(Arc<Vec<Line>>);

/// What people say, and what texts say.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    spoken: Vec<Spoken>,
    written: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Spoken {
    /// A word of letters a to z, as its stem.
    English(String),
    /// A word that others begin with.
    Begins(String),
    /// Several words, with a blank before them.
    Phrase(String),
}

/// A line of synonyms that is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} is no `word, word = word`: {text:?}")]
pub struct SynonymsError {
    /// Which line, from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

impl FromStr for Synonyms {
    type Err = SynonymsError;

    fn from_str(text: &str) -> Result<Self, SynonymsError> {
        let lines = (1..).zip(text.lines().map(str::trim));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let read = |(number, line): (usize, &str)| {
            let fault = || SynonymsError { line: number, text: line.to_owned() };
            let (spoken, written) = line.split_once('=').ok_or_else(fault)?;
            let list = |text: &str| -> Vec<String> {
                let words = text.split(',').map(|word| word.trim().to_lowercase());
                words.filter(|word| !word.is_empty()).collect()
            };
            let (spoken, written) = (list(spoken), list(written));
            if spoken.is_empty() || written.is_empty() {
                return Err(fault());
            }
            Ok(Line { spoken: spoken.into_iter().map(Spoken::new).collect(), written })
        };
        lines.map(read).collect::<Result<_, _>>().map(|lines| Self(Arc::new(lines)))
    }
}

impl Spoken {
    fn new(text: String) -> Self {
        match text {
            text if text.contains(' ') => Self::Phrase(format!(" {text}")),
            text if is_english(&text) => Self::English(stemmed(&text)),
            text => Self::Begins(text),
        }
    }

    /// How many letters of `word`, in lower case and of this stem if it is English, are those of this, where it is one of those
    /// that this stands for.
    fn fits(&self, word: &str, stem: Option<&str>) -> Option<usize> {
        match self {
            Self::English(own) => (stem == Some(own.as_str())).then_some(word.len()),
            Self::Begins(begin) => {
                let rest = word.strip_prefix(begin.as_str())?;
                let is = begin.chars().nth(1).is_some() || JOINED.contains(&rest);
                is.then_some(begin.len())
            }
            Self::Phrase(_) => None,
        }
    }
}

fn is_english(word: &str) -> bool {
    word.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-')
}

fn stemmed(word: &str) -> String {
    let first = words(word).into_iter().next();
    first.filter(|first| first.script == Script::Letters).map_or_else(|| word.to_owned(), stem)
}

impl Synonyms {
    /// What texts say instead of `word`, by the longest words of the table that it begins with; nothing for a word that is not there.
    pub fn of_word<'s>(&'s self, word: &str) -> impl Iterator<Item = &'s str> + use<'s> {
        let word = word.to_lowercase();
        let stem = is_english(&word).then(|| stemmed(&word));
        let fits = |line: &'s Line| {
            let spoken = line.spoken.iter().filter_map(|it| it.fits(&word, stem.as_deref()));
            let longest = spoken.max()?;
            Some((longest, line))
        };
        let fitting: Vec<(usize, &Line)> = self.0.iter().filter_map(fits).collect();
        let longest = fitting.iter().map(|(longest, _)| *longest).max();
        let lines = fitting.into_iter().filter(move |(letters, _)| Some(*letters) == longest);
        lines.flat_map(|(_, line)| &line.written).map(String::as_str)
    }

    /// What texts say instead of the phrases of several words that stand in `text`, each phrase with that.
    pub fn of_phrases<'s>(&'s self, text: &str) -> impl Iterator<Item = (&'s str, &'s [String])> {
        let text =
            format!(" {} ", text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "));
        self.0.iter().filter_map(move |line| {
            let phrase = |spoken: &'s Spoken| match spoken {
                Spoken::Phrase(phrase) => text.contains(phrase).then(|| phrase.trim_start()),
                _ => None,
            };
            Some((line.spoken.iter().find_map(phrase)?, line.written.as_slice()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_phrases_have_what_texts_say_instead() {
        let synonyms: Synonyms =
            "# family\n할머니, 할배 = 조부모\n개 = 반려동물\n아이 = 자녀\n아이디 = 계정\ngrandparents = 조부모\n\n비싼 자리 = 좌석"
                .parse()
                .unwrap();
        for (word, want) in [
            ("할머니께서", "조부모"),
            ("개는", "반려동물"),
            ("개발", ""),
            ("Grandparent", "조부모"),
            ("grand", ""),
            ("아이디를", "계정"),
            ("아이가", "자녀"),
            ("자리", ""),
        ] {
            assert_eq!(synonyms.of_word(word).collect::<Vec<_>>().join(","), want, "{word}");
        }
        let phrases = |text: &str| {
            let phrases = synonyms.of_phrases(text);
            phrases
                .map(|(phrase, written)| (phrase.to_owned(), written.join(",")))
                .collect::<Vec<_>>()
        };
        assert_eq!(phrases("아주  비싼 자리에"), [("비싼 자리".to_owned(), "좌석".to_owned())]);
        assert_eq!(phrases("안비싼 자리"), []);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for text in ["a = b\nx y", "a = b\n= y", "a = b\nx = ,"] {
            let error = text.parse::<Synonyms>().unwrap_err();
            assert_eq!(error.line, 2, "{text}");
        }
    }
}
