//! JSON that could not be read: where it ends.

use crate::{
    json::scan::Scan,
    readers::{
        calls::Calls,
        reader::{Next, Reader},
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
    pub(crate) fn new(scan: &Scan, from: usize, then: Then) -> Self {
        let line = scan.line.filter(|line| *line > from);
        Self {
            at: scan.at,
            depth: scan.depth(),
            in_string: false,
            escaped: false,
            one_line: scan.ends.labels,
            back: line.unwrap_or(scan.at),
            is_line: line.is_some(),
            then,
        }
    }

    fn closed(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        match std::mem::replace(&mut self.then, Then::Close(&[])) {
            Then::List(mut calls) => {
                calls.behind(self.at);
                Next::Then(calls)
            }
            Then::Close(closes) => Trailer::new(self.at, closes).begin(walk, look),
        }
    }

    fn unclosed(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        walk.unclosed += 1;
        self.go_back(walk, look)
    }

    fn go_back(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        let closes = match &self.then {
            Then::List(calls) => calls.closes(),
            Then::Close(closes) => closes,
        };
        Trailer::new(self.back, closes).fresh(self.is_line).begin(walk, look)
    }
}

impl Reader for Skip {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        if walk.unclosed >= UNCLOSED {
            return self.go_back(walk, look);
        }
        let rest = look.rest(self.at);
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'<' => return self.unclosed(walk, look),
                b'\n' if self.one_line => return self.unclosed(walk, look),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth <= 1 => {
                    self.at += at + 1;
                    return self.closed(walk, look);
                }
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        self.at += rest.len();
        if look.ended {
            return self.unclosed(walk, look);
        }
        Next::More
    }
}
