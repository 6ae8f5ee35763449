//! Texts of servers, as people and models see them.

use std::fmt::Write;

use hanok_core::Printable;

/// The mark at the end of a text that was cut.
pub(crate) const CUT: &str = " […]";

/// The beginning of `text` that has at most `most` bytes and ends with a whole character, and whether more follows.
pub(crate) fn cut(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (text.get(..end).unwrap_or_default(), true)
}

/// `text` with its hidden and acting characters as `\u{…}`, and at most `most` bytes of that with a mark where it was cut.
pub(crate) fn shown(text: &str, most: usize) -> String {
    // No escape is shorter than its character: what lies past `most` cannot be shown.
    let (text, longer) = cut(text, most);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to a text cannot fail.
        let _ = match is_hidden(c) {
            true => write!(shown, "\\u{{{:x}}}", u32::from(c)),
            false => write!(shown, "{}", Printable(c.encode_utf8(&mut [0; 4]))),
        };
    }
    let (kept_text, cut_again) = cut(&shown, most);
    match longer || cut_again {
        true => {
            let room = most.saturating_sub(CUT.len());
            let (start, _) = cut(kept_text, room);
            format!("{start}{CUT}")
        }
        false => shown,
    }
}

/// One line of `text`: as [`shown`], with breaks and tabs as blanks.
pub(crate) fn line(text: &str, most: usize) -> String {
    let (text, longer) = cut(text, most);
    let flat: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let mark = if longer { CUT } else { "" };
    shown(&format!("{}{mark}", flat.trim()), most)
}

/// True for characters without a shape of their own that [`Printable`] lets through, because texts have a use for them.
fn is_hidden(c: char) -> bool {
    matches!(
        u32::from(c),
        0x00AD | 0x034F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x3164 | 0xFFA0
            | 0xFFF9..=0xFFFB | 0x1D173..=0x1D17A | 0xE0100..=0xE01EF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        for (text, most, want) in
            [("휴가", 6, ("휴가", false)), ("휴가", 5, ("휴", true)), ("휴가", 2, ("", true))]
        {
            assert_eq!(cut(text, most), want, "{text:?} {most}");
        }
    }

    /// P44: nothing of a server's hides or acts where it is shown.
    #[test]
    fn hidden_and_acting_characters_are_shown_as_escapes() {
        for (text, want) in [
            ("adds\n\ttwo", "adds\n\ttwo"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
            ("\u{e0041}\u{e0042}", "\\u{e0041}\\u{e0042}"),
            ("b\u{e0100}\u{3164}\u{ad}", "b\\u{e0100}\\u{3164}\\u{ad}"),
        ] {
            assert_eq!(shown(text, 100), want, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_never_passes_its_size_and_says_that_it_was_cut() {
        for text in ["가".repeat(100), "\u{202e}".repeat(100), "a".repeat(41)] {
            let shown = shown(&text, 40);
            assert!(shown.len() <= 40 && shown.ends_with(CUT), "{shown:?}");
        }
        assert_eq!(line(" a\r\nb\tc ", 40), "a  b c");
    }
}
