//! How deep a JSON text is nested, before anything is made of it.

/// The most levels that a message of a server may have.
pub(crate) const DEEPEST: usize = 64;

/// True for a text with more than [`DEEPEST`] lists and objects within each other. It need not be JSON.
pub(crate) fn is_too_deep(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for (text, want) in [
            (nested(64), false),
            (nested(65), true),
            (format!(r#"{{"a":"{}"}}"#, "[".repeat(500)), false),
            (format!(r#"["\"{}"]"#, "[".repeat(500)), false),
            ("[],".repeat(500), false),
        ] {
            assert_eq!(is_too_deep(text.as_bytes()), want, "{text}");
        }
    }
}
