//! Text among calls that is none: noise in a section, and the rest of a call that cannot be read.

use crate::{
    json::json_text,
    readers::{
        reader::{Next, Reader},
        walk::Walk,
    },
    text::{
        look::Look,
        marks,
        presence::{More, Presence},
    },
};

/// Skips to behind one of the close marks, or to the next mark of a call.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    at: usize,
    closes: &'static [&'static str],
    /// A section begins here, and nothing was called in it yet.
    section: Option<usize>,
    /// It ends with its line.
    one_line: bool,
    /// What stands before the close mark is data: no mark in it counts.
    over_marks: bool,
}

impl Recovery {
    /// Behind what cannot be read.
    pub(crate) fn new(at: usize, closes: &'static [&'static str]) -> Self {
        Self { at, closes, section: None, one_line: false, over_marks: false }
    }

    /// The same, over whatever marks stand before the close mark.
    pub(crate) fn over_marks(self) -> Self {
        Self { over_marks: true, ..self }
    }

    /// The same, to the end of the line at most.
    pub(crate) fn one_line(self) -> Self {
        Self { one_line: true, ..self }
    }

    /// In the section that the mark from `start` to `at` opens.
    pub(crate) fn section(start: usize, at: usize, closes: &'static [&'static str]) -> Self {
        Self { section: Some(start), ..Self::new(at, closes) }
    }

    fn find(&mut self, look: Look<'_>) -> Result<Option<usize>, More> {
        loop {
            let rest = look.rest(self.at);
            let stops = |byte| marks::may_begin(byte) || self.one_line && byte == b'\n';
            let Some(len) = rest.bytes().position(stops) else {
                self.at += rest.len();
                return if look.ended { Ok(None) } else { Err(More) };
            };
            self.at += len;
            if look.rest(self.at).starts_with('\n') {
                return Ok(Some(self.at));
            }
            if let Some(len) = look.any(self.at, self.closes)? {
                return Ok(Some(self.at + len));
            }
            match look.setup.marks.opens(look.rest(self.at)) {
                Presence::Yes if !self.over_marks => return Ok(Some(self.at)),
                Presence::More if !look.ended => return Err(More),
                _ => self.at += json_text::letter(look.rest(self.at)),
            }
        }
    }
}

impl Reader for Recovery {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        match self.find(look) {
            Ok(Some(at)) => Next::Done(at),
            Ok(None) => match self.section {
                Some(start) => {
                    walk.leave(look);
                    Next::truncated(walk, look, start, None)
                }
                None => Next::Inline(look.text.len()),
            },
            Err(More) => Next::More,
        }
    }
}
