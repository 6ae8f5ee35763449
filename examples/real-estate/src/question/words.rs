//! Pieces of a text around a place.

/// The longest question that is read, in bytes; what follows is not.
pub(super) const LONGEST: usize = 20_000;

/// The beginning of a text, at most so many bytes, cut between characters.
pub(super) fn head_bytes(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// At most so many characters at the beginning of a text.
pub(super) fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |place| place.0);
    text.get(..end).unwrap_or(text)
}

/// At most so many characters at the end of a text.
pub(super) fn tail(text: &str, most: usize) -> &str {
    let start = most.checked_sub(1).and_then(|nth| text.char_indices().rev().nth(nth));
    let start = start.map_or(if most == 0 { text.len() } else { 0 }, |place| place.0);
    text.get(start..).unwrap_or(text)
}

/// The text between two places.
pub(super) fn between(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

/// Whether a text has one of the words.
pub(super) fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether a text begins with one of the words.
pub(super) fn starts(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Whether `c` ends a sentence.
pub(super) fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '?' | '!' | '\n' | ';' | '。' | '？' | '！')
}
