//! What kinds of characters there are, and how unknown words are made of them.

use super::dictionary::number;
use crate::files::{Fault, ensure};

/// How long a name is, in bytes.
const NAME: usize = 32;

/// How many characters are told apart. The others are like the first.
const CHARACTERS: usize = 0xffff;

#[derive(Debug)]
pub(super) struct Kinds {
    names: Vec<String>,
    of: Vec<Kind>,
}

/// What is known of a character. As MeCab packs it: 18 bits of the kinds it is of, 8 of the one by which it is known, 4 of how
/// long unknown words are, whether like ones are one word, and whether there are unknown words beside known ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind(u32);

impl Kind {
    /// Whether both are of one kind.
    pub(super) fn like(self, other: Self) -> bool {
        self.0 & other.0 & 0x3_ffff != 0
    }

    fn name(self) -> usize {
        (self.0 >> 18 & 0xff) as usize
    }

    /// Unknown words of it have up to so many characters.
    pub(super) fn length(self) -> usize {
        (self.0 >> 26 & 0xf) as usize
    }

    /// Whether as many as are like it make up an unknown word.
    pub(super) fn groups(self) -> bool {
        self.0 >> 30 & 1 == 1
    }

    /// Whether there may be an unknown word where there is a known one.
    pub(super) fn always(self) -> bool {
        self.0 >> 31 == 1
    }
}

impl Kinds {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let early = || Fault("it ends early".to_owned());
        let count = number(bytes, 0).ok_or_else(early)? as usize;
        let names = bytes.get(4..).and_then(|rest| rest.split_at_checked(count.checked_mul(NAME)?));
        let (names, of) = names.ok_or_else(early)?;
        ensure(of.len() == CHARACTERS * 4 && count > 0, || "it is not as long".to_owned())?;
        let name = |name: &[u8]| {
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(name).into_owned()
        };
        Ok(Self {
            names: names.chunks(NAME).map(name).collect(),
            of: of.as_chunks().0.iter().map(|kind| Kind(u32::from_le_bytes(*kind))).collect(),
        })
    }

    pub(super) fn of(&self, c: char) -> Kind {
        let known = self.of.get(c as usize).or_else(|| self.of.first());
        known.copied().unwrap_or(Kind(0))
    }

    /// What words of this kind are called where unknown ones are described.
    pub(super) fn name(&self, kind: Kind) -> &str {
        self.names.get(kind.name()).map_or("DEFAULT", String::as_str)
    }
}
