//! What of a text is indexed and asked for.

use hanok_core::{Script, Word, words};

use crate::{error::RetrievalError, morphemes::SharedMorphemes, stem::stem, synonyms::Synonyms};

/// Which terms stand for a text in the index.
///
/// Korean joins particles to nouns and nouns to each other: `연차휴가는` is one word, and 휴가 is
/// not. Two characters at a time (`연차`, `차휴`, `휴가`, `가는`) find it without a dictionary.
///
/// Of an English word the stem is indexed, as Snowball's English stemmer makes it: `passwords` and `password` are one term.
/// That is done to every word of the letters a to z.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Terms {
    /// Words only.
    Words,
    /// Of words in Korean, Chinese and Japanese script the bigrams, other words and numbers whole.
    /// The default: it found most in the measurement of this crate's README.
    #[default]
    Bigrams,
    /// As `Bigrams`, and the Korean words beside them: a whole word counts for more.
    Both,
    /// Of Korean words the nouns, stems and roots that a dictionary finds in them, others as by `Bigrams`.
    Morphemes(SharedMorphemes),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    Word,
    Bigram,
}

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

impl Terms {
    /// As a store outside this process writes it.
    #[must_use]
    pub fn named(&self) -> String {
        format!("{self:?}, English stems")
    }

    /// Refuses a store that was filled by the terms of the name `stored`, if these are others.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Terms`] then.
    pub fn fit(&self, stored: &str) -> Result<(), RetrievalError> {
        let asked = self.named();
        if asked == stored {
            return Ok(());
        }
        Err(RetrievalError::Terms { stored: stored.to_owned(), asked })
    }
}

impl Term {
    /// As a store outside this process writes it: no two terms alike, and without blanks.
    #[must_use]
    pub fn written(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 1);
        text.push(self.kind.mark());
        text + &self.text
    }
}

impl Kind {
    fn mark(self) -> char {
        match self {
            Self::Word => 'w',
            Self::Bigram => 'b',
        }
    }
}

/// The terms of a passage as they are [`written`](Term::written), repeated as often as they occur, each with a blank after
/// it; and how many they are.
pub fn written(text: &str, terms: &Terms) -> (String, usize) {
    let (mut all, mut count) = (String::with_capacity(text.len() * 3), 0);
    for word in words(text) {
        if let Some(morphemes) = morphemes(&word.text, terms) {
            for morpheme in morphemes {
                all.push(Kind::Word.mark());
                all += &morpheme;
                all.push(' ');
                count += 1;
            }
            continue;
        }
        let joined = is_joined(&word) && *terms != Terms::Words;
        let text = if joined { word.text } else { stem(word) };
        if joined {
            for (a, b) in text.chars().zip(text.chars().skip(1)) {
                all.extend([Kind::Bigram.mark(), a, b, ' ']);
                count += 1;
            }
        }
        if !joined || *terms == Terms::Both {
            all.push(Kind::Word.mark());
            all += &text;
            all.push(' ');
            count += 1;
        }
    }
    (all, count)
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The term.
    pub term: Term,
    /// Which word of the question it is of, from 0.
    pub word: usize,
    /// Whether it counts for the coverage: a word whose bigrams are there counts by them.
    pub counts: bool,
    /// Among how many terms that stand for the word in other words its weight is divided; 1 for the word itself.
    pub among: u16,
}

fn bigrams(word: &str) -> impl Iterator<Item = Term> + '_ {
    let pairs = word.chars().zip(word.chars().skip(1));
    pairs.map(|(a, b)| Term { kind: Kind::Bigram, text: String::from_iter([a, b]) })
}

/// What a Korean word is made of, where terms are that.
fn morphemes(word: &str, terms: &Terms) -> Option<Vec<String>> {
    let korean = || word.chars().any(|c| ('가'..='힣').contains(&c));
    match terms {
        Terms::Morphemes(dictionary) if korean() => Some(dictionary.morphemes(word)),
        _ => None,
    }
}

fn is_joined(word: &Word) -> bool {
    word.script == Script::Syllables && word.text.chars().nth(1).is_some()
}

/// The terms of a passage, repeated as often as they occur.
pub(crate) fn indexed(text: &str, terms: &Terms) -> Vec<Term> {
    let words = words(text).into_iter().enumerate();
    words.flat_map(|(at, word)| of(at, word, terms)).map(|asked| asked.term).collect()
}

/// The terms of the word at `at`.
fn of(at: usize, word: Word, terms: &Terms) -> Vec<Asked> {
    if let Some(morphemes) = morphemes(&word.text, terms) {
        let each = morphemes.into_iter();
        let term = |text| Asked {
            term: Term { kind: Kind::Word, text },
            word: at,
            counts: true,
            among: 1,
        };
        return each.map(term).collect();
    }
    let joined = is_joined(&word) && *terms != Terms::Words;
    let text = if joined { word.text } else { stem(word) };
    let mut all: Vec<Asked> = Vec::new();
    if joined {
        all.extend(bigrams(&text).map(|term| Asked { term, word: at, counts: true, among: 1 }));
    }
    if !joined || *terms == Terms::Both {
        all.push(Asked {
            term: Term { kind: Kind::Word, text },
            word: at,
            counts: !joined,
            among: 1,
        });
    }
    all
}

/// What the terms of a word in a phrase weigh, as if they stood among so many.
const IN_PHRASE: u16 = 6;

/// A longer question says nothing more.
pub(crate) const MAX_ASKED: usize = 256;

/// The terms of a question, each once, without the words of asking unless there are no others. What texts say instead of a word
/// is of that word.
pub(crate) fn query_terms(text: &str, terms: &Terms, synonyms: &Synonyms) -> Vec<Asked> {
    let words = words(text);
    let (asking, meant): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| is_asking(&word.text));
    let kept = if meant.is_empty() { asking } else { meant };

    let mut all: Vec<Asked> = Vec::new();
    let instead = |at: usize, texts: Vec<&str>| -> Vec<Asked> {
        let words = texts.into_iter().flat_map(hanok_core::words);
        let mut all: Vec<Asked> = words.flat_map(|word| of(at, word, terms)).collect();
        let among = u16::try_from(all.len()).unwrap_or(u16::MAX);
        all.iter_mut().for_each(|term| term.among = among);
        all
    };
    let count = kept.len();
    let phrases: Vec<(&str, &[String])> = synonyms.of_phrases(text).collect();
    // A word of a phrase is found as well, and weighs less.
    let in_phrase = |word: &str| {
        phrases.iter().any(|(phrase, _)| phrase.split(' ').any(|part| word.starts_with(part)))
    };
    let of_word = |(at, word): (usize, Word)| {
        if in_phrase(&word.text) {
            let mut own = of(at, word, terms);
            own.iter_mut().for_each(|term| (term.counts, term.among) = (false, IN_PHRASE));
            return own;
        }
        let others = instead(at, synonyms.of_word(&word.text).collect());
        of(at, word, terms).into_iter().chain(others).collect()
    };
    let of_phrases = (count..)
        .zip(&phrases)
        .flat_map(|(at, (_, written))| instead(at, written.iter().map(String::as_str).collect()));
    for term in kept.into_iter().enumerate().flat_map(of_word).chain(of_phrases) {
        if all.len() < MAX_ASKED && !all.iter().any(|known| known.term == term.term) {
            all.push(term);
        }
    }
    all
}

/// Whether `word`, in lower case, asks and says nothing of what is asked for.
pub(crate) fn is_asking(word: &str) -> bool {
    ASKING.contains(&word)
}

/// Words that ask and say nothing of what is asked for. They stand in few documents, so their
/// weight would be high.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "알려줘", "알려", "알려주세요", "알려줄래", "말해줘", "설명해줘", "설명해", "설명해주세요", "찾아줘", "가르쳐줘",
    "뭐야", "뭐", "뭔가요", "뭐예요", "뭐지", "무엇", "무엇이", "무엇을", "무엇인가요", "무엇인지", "무슨", "뭘",
    "어떻게", "어떤", "어떤가요", "어디", "어디에", "어디서", "어디야", "언제", "언제야", "언제까지", "언제인가요",
    "얼마", "얼마야", "얼마나", "얼마인가요", "얼마까지", "몇", "누가", "누구", "누구에게", "왜",
    "하나요", "하죠", "해야", "합니까", "되나요", "됩니까", "돼요", "돼", "인가요", "있나요", "있어", "있어요", "있는지",
    "수", "것", "거", "꼭", "더", "며칠", "같은", "같아요",
    "줘", "주세요", "싶어", "싶은데", "싶어요", "궁금해", "궁금해요", "궁금합니다", "좀", "제가", "저는", "나는", "내가",
    "what", "which", "who", "when", "where", "how", "why", "is", "are", "do", "does", "can", "the", "a", "an",
    "of", "to", "in", "for", "me", "tell", "please", "i", "my",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(asked: Vec<Asked>) -> String {
        let each = asked.into_iter().map(|Asked { term, counts, .. }| {
            let mark = if term.kind == Kind::Word { "!" } else { "" };
            format!("{}{mark}{}", term.text, if counts { "" } else { "-" })
        });
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn korean_by_words_and_bigrams_numbers_and_english_whole() {
        for (text, terms, want) in [
            ("연차휴가는", Terms::Both, "연차 차휴 휴가 가는 연차휴가는!-"),
            ("연차휴가는", Terms::Bigrams, "연차 차휴 휴가 가는"),
            ("연차휴가는", Terms::Words, "연차휴가는!"),
            ("팀 VPN2 접속", Terms::Both, "팀! vpn! 2! 접속 접속!-"),
            ("1,250,000원 3.5% 2026.", Terms::Both, "1250000! 원! 3.5! 2026!"),
            ("휴가 알려줘", Terms::Bigrams, "휴가"),
            ("어떻게", Terms::Bigrams, "어떻 떻게"),
            ("휴가 휴가", Terms::Bigrams, "휴가"),
            ("", Terms::Both, ""),
        ] {
            assert_eq!(
                shown(query_terms(text, &terms, &Synonyms::default())),
                want,
                "{text} {terms:?}"
            );
        }
    }

    #[test]
    fn what_is_written_is_what_is_indexed() {
        for terms in [Terms::Words, Terms::Bigrams, Terms::Both] {
            for text in [
                "",
                "휴",
                "연차휴가는 VPN2, 1,250,000원 3.5% 휴 휴가",
                "가\u{0}나 漢字かな🙂 a\u{a0}b",
            ] {
                let each: Vec<String> = indexed(text, &terms).iter().map(Term::written).collect();
                let (all, count) = written(text, &terms);
                assert_eq!(all.split_whitespace().collect::<Vec<_>>(), each, "{text} {terms:?}");
                assert_eq!(count, each.len());
            }
        }
    }

    #[test]
    fn of_an_endless_question_not_everything_is_asked() {
        assert!(
            query_terms(&"가나다라 마바사 ".repeat(10_000), &Terms::Both, &Synonyms::default())
                .len()
                <= MAX_ASKED
        );
    }
}
