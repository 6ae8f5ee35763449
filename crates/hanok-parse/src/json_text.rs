//! Text as the inside of a JSON string.

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
