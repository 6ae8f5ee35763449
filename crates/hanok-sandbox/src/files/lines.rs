//! Some lines of a text.

/// Lines that are shown, by their numbers from 1, and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) of: usize,
    /// The last one is not whole.
    pub(super) is_cut: bool,
}

/// At most `count` lines of `text` from the line `from`, and at most `bytes` of them. `None` when the text ends before.
pub(super) fn some(text: &str, from: usize, count: usize, bytes: usize) -> Option<Lines> {
    let of = text.lines().count();
    let first = from.max(1);
    if first > of.max(1) {
        return None;
    }
    let mut shown = Lines { text: String::new(), first, last: first - 1, of, is_cut: false };
    for line in text.lines().skip(first - 1).take(count) {
        let room = bytes.saturating_sub(shown.text.len());
        if line.len() + 1 > room {
            // A line of which nothing was shown would be asked for again for ever.
            if shown.last < first {
                shown.text.push_str(line.get(..line.floor_char_boundary(room)).unwrap_or(line));
                shown.last = first;
                shown.is_cut = true;
            }
            break;
        }
        shown.text.push_str(line);
        shown.text.push('\n');
        shown.last += 1;
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_end_at_the_bound() {
        let text = "가\r\n나\n다\n";
        for (from, count, bytes, want, lines) in [
            (1, 9, 99, "가\n나\n다\n", (1, 3)),
            (0, 9, 99, "가\n나\n다\n", (1, 3)),
            (2, 1, 99, "나\n", (2, 2)),
            (1, 9, 8, "가\n나\n", (1, 2)),
            (2, 9, 3, "나", (2, 2)),
            (2, 9, 2, "", (2, 2)),
        ] {
            let seen = some(text, from, count, bytes).unwrap();
            assert_eq!((seen.text.as_str(), (seen.first, seen.last)), (want, lines));
            assert_eq!((seen.of, seen.is_cut), (3, bytes < 4));
        }
        assert_eq!(some(text, 4, 1, 99), None);
        assert_eq!(some("", 1, 1, 99).unwrap().of, 0);
        assert_eq!(some("", 2, 1, 99), None);
    }
}
