//! The terms of a text that are indexed and searched.

use hanok_core::{Script, Word, words};
use unicode_normalization::UnicodeNormalization;

/// The terms by which a text is found, as often as they occur.
///
/// Korean joins particles to nouns and nouns to each other: `연차휴가는` is one word, and 휴가 is not. So a word in Korean,
/// Chinese or Japanese script is every two characters of it (`연차`, `차휴`, `휴가`, `가는`), and itself when it has but one;
/// any other word and a number is itself, in lower case and in Unicode's NFC. No term holds a space, a quote or any other
/// sign than letters, digits and a number's point.
///
/// ```
/// assert_eq!(hanok_checkpoint::index_terms("연차휴가는 팀 Wiki"), ["연차", "차휴", "휴가", "가는", "팀", "wiki"]);
/// ```
pub fn index_terms(text: &str) -> Vec<String> {
    let normal: String = text.nfc().collect();
    words(&normal).into_iter().flat_map(of_word).collect()
}

fn of_word(word: Word) -> Vec<String> {
    let text = word.text;
    if word.script != Script::Syllables || text.chars().nth(1).is_none() {
        return vec![text];
    }
    text.chars().zip(text.chars().skip(1)).map(|(a, b)| String::from_iter([a, b])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_and_decomposed_text_has_the_same_terms() {
        let decomposed: String = "휴가 Café".nfd().collect();
        assert_eq!(index_terms(&decomposed), ["휴가", "café"]);
        assert_eq!(
            index_terms("\" * NEAR( 3.5% 有給休暇"),
            ["near", "3.5", "有給", "給休", "休暇"]
        );
        assert_eq!(index_terms(" %_'\"\u{7f}"), [""; 0]);
    }
}
