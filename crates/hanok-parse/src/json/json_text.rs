//! Text as the inside of a JSON string.

use crate::text::eights::{before, below, equal};

/// Appends `text`, with the escapes that JSON needs.
pub(crate) fn push(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut letters = tail.chars();
        if let Some(letter) = letters.next() {
            push_char(out, letter);
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
}

/// Appends one letter.
pub(crate) fn push_char(out: &mut String, letter: char) {
    match letter {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if letter < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
        _ => out.push(letter),
    }
}

/// The text of a JSON string.
pub(crate) fn unquoted(json: &str) -> String {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json);
    if inner.contains('\\') {
        return serde_json::from_str(json).unwrap_or_else(|_not_a_string| inner.to_owned());
    }
    inner.to_owned()
}

/// How many bytes at the end of `text` are a beginning of `token`.
pub(crate) fn overlap(text: &str, token: &str) -> usize {
    let mut lengths = (1..token.len().min(text.len() + 1)).rev();
    lengths
        .find(|len| token.get(..*len).is_some_and(|start| text.ends_with(start)))
        .unwrap_or_default()
}

/// The length of the first letter of `text`.
pub(crate) fn letter(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// How many of `bytes` stand in a string as they are, up to the first that may not. Eight at a time are looked at.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    let in_eight = |eight| below(eight, 0x20) | equal(eight, b'"') | equal(eight, b'\\');
    before(bytes, in_eight)
}

#[cfg(test)]
mod tests {
    use super::plain;

    /// Every byte at every place of what is looked at eight at a time, beside the simple way.
    #[test]
    fn the_first_byte_that_needs_care_is_found_wherever_it_stands() {
        for len in 0..20 {
            for at in 0..len {
                for (byte, around) in (0..=255).flat_map(|byte| [(byte, b'a'), (byte, 0xed)]) {
                    let mut bytes = vec![around; len];
                    bytes[at] = byte;
                    let cares = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
                    let want = bytes.iter().position(cares).unwrap_or(len);
                    assert_eq!(plain(&bytes), want, "{byte} at {at} of {len}");
                    bytes[len - 1] = b'"';
                    let want = bytes.iter().position(cares).unwrap_or(len);
                    assert_eq!(plain(&bytes), want, "{byte} at {at} of {len} before a quote");
                }
            }
        }
    }
}
