//! Words that a tool repeats: short, and in one line.

/// The most characters of what is repeated.
const MOST: usize = 40;

/// The text in one line, cut where it is long.
pub(crate) fn short(text: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    let text = text.trim();
    let end = text.char_indices().nth(MOST).map(|place| place.0);
    let head: String =
        text.get(..end.unwrap_or(text.len())).unwrap_or_default().chars().map(line).collect();
    if end.is_some() { format!("{head}…") } else { head }
}
