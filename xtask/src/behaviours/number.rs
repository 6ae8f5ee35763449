//! The numbers of behaviours and promises, and how a sentence mentions them.

use std::fmt;

/// The number of an entry: `B18` of the behaviours, `P19` of the promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    pub(super) list: char,
    pub(super) index: u16,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.list, self.index)
    }
}

/// A number in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mention {
    pub(super) number: Number,
    /// Whether the sentence speaks of a part of it: `B5 in part`, `B94 (per call)`.
    pub(super) in_part: bool,
}

/// The number that `word` is: a letter and one to three digits.
pub(super) fn number(word: &str) -> Option<Number> {
    let list = word.chars().next().filter(|list| "BP".contains(*list))?;
    let digits = word.get(1..)?;
    if !(1..=3).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Number { list, index: digits.parse().ok()? })
}

/// The numbers in `text`, `B23 to B27` being five of them.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    // Where the last number ended, for what joins it to the next.
    let mut before = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let Some(word) = rest.get(..length).filter(|word| !word.is_empty()) else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let from = at;
        at += length;
        let Some(number) = number(word) else { continue };
        let between = text.get(before..from).unwrap_or_default().trim();
        if let Some(last) = mentions.last().map(|mention| mention.number)
            && matches!(between, "to" | "-" | "–")
            && last.list == number.list
        {
            let between = last.index.saturating_add(1)..number.index;
            mentions.extend(
                between.map(|index| Mention { number: Number { index, ..last }, in_part: false }),
            );
        }
        let after = text.get(at..).unwrap_or_default();
        let in_part = after.starts_with(" in part") || after.starts_with(" (");
        mentions.push(Mention { number, in_part });
        before = at;
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_as_people_write_them() {
        for (text, want) in [
            (" B23, B24: x. P1; invariants 1 and 2", "B23 B24 P1"),
            (" P18, P19 in part, P32", "P18 ~P19 P32"),
            (" B94 (per call): x", "~B94"),
            (" B23 to B25, B27-B29", "B23 B24 B25 B27 B28 B29"),
            (" B3 to P5. `B7` 한옥 B1은", "B3 P5 B7"),
            (" BB1 B B1234 xB1 B1x p99 UTF-8 B_1", ""),
            ("", ""),
        ] {
            let part = |mention: &Mention| if mention.in_part { "~" } else { "" };
            let text_of = |mention: &Mention| format!("{}{}", part(mention), mention.number);
            let found: Vec<_> = mentions(text).iter().map(text_of).collect();
            assert_eq!(found.join(" "), want, "{text:?}");
        }
    }
}
