//! The names of files that are written.

/// The longest name, in bytes: file systems take 255, and an ending and a temporary name come to it.
const LONGEST: usize = 120;

/// The name of the files of a step of a thread: different for different pairs, and safe on every file system.
///
/// Small ASCII letters, digits and `-` stay, every other byte becomes `_` and two digits of its number in hexadecimal. A name that
/// is too long becomes `__` and its BLAKE3 hash; no other name begins with that. An empty one becomes `_`.
///
/// ```
/// use real_estate::documents::file_stem;
///
/// assert_eq!(file_stem("thread-1", 3), "thread-1.3");
/// assert_eq!(file_stem("../A", 3), "_2e_2e_2f_41.3");
/// ```
#[must_use]
pub fn file_stem(thread: &str, step: u64) -> String {
    format!("{}.{step}", safe(thread))
}

/// The name of the files of a call, by its key.
#[must_use]
pub fn call_stem(key: &str) -> String {
    format!("call.{}", safe(key))
}

fn safe(text: &str) -> String {
    if text.is_empty() {
        return "_".to_owned();
    }
    let mut name = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("_{byte:02x}"));
        }
        if name.len() > LONGEST {
            return format!("__{}", blake3::hash(text.as_bytes()).to_hex());
        }
    }
    name
}

/// Whether a name is one that [`file_stem`] or [`call_stem`] makes.
pub(super) fn is_safe(stem: &str) -> bool {
    let is_part =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let parts: Vec<&str> = stem.split('.').collect();
    stem.len() <= 2 * LONGEST
        && parts.len() == 2
        && stem.chars().all(is_part)
        && !stem.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_hostile_names_are_safe() {
        for thread in ["", "..", "a".repeat(1 << 20).as_str(), "CON", "a/b\\c\0", "_2e", "계약"] {
            assert!(is_safe(&file_stem(thread, u64::MAX)), "{}", file_stem(thread, 0));
        }
        assert_ne!(file_stem("_2e", 1), file_stem(".", 1));
        assert_ne!(file_stem("A", 1), file_stem("a", 1).to_uppercase());
        for stem in ["../a.1", "a", "a.b.c", "a.", "A.1", ""] {
            assert!(!is_safe(stem), "{stem}");
        }
    }
}
