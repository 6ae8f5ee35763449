//! Texts in the form that the pieces were made of: the rules that SentencePiece compiles into a model (Kudo & Richardson
//! 2018, arXiv:1808.06226), a double array of bytes (Aoe 1989) whose leaves are places in a list of replacements.

use crate::files::{Fault, ensure};

/// How a blank is written in pieces.
const BLANK: &str = "\u{2581}";

#[derive(Debug, Default)]
pub(super) struct Normal {
    units: Vec<u32>,
    /// Each ends with a zero.
    replacements: Vec<u8>,
}

impl Normal {
    /// Reads the compiled rules: the length of the double array, the array, and the replacements.
    pub(super) fn read(rules: &[u8]) -> Result<Self, Fault> {
        if rules.is_empty() {
            return Ok(Self::default());
        }
        let broken = || Fault("normalisation rules that break off".to_owned());
        let (length, rest) = rules.split_first_chunk::<4>().ok_or_else(broken)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (units, replacements) = rest.split_at_checked(length).ok_or_else(broken)?;
        let (units, odd) = units.as_chunks::<4>();
        ensure(odd.is_empty() && !units.is_empty(), || broken().0)?;
        let units = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Ok(Self { units, replacements: replacements.to_vec() })
    }

    /// `text` by the rules, its blanks as [`BLANK`], one at its beginning and each alone. Empty if nothing is left.
    pub(super) fn of(&self, text: &str) -> String {
        let mut rest = text;
        let mut out = String::new();
        let mut blank = true;
        while !rest.is_empty() {
            let (shown, read) = self.next(rest);
            rest = rest.get(read..).unwrap_or_default();
            let shown = if blank { shown.trim_start_matches(' ') } else { shown };
            if shown.is_empty() {
                continue;
            }
            if out.is_empty() {
                out.push_str(BLANK);
            }
            shown.split_inclusive(' ').for_each(|part| match part.strip_suffix(' ') {
                Some(part) => out.extend([part, BLANK]),
                None => out.push_str(part),
            });
            blank = shown.ends_with(' ');
        }
        let end = out.trim_end_matches(BLANK).len();
        out.truncate(end);
        out
    }

    /// What stands for the beginning of `text`, and how many bytes of it these are.
    fn next<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let found = self.longest(text.as_bytes()).and_then(|(place, read)| {
            // Rules end at the end of a character, unless they are damaged.
            text.is_char_boundary(read).then_some((self.replacement(place)?, read))
        });
        found.unwrap_or_else(|| {
            let read = text.chars().next().map_or(1, char::len_utf8);
            (text.get(..read).unwrap_or_default(), read)
        })
    }

    fn replacement(&self, place: u32) -> Option<&str> {
        let rest = self.replacements.get(place as usize..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(rest.get(..end)?).ok()
    }

    /// The longest rule that `bytes` begin with: where its replacement stands, and its length.
    fn longest(&self, bytes: &[u8]) -> Option<(u32, usize)> {
        let unit = |at: usize| self.units.get(at).copied();
        let mut found = None;
        let mut at = offset(unit(0)?);
        for (read, byte) in (1..).zip(bytes) {
            at ^= usize::from(*byte);
            let Some(node) = unit(at).filter(|node| node & 0x8000_00FF == u32::from(*byte)) else {
                break;
            };
            at ^= offset(node);
            if node & 0x100 != 0
                && let Some(leaf) = unit(at)
            {
                found = Some((leaf & 0x7FFF_FFFF, read));
            }
        }
        found
    }
}

/// How far from a node its children are.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
