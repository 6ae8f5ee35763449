//! The words of a dictionary, as MeCab compiles them: a double array (Aoe 1989) of their bytes, what each costs and connects to, and
//! what is said of it.

use std::ops::Range;

use crate::files::{Fault, ensure};

/// What the first number of a file is, XOR its length.
const MAGIC: u32 = 0xef71_8f77;

/// The only version there is.
const VERSION: u32 = 102;

/// How long what stands before the double array is.
const HEAD: usize = 72;

/// How long a place of the double array is, and a word.
const UNIT: usize = 8;
const WORD: usize = 16;

/// What is said of a reading is no longer than this, in bytes.
const LONGEST: usize = 4_096;

#[derive(Debug)]
pub(super) struct Dictionary {
    bytes: Vec<u8>,
    units: Range<usize>,
    words: Range<usize>,
    features: Range<usize>,
}

/// A reading of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// What it is for what stands before it, and behind it.
    pub(super) left: u16,
    pub(super) right: u16,
    /// The number of its part of speech.
    pub(super) part: u16,
    pub(super) cost: i16,
    feature: u32,
}

impl Dictionary {
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, Fault> {
        let number = |at: usize| number(&bytes, at * 4).map(|number| number as usize);
        let head = || Some([number(0)?, number(1)?, number(6)?, number(7)?, number(8)?]);
        let [magic, version, units, words, features] =
            head().ok_or_else(|| Fault("it ends early".to_owned()))?;
        ensure(magic == (MAGIC ^ bytes.len() as u32) as usize, || {
            "it is no dictionary of MeCab, or not all of one".to_owned()
        })?;
        ensure(version == VERSION as usize, || format!("it is of version {version}"))?;
        let charset = bytes.get(40..HEAD).unwrap_or_default();
        let charset =
            String::from_utf8_lossy(charset.split(|byte| *byte == 0).next().unwrap_or(b""));
        ensure(["utf-8", "utf8"].contains(&charset.to_lowercase().as_str()), || {
            format!("it is in `{charset}`, and not in UTF-8")
        })?;
        let parts = [units, words, features].map(|length| length as u64);
        ensure(HEAD as u64 + parts.iter().sum::<u64>() == bytes.len() as u64, || {
            "its parts do not make up the whole".to_owned()
        })?;
        let units = HEAD..HEAD + units;
        let words = units.end..units.end + words;
        let features = words.end..bytes.len();
        Ok(Self { bytes, units, words, features })
    }

    /// The readings of every word that `text` begins with, each with the length of its word in bytes, shorter words first.
    pub(super) fn beginning<'a>(
        &'a self,
        text: &'a [u8],
    ) -> impl Iterator<Item = (usize, Reading)> + 'a {
        let mut base = self.unit(0).map(|(base, _)| base);
        let mut next = text.iter();
        let mut length = 0;
        let words = std::iter::from_fn(move || {
            loop {
                let at = base?;
                let word = self.word(at);
                base = next.next().and_then(|byte| self.child(at, *byte));
                length += 1;
                if let Some(word) = word {
                    return Some((length - 1, word));
                }
            }
        });
        words.flat_map(|(length, word)| self.readings(word).map(move |reading| (length, reading)))
    }

    /// The readings of exactly this word.
    pub(super) fn exactly(&self, word: &str) -> Vec<Reading> {
        let all = self.beginning(word.as_bytes()).filter(|(length, _)| *length == word.len());
        all.map(|(_, reading)| reading).collect()
    }

    /// What is said of a reading.
    pub(super) fn feature(&self, reading: Reading) -> &str {
        let all = self.bytes.get(self.features.clone()).unwrap_or_default();
        let from = all.get(reading.feature as usize..).unwrap_or_default();
        let from = from.get(..LONGEST).unwrap_or(from);
        let feature = from.split(|byte| *byte == 0).next().unwrap_or_default();
        str::from_utf8(feature).unwrap_or_default()
    }

    /// The base of a place, and the base of the one it belongs to.
    fn unit(&self, at: u32) -> Option<(u32, u32)> {
        let from = self.units.start + UNIT.checked_mul(at as usize)?;
        let unit = self.bytes.get(self.units.clone()).filter(|_| from < self.units.end);
        unit.and_then(|_| Some((number(&self.bytes, from)?, number(&self.bytes, from + 4)?)))
    }

    /// What follows on `byte`.
    fn child(&self, base: u32, byte: u8) -> Option<u32> {
        let (next, of) = self.unit(base.checked_add(u32::from(byte) + 1)?)?;
        (of == base).then_some(next)
    }

    /// The word that ends here, if one does: where its readings begin, and how many there are.
    fn word(&self, base: u32) -> Option<(usize, usize)> {
        let (value, of) = self.unit(base)?;
        // Below zero.
        let value = (of == base && value > i32::MAX as u32).then_some(!value)? as usize;
        Some((value >> 8, value & 0xff))
    }

    fn readings(&self, (first, count): (usize, usize)) -> impl Iterator<Item = Reading> + '_ {
        (first..first + count).map_while(|nth| {
            let from = self.words.start + nth.checked_mul(WORD)?;
            let (word, _) = self.bytes.get(from..self.words.end)?.split_first_chunk::<WORD>()?;
            let [a, b, c, d, e, f, g, h, i, j, k, l, ..] = *word;
            Some(Reading {
                left: u16::from_le_bytes([a, b]),
                right: u16::from_le_bytes([c, d]),
                part: u16::from_le_bytes([e, f]),
                cost: i16::from_le_bytes([g, h]),
                feature: u32::from_le_bytes([i, j, k, l]),
            })
        })
    }
}

/// The number that stands `at` so many bytes.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}
