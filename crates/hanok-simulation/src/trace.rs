//! The trace of one run of a simulation.

use crate::numbers::BEGINS;

/// A digest of everything that happened, and, if it is asked for, the words.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    digest: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    pub(crate) fn new(traced: bool) -> Self {
        Self { digest: 0, lines: traced.then(Vec::new) }
    }

    /// Notes `what` with its numbers, at a time; `more` is for readers only and has to follow from the rest.
    pub(crate) fn note(
        &mut self,
        now: u64,
        what: &'static str,
        numbers: [u64; 3],
        more: impl FnOnce() -> String,
    ) {
        self.mix(now);
        what.bytes().for_each(|byte| self.mix(u64::from(byte)));
        numbers.into_iter().for_each(|number| self.mix(number));
        if let Some(lines) = &mut self.lines {
            let mut line = format!("{:>7} {what}", now - BEGINS.0);
            for number in numbers {
                line.push_str(&format!(" {number}"));
            }
            let more = more();
            if !more.is_empty() {
                line.push_str(&format!("  {more}"));
            }
            lines.push(line);
        }
    }

    fn mix(&mut self, number: u64) {
        // FNV-1a, a word at a time.
        self.digest = (self.digest ^ number).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23);
    }

    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
