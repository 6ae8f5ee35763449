//! Stems of words.

use hanok_core::{Script, Word};
use rust_stemmers::{Algorithm, Stemmer};

/// The stem of an English word; other words as they are.
pub(crate) fn stem(word: Word) -> String {
    if word.script != Script::Letters || !word.text.bytes().all(|c| c.is_ascii_lowercase()) {
        return word.text;
    }
    Stemmer::create(Algorithm::English).stem(&word.text).into_owned()
}
