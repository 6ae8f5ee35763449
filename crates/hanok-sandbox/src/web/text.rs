//! Text of others, for a model.

use hanok_core::Printable;

/// `text` in one line of at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    cut(&Printable(&words.join(" ")).to_string(), most)
}

/// `text` with its paragraphs, of at most `most` characters.
pub(super) fn paragraphs(text: &str, most: usize) -> String {
    let lines = text.lines().map(|part| line(part, most)).filter(|part| !part.is_empty());
    cut(&lines.collect::<Vec<_>>().join("\n"), most)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text).trim_end()),
        None => text.to_owned(),
    }
}

/// The language, by the letters of `text`, as Wikipedia writes it: `ko`, `ja`, `zh`, `ru`, else `en`.
pub(super) fn language(text: &str) -> &'static str {
    let has = |is: fn(u32) -> bool| text.chars().any(|c| is(u32::from(c)));
    // A text with kana is Japanese although most of it may be Chinese characters.
    if has(|c| matches!(c, 0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7a3)) {
        "ko"
    } else if has(|c| matches!(c, 0x3040..=0x30ff)) {
        "ja"
    } else if has(|c| matches!(c, 0x3400..=0x4dbf | 0x4e00..=0x9fff)) {
        "zh"
    } else if has(|c| matches!(c, 0x0400..=0x04ff)) {
        "ru"
    } else {
        "en"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_plain_and_bounded() {
        for (text, most, want) in [
            ("  안녕 \n\t세상 ", 99, "안녕 세상"),
            ("안녕 세상", 3, "안녕…"),
            ("a\u{1b}[2Jb\u{202e}", 99, "a\\u{1b}[2Jb\\u{202e}"),
        ] {
            assert_eq!(line(text, most), want);
        }
        assert_eq!(paragraphs("a  b\n\n\nc\r\nd", 99), "a b\nc\nd");
        assert_eq!(paragraphs("a  b\n\n\nc\r\nd", 4), "a b…");
    }

    #[test]
    fn the_letters_tell_the_language() {
        for (text, want) in [
            ("세종대왕", "ko"),
            ("세종大王", "ko"),
            ("東京タワー", "ja"),
            ("长城", "zh"),
            ("Москва", "ru"),
            ("Paris", "en"),
            ("", "en"),
        ] {
            assert_eq!(language(text), want, "{text}");
        }
    }
}
