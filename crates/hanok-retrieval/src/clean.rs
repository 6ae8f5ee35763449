//! Texts and names as documents have them.

use unicode_normalization::UnicodeNormalization;

/// `text` in NFC, with `\n` as its only line end and no other control character but tabs.
pub fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter(|c| *c != '\u{feff}').map(|c| match c {
        '\r' => '\n',
        '\n' | '\t' => c,
        _ if c.is_control() => ' ',
        _ => c,
    });
    kept.nfc().collect()
}

/// A name as it is shown and stored: macOS gives NFD, and a line break in a name would forge lines
/// wherever sources are listed.
pub fn display(name: &str) -> String {
    name.nfc().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
