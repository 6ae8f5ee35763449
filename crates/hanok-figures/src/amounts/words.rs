//! Single characters of the text: spaces, Hangul, and the syllables of numerals.

/// What stands at `at` and after it; nothing where `at` is no boundary.
pub(super) fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    rest(text, at).chars().next()
}

pub(super) fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at).unwrap_or_default().chars().next_back()
}

pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}' | '\u{3000}')
}

/// The place behind the spaces at `at`, of which there may be two.
pub(super) fn skip_space(text: &str, at: usize) -> usize {
    at + rest(text, at)
        .chars()
        .take_while(|c| is_space(*c))
        .take(2)
        .map(char::len_utf8)
        .sum::<usize>()
}

/// The place behind `word`, if it stands at `at`.
pub(super) fn word_at(text: &str, at: usize, word: &str) -> Option<usize> {
    rest(text, at).starts_with(word).then_some(at + word.len())
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='힣')
}

/// Whether no word goes on at `at`.
pub(super) fn ends_word(text: &str, at: usize) -> bool {
    !char_at(text, at).is_some_and(|c| c.is_alphanumeric())
}

/// The end of the Hangul that begins at `at`.
pub(super) fn hangul_end(text: &str, at: usize) -> usize {
    at + rest(text, at).chars().take_while(|c| is_hangul(*c)).map(char::len_utf8).sum::<usize>()
}

/// The digit that a syllable is.
pub(super) fn digit_syllable(c: char) -> Option<i64> {
    "일이삼사오육칠팔구".chars().zip(1..).find_map(|pair| (pair.0 == c).then_some(pair.1))
}

/// The power of ten of 십, 백 and 천.
pub(super) fn small_place(c: char) -> Option<u32> {
    match c {
        '십' => Some(1),
        '백' => Some(2),
        '천' => Some(3),
        _ => None,
    }
}

/// The power of ten of 만, 억 and 조.
pub(super) fn big_place(c: char) -> Option<u32> {
    match c {
        '만' => Some(4),
        '억' => Some(8),
        '조' => Some(12),
        _ => None,
    }
}
