//! A list that begins with no call, such as `["a", {…}]`: it is data, and calls nothing.

use crate::{
    readers::{
        reader::{Next, Reader},
        walk::Walk,
    },
    text::{
        look::{Look, Until},
        marks::Lookup,
        presence::More,
    },
    work,
};

/// What is no JSON sends reading back to the start of its line, if that is so near.
const NEAR: usize = 256;
/// How much white space may stand between the bracket and the first item.
const GAP: usize = 64;

/// A list that is passed over, as far as it is JSON.
#[derive(Debug, Clone)]
pub(crate) struct DataList {
    /// Up to here it went to the content.
    pushed: usize,
    at: usize,
    /// Where the line at hand begins, behind the first one.
    line: Option<usize>,
    /// Brackets that are open.
    depth: usize,
    /// The quote of the string at hand.
    string: Option<u8>,
    is_escaped: bool,
}

/// Whether a list begins at `at` whose first item is a text or a number.
pub(crate) fn begins(look: Look<'_>, at: usize) -> Result<bool, More> {
    if !look.rest(at).starts_with('[') {
        return Ok(false);
    }
    let is_item = |letter: char| matches!(letter, '"' | '\'' | '0'..='9');
    match look.until(at + 1, GAP, |letter| !letter.is_whitespace()) {
        Until::At(len) => Ok(look.rest(at + 1 + len).starts_with(is_item)),
        Until::More => Err(More),
        Until::Ended | Until::Beyond => Ok(false),
    }
}

impl DataList {
    /// The list at byte `at`. What stands from byte `from` is to be sent with it.
    pub(crate) fn new(from: usize, at: usize) -> Self {
        Self { pushed: from, at, line: None, depth: 0, string: None, is_escaped: false }
    }

    /// The rest of a list whose first item ends at byte `at`.
    pub(crate) fn behind_item(at: usize) -> Self {
        Self { depth: 1, ..Self::new(at, at) }
    }

    fn pass(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        while let Some(byte) = look.text.as_bytes().get(self.at).copied() {
            if let Some(quote) = self.string {
                match byte {
                    b'\n' => return self.give_up(walk, look),
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    _ if byte == quote => self.string = None,
                    _ => {}
                }
                self.at += 1;
                continue;
            }
            if matches!(byte, b'[' | b']') {
                match look.setup.marks.at(look.rest(self.at)) {
                    Lookup::Mark(..) => return self.give_up(walk, look),
                    Lookup::Prefix if !look.ended => return self.wait(walk, look),
                    _ => {}
                }
            }
            match byte {
                b'"' | b'\'' => self.string = Some(byte),
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' if self.depth <= 1 => {
                    self.at += 1;
                    self.push(walk, look, self.at);
                    return Next::Inline(self.at);
                }
                b']' | b'}' => self.depth -= 1,
                b'\n' => self.line = Some(self.at + 1),
                _ if is_of_json(byte) => {}
                _ => return self.give_up(walk, look),
            }
            self.at += 1;
        }
        if look.ended {
            self.push(walk, look, self.at);
            return Next::Inline(self.at);
        }
        self.wait(walk, look)
    }

    /// Sends what is certain to be of the list, until the text goes on.
    fn wait(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        self.push(walk, look, self.back());
        Next::More
    }

    /// It is no list, or not one of JSON: what stands from here is read as if none had begun.
    fn give_up(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let to = self.back();
        self.push(walk, look, to);
        Next::text(to, self.line == Some(to))
    }

    /// Where reading goes on when this turns out to be text.
    fn back(&self) -> usize {
        self.line.filter(|line| self.at - line <= NEAR).unwrap_or(self.at)
    }

    fn push(&mut self, walk: &mut Walk, look: Look<'_>, to: usize) {
        walk.push(look, self.pushed, to);
        self.pushed = to;
    }
}

impl Reader for DataList {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let from = self.at;
        let next = self.pass(walk, look);
        work::count(self.at - from);
        next
    }
}

/// Whether JSON, or Python's literals, may have `byte` outside of strings: numbers, `true`, `None`, and what stands between them.
fn is_of_json(byte: u8) -> bool {
    byte.is_ascii_digit()
        || matches!(byte, b' ' | b'\t' | b'\r' | b',' | b':' | b'+' | b'-' | b'.')
        || b"truefalsnoTFNE".contains(&byte)
}
