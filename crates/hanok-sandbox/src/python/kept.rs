//! What is kept of a long output: its beginning and its end.

use std::collections::VecDeque;

use hanok_core::Printable;

/// The beginning and the end of what was written.
#[derive(Debug)]
pub(super) struct Kept {
    /// The most bytes of either.
    each: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    /// Keeps at most `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        let each = bytes.div_ceil(2);
        Self { each, head: Vec::new(), tail: VecDeque::new(), left_out: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.each.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.each);
        self.tail.drain(..over);
        self.left_out = self.left_out.saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    /// How many bytes were written.
    pub(super) fn written(&self) -> u64 {
        let kept = self.head.len() + self.tail.len();
        self.left_out.saturating_add(u64::try_from(kept).unwrap_or(u64::MAX))
    }

    /// What a model reads: bytes that are no text, and characters that would act on a terminal, are written out.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return Printable(&String::from_utf8_lossy(&whole)).to_string();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!(
            "{}\n[… {} bytes left out …]\n{}",
            Printable(&head),
            self.left_out,
            Printable(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_left_out_however_it_came_in() {
        let written: Vec<u8> = (0..1000).map(|i| b'a' + (i % 26) as u8).collect();
        for step in [1, 7, 1000] {
            let mut kept = Kept::new(10);
            written.chunks(step).for_each(|bytes| kept.push(bytes));
            assert_eq!(kept.text(), "abcde\n[… 990 bytes left out …]\nhijkl");
            assert_eq!(kept.written(), 1000);
        }
        let mut kept = Kept::new(10);
        "안녕\u{1b}".bytes().for_each(|byte| kept.push(&[byte]));
        kept.push(b"\xff");
        assert_eq!(kept.text(), "안녕\\u{1b}\u{fffd}");
    }
}
