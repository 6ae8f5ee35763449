//! Places in a text, in characters: Python slices a `str` by them, and the parser counts bytes.

use std::ops::Range;

/// After so many bytes the characters before them are noted.
const BLOCK: usize = 1024;

/// A text that may grow, with the number of characters before each block of it: a place is found in constant time.
#[derive(Debug, Default)]
pub(crate) struct Places {
    bytes: Vec<u8>,
    before: Vec<usize>,
}

impl Places {
    /// Appends a piece of the text.
    pub(crate) fn push(&mut self, piece: &str) {
        self.bytes.extend_from_slice(piece.as_bytes());
        let noted = self.before.len() * BLOCK;
        let blocks = self.bytes.get(noted..).unwrap_or_default().chunks_exact(BLOCK);
        for block in blocks {
            self.before.push(self.before.last().unwrap_or(&0) + characters(block));
        }
    }

    /// The characters of a range of bytes, as `(start, end)`.
    pub(crate) fn span(&self, span: &Range<usize>) -> (usize, usize) {
        (self.at(span.start), self.at(span.end))
    }

    /// The number of characters before the byte `at`.
    fn at(&self, at: usize) -> usize {
        let blocks = at / BLOCK;
        let before = blocks.checked_sub(1).and_then(|last| self.before.get(last)).unwrap_or(&0);
        before + characters(self.bytes.get(blocks * BLOCK..at).unwrap_or_default())
    }
}

impl From<&str> for Places {
    fn from(text: &str) -> Self {
        let mut places = Self::default();
        places.push(text);
        places
    }
}

/// How many characters begin in some bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}
