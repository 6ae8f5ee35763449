//! JSON that could not be read: where it ends.

use crate::{
    json::scan::Scan,
    readers::{
        calls::Calls,
        reader::{Progress, Reader},
        trailer::Trailer,
        walk::Walk,
    },
    text::look::Look,
};

/// How many unclosed objects are looked through before the rest counts as text.
const UNCLOSED: usize = 8;

/// Looks for where the brackets balance, strings left aside. A mark, a label's line or the end of the text comes first
/// where there is no such place.
#[derive(Debug, Clone)]
pub(crate) struct Skip {
    at: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    one_line: bool,
    /// Where reading goes on when there is no end.
    back: usize,
    is_line: bool,
    pub(crate) then: Then,
}

/// What is read behind it.
#[derive(Debug, Clone)]
pub(crate) enum Then {
    /// More calls of a list.
    List(Box<Calls>),
    /// What belongs to one call.
    Close(&'static [&'static str]),
}

impl Skip {
    /// Behind `scan`, which failed in an object that began at `from`.
    pub(crate) fn new(walk: &Walk, scan: &Scan, from: usize, then: Then) -> Self {
        let line = scan.line.filter(|line| *line > from);
        Self {
            at: scan.at,
            depth: scan.depth(),
            in_string: false,
            escaped: false,
            one_line: scan.ends.labels,
            back: line.unwrap_or(scan.at.max(walk.at)),
            is_line: line.is_some(),
            then,
        }
    }

    fn closed(self, walk: &mut Walk) -> Progress {
        walk.at = self.at;
        walk.reading = match self.then {
            Then::List(mut calls) => {
                calls.behind(self.at);
                Some(calls)
            }
            Then::Close(closes) => Some(Box::new(Trailer::new(self.at, closes))),
        };
        Progress::Moved
    }

    fn unclosed(self, walk: &mut Walk) -> Progress {
        walk.unclosed += 1;
        self.go_back(walk)
    }

    fn go_back(self, walk: &mut Walk) -> Progress {
        walk.at = self.back;
        walk.fresh |= self.is_line;
        let closes = match &self.then {
            Then::List(calls) => calls.closes(),
            Then::Close(closes) => closes,
        };
        walk.reading = Some(Box::new(Trailer::new(self.back, closes)));
        Progress::Moved
    }
}

impl Reader for Skip {
    fn read(mut self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Progress {
        if walk.unclosed >= UNCLOSED {
            return self.go_back(walk);
        }
        let rest = look.rest(self.at);
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'<' => return self.unclosed(walk),
                b'\n' if self.one_line => return self.unclosed(walk),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => {
                    self.at += at + 1;
                    return self.closed(walk);
                }
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        self.at += rest.len();
        if look.ended {
            return self.unclosed(walk);
        }
        walk.reading = Some(self);
        Progress::More
    }
}
