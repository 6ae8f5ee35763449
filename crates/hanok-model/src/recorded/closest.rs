//! The recorded request that is most like another one.

use std::fmt::Write;

/// 64 bits of FNV-1a (Fowler, Noll and Vo), as hex: the same in every build. It names a request for people; requests are
/// compared whole.
pub(super) fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The one of `recorded` that is most like `text`, and where they differ.
pub(super) fn closest<'a>(
    text: &str,
    recorded: impl Iterator<Item = &'a String>,
) -> Option<String> {
    let likeness = |other: &str| {
        let start = shared(text.chars(), other.chars());
        (start + shared(text.chars().rev(), other.chars().rev()), start)
    };
    // Of two that are as like, the first by text: the order of a map is not one.
    let best = recorded.max_by_key(|other| (likeness(other), std::cmp::Reverse(*other)))?;
    let at = shared(text.chars(), best.chars());
    let mut shown = format!(". The closest is {}:", hash(best));
    for (what, whole) in [("recorded", best.as_str()), ("asked", text)] {
        let part: String = whole.chars().skip(at.saturating_sub(20)).take(80).collect();
        // Writing to a text cannot fail.
        let _ = write!(shown, "\n{what:>9}: …{part}…");
    }
    Some(shown)
}

fn shared(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}
