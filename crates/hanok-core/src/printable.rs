//! Text of others on a terminal.

use std::fmt::{self, Write};

/// Text from a model, a tool or a document, safe to print on a terminal.
///
/// Line breaks and tabs stay. Other control characters (C0, DEL, C1: with them ESC, and so every escape sequence), the
/// marks that reorder or hide text (U+061C, U+200B, U+200E–F, U+2028–E, U+2060–9, U+FEFF) and tag characters
/// (U+E0000–E007F) are shown as `\u{…}` instead of acting.
///
/// ```
/// use hanok_core::Printable;
///
/// assert_eq!(Printable("휴가\u{1b}]52;c;…\u{7}").to_string(), "휴가\\u{1b}]52;c;…\\u{7}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\n' | '\t' => f.write_char(c)?,
                c if acts(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            u32::from(c),
            0x061C | 0x200B | 0x200E..=0x200F | 0x2028..=0x202E | 0x2060..=0x2069 | 0xFEFF | 0xE0000..=0xE007F
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P33
    #[test]
    fn nothing_that_is_printed_acts_on_the_terminal() {
        for (text, want) in [
            ("가나다\n\t라", "가나다\n\t라"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{1b}]8;;http://x\u{7}", "\\u{1b}]8;;http://x\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\rb\u{8}c\u{7f}", "a\\u{d}b\\u{8}c\\u{7f}"),
            ("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}"),
            ("👨‍👩‍👧 e\u{301}", "👨‍👩‍👧 e\u{301}"),
        ] {
            assert_eq!(Printable(text).to_string(), want, "{text:?}");
        }
    }
}
