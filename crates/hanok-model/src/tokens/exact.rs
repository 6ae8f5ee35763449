//! The vocabularies of OpenAI's models.

use tiktoken_rs::{
    cl100k_base_singleton, o200k_base_singleton,
    tokenizer::{Tokenizer, get_tokenizer},
};

/// The longest run of letters, of spaces or of signs that is counted in one piece, in bytes.
///
/// The time that a run takes grows with the square of its length, and the library's regular expression panics on
/// very long ones. A longer run is counted in parts, at one token too many for each at most.
const LONGEST_RUN: usize = 1024;

/// A vocabulary that is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Vocabulary {
    O200k,
    Cl100k,
}

impl Vocabulary {
    /// The vocabulary of the model of this name, with or without the name of its maker before a `/`.
    pub(super) fn of(model: &str) -> Option<Self> {
        let name = model.strip_prefix("openai/").unwrap_or(model);
        match get_tokenizer(name)? {
            // They differ in their special tokens only, which no text has.
            Tokenizer::O200kBase | Tokenizer::O200kHarmony => Some(Self::O200k),
            Tokenizer::Cl100kBase => Some(Self::Cl100k),
            _ => None,
        }
    }

    pub(super) fn tokens(self, text: &str) -> u64 {
        let vocabulary = match self {
            Self::O200k => o200k_base_singleton(),
            Self::Cl100k => cl100k_base_singleton(),
        };
        let count: usize = Pieces(text).map(|piece| vocabulary.count_ordinary(piece)).sum();
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Letter,
    Space,
    Sign,
}

fn kind(c: char) -> Kind {
    match c {
        c if c.is_whitespace() => Kind::Space,
        c if c.is_alphanumeric() => Kind::Letter,
        _ => Kind::Sign,
    }
}

/// A text in pieces, cut only within runs that are too long.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        let (piece, rest) = self.0.split_at_checked(cut(self.0)).unwrap_or((self.0, ""));
        self.0 = rest;
        Some(piece)
    }
}

/// The place at which the first run of `text` that is too long is cut, or the end of `text`.
fn cut(text: &str) -> usize {
    let (mut start, mut last) = (0, None);
    for (at, c) in text.char_indices() {
        if last != Some(kind(c)) {
            (start, last) = (at, Some(kind(c)));
        }
        if at - start >= LONGEST_RUN {
            return at;
        }
    }
    text.len()
}
