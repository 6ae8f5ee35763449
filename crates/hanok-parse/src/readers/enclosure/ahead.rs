//! The look for the end of what encloses a call.

use super::{Enclosure, run};
use crate::{
    text::{look::Look, presence::More},
    work,
};

/// So far behind a mark the end of what encloses it is looked for.
const AHEAD: usize = 16 * 1024;

/// A look for the end of what stands open, behind a mark.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    mark: usize,
    at: usize,
    /// Brackets that are open.
    depth: usize,
    /// The quote of the string that is open.
    string: Option<char>,
    /// An end that stands in that string, and counts if the string has none.
    inner: Option<usize>,
    /// The last letter that is no blank.
    last: char,
    /// The letter before is one.
    is_blank: bool,
    /// A line has ended.
    has_crossed: bool,
    /// The line at hand has nothing but blanks.
    is_blank_line: bool,
}

impl Ahead {
    /// Behind the mark at byte `mark`.
    pub(super) fn new(mark: usize) -> Self {
        Self {
            mark,
            at: mark,
            depth: 0,
            string: None,
            inner: None,
            last: ' ',
            is_blank: true,
            has_crossed: false,
            is_blank_line: false,
        }
    }

    /// Whether it is behind this mark.
    pub(super) fn is_behind(&self, mark: usize) -> bool {
        self.mark == mark
    }

    /// How far it came.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Where `open` ends in this paragraph. What stands in a string of the call's own ends nothing.
    pub(super) fn end(&mut self, look: Look<'_>, open: &Enclosure) -> Result<Option<usize>, More> {
        let from = self.at;
        let end = loop {
            let rest = look.rest(self.at);
            let Some(letter) = rest.chars().next() else {
                if !look.ended {
                    break Err(More);
                }
                break Ok(self.inner.filter(|_| self.depth == 0 && !look.cut));
            };
            if self.at > self.mark + AHEAD {
                break Ok(None);
            }
            if letter == '\n' {
                if self.inner.is_some() {
                    break Ok(self.inner);
                }
                let is_within = self.depth > 0 || self.string.is_some() || open.tight != 0;
                if self.is_blank_line && !is_within {
                    break Ok(None);
                }
                (self.has_crossed, self.is_blank_line) = (true, true);
            }
            let len = if letter == '`' { run(rest) } else { letter.len_utf8() };
            let next = rest.get(len..).and_then(|rest| rest.chars().next());
            if next.is_none() && matches!(letter, '`' | '"' | '\'' | '’' | '\\') && !look.ended {
                break Err(More);
            }
            if letter == '\\' {
                self.at += len + next.filter(|next| *next != '\n').map_or(0, char::len_utf8);
                self.read(letter);
                continue;
            }
            // On a later line a straight quote ends something behind a word of it, or alone.
            let is_alone = self.is_blank_line && next.is_none_or(char::is_whitespace);
            let may_close = !self.has_crossed || !self.is_blank || is_alone;
            if self.ends(letter, next, open.is_end(letter, len, next, may_close)) {
                break Ok(Some(self.at));
            }
            self.at += len;
        };
        work::count(self.at - from);
        end
    }

    /// Reads a letter before `next`, which may end what is open. Whether it does.
    fn ends(&mut self, letter: char, next: Option<char>, may_end: bool) -> bool {
        if self.string == Some(letter) {
            (self.string, self.inner) = (None, None);
        } else if self.string.is_some() {
            self.inner = self.inner.or(may_end.then_some(self.at));
        } else if matches!(letter, '"' | '\'') && self.begins_string(next) {
            self.string = Some(letter);
            self.inner = may_end.then_some(self.at);
        } else if may_end {
            return true;
        } else {
            match letter {
                '{' | '[' | '(' => self.depth += 1,
                '}' | ']' | ')' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.read(letter);
        false
    }

    fn read(&mut self, letter: char) {
        self.is_blank = letter.is_whitespace();
        if !self.is_blank {
            (self.last, self.is_blank_line) = (letter, false);
        }
    }

    /// Whether a quote before `next` begins a string of the call here, or a quotation of its own.
    fn begins_string(&self, next: Option<char>) -> bool {
        match self.last {
            '{' | '[' | '(' | '=' => true,
            ',' | ':' if self.depth > 0 => true,
            _ => self.has_crossed && self.is_blank && next.is_some_and(char::is_alphanumeric),
        }
    }
}
