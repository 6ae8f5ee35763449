//! Texts as keys: alike however they are typed.

use unicode_normalization::UnicodeNormalization;

/// The longest text, in bytes, that is its own key.
const LONGEST: usize = 512;

/// `text` in Unicode's NFKC, in lower case, each run of blanks and control characters as one space and none at the ends.
///
/// ```
/// use hanok_learning::normalized;
///
/// assert_eq!(normalized("  Ｌｅａｓｅ\n of  Building A "), "lease of building a");
/// assert_eq!(normalized("휴가는"), normalized("\u{1112}\u{1172}\u{1100}\u{1161}\u{1102}\u{1173}\u{11ab}"));
/// ```
pub fn normalized(text: &str) -> String {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let normal: String = lower.nfkc().collect();
    let words = normal.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The key of a text: itself, or for a long one its hash, which no text is itself.
pub(super) fn text_key(text: &str) -> String {
    let normal = normalized(text);
    match normal.len() <= LONGEST {
        true => normal,
        false => format!("\u{1}{}", blake3::hash(normal.as_bytes()).to_hex()),
    }
}

/// The key of several texts, in their order.
pub(super) fn texts_key<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        let normal = normalized(text);
        hasher.update(&(normal.len() as u64).to_le_bytes()).update(normal.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_normal_text_is_its_own_normal_form(text in any::<String>()) {
            let normal = normalized(&text);
            prop_assert_eq!(normalized(&normal), normal.clone());
            prop_assert!(!normal.chars().any(char::is_control) && normal.trim() == normal);
        }

        #[test]
        fn blanks_and_case_make_no_other_key(words in proptest::collection::vec("[a-zA-Z가-힣]{1,8}", 1..100)) {
            let (one, other) = (words.join(" "), words.join(" \n\t").to_uppercase());
            prop_assert_eq!(text_key(&one), text_key(&other));
            prop_assert_ne!(text_key(&one), text_key(&(one.clone() + "x")));
        }

        #[test]
        fn texts_that_are_cut_elsewhere_have_another_key(a in "[a-z]{1,9}", b in "[a-z]{1,9}") {
            let joined = format!("{a}{b}");
            prop_assert_ne!(texts_key([a.as_str(), b.as_str()]), texts_key([joined.as_str(), ""]));
        }
    }
}
