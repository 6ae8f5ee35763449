//! The look for the end of what encloses a call.

use super::{Enclosed, Enclosure, Fit, PAIRS, run};
use crate::{
    json::json_text,
    readers::shown::QUOTES,
    text::{look::Look, presence::More},
    work,
};

/// So far behind a mark the end of what encloses it is looked for.
const AHEAD: usize = 16 * 1024;

/// A look for the end of what stands open, behind a mark.
#[derive(Debug, Clone)]
pub(super) struct Ahead {
    mark: usize,
    of: Enclosed,
    at: usize,
    /// Behind this byte it is not looked for.
    to: usize,
    /// Brackets that are open.
    depth: usize,
    /// The quote of the string that is open.
    string: Option<char>,
    /// An end that stands in that string, and counts if the string has none.
    inner: Option<usize>,
    /// An end before what closes the call, which counts if nothing does.
    early: Option<usize>,
    /// Pairs of quotation marks that were opened behind the mark, by their place in [`QUOTES`].
    nested: [usize; QUOTES.len()],
    /// The last letter that is no blank.
    last: char,
    /// The letter before is one.
    is_blank: bool,
    /// A line has ended.
    has_crossed: bool,
    /// The line at hand has nothing but blanks.
    is_blank_line: bool,
    /// The call was closed, and nothing but blanks stands behind it.
    is_closed: bool,
    /// It was closed before.
    was_closed: bool,
    /// The line on which it was closed, or that of its mark, has ended.
    has_left: bool,
}

impl Ahead {
    /// Behind the mark at byte `mark`.
    pub(super) fn new(mark: usize, of: Enclosed) -> Self {
        Self {
            mark,
            of,
            at: mark,
            to: mark + AHEAD,
            depth: 0,
            string: None,
            inner: None,
            early: None,
            nested: [0; QUOTES.len()],
            last: ' ',
            is_blank: true,
            has_crossed: false,
            is_blank_line: false,
            is_closed: false,
            was_closed: false,
            has_left: false,
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

    /// Where `open` ends in this paragraph. What stands in the call ends nothing.
    pub(super) fn end(&mut self, look: Look<'_>, open: &Enclosure) -> Result<Option<usize>, More> {
        let from = self.at;
        let end = loop {
            let rest = look.rest(self.at);
            let Some(letter) = rest.chars().next() else {
                if !look.ended {
                    break Err(More);
                }
                break Ok(self.without_close().filter(|_| self.depth == 0 && !look.cut));
            };
            if self.at > self.to {
                match self.leap(look) {
                    Ok(true) => continue,
                    Ok(false) => break Ok(None),
                    Err(More) => break Err(More),
                }
            }
            match look.any(self.at, self.of.closes) {
                Err(More) => break Err(More),
                Ok(Some(len)) if self.at > self.mark => {
                    self.close(len);
                    continue;
                }
                Ok(_) => {}
            }
            if letter == '\n' {
                if self.ends_with_line(open) {
                    break Ok(self.without_close());
                }
                (self.has_crossed, self.has_left, self.is_blank_line) = (true, true, true);
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
            let may_end = self.may_end(letter, len, next, open);
            if self.ends(letter, may_end) {
                break Ok(Some(self.at));
            }
            // Nothing else ends it any more.
            let is_over = self.was_closed && !open.is_tight && letter.is_alphanumeric();
            if is_over && !open.may_end_anywhere(self.has_left) {
                break Ok(None);
            }
            self.at += len;
        };
        work::count(self.at - from);
        end
    }

    /// Goes on at what closes the call: a long call is looked over, and not through. Says whether something does.
    fn leap(&mut self, look: Look<'_>) -> Result<bool, More> {
        let [close, ..] = self.of.closes else { return Ok(false) };
        if self.was_closed || self.to > self.mark + AHEAD {
            return Ok(false);
        }
        let rest = look.rest(self.at);
        let found = rest.find(close);
        work::count(found.unwrap_or(rest.len()));
        match found {
            Some(len) => {
                self.at += len;
                self.to = self.at + AHEAD;
                Ok(true)
            }
            None => {
                self.at += rest.len() - json_text::overlap(rest, close);
                if look.ended { Ok(false) } else { Err(More) }
            }
        }
    }

    /// Reads what closes the call.
    fn close(&mut self, len: usize) {
        self.at += len;
        (self.is_closed, self.was_closed, self.has_left) = (true, true, false);
        (self.string, self.inner, self.early, self.depth) = (None, None, None, 0);
        (self.last, self.is_blank, self.is_blank_line) = ('>', false, false);
    }

    /// Whether nothing of `open` ends behind the line that ends here.
    fn ends_with_line(&self, open: &Enclosure) -> bool {
        let is_within = self.depth > 0 || self.string.is_some();
        let is_tight = open.is_tight && !self.was_closed;
        self.inner.is_some() && !self.has_crossed || self.is_blank_line && !is_within && !is_tight
    }

    /// Whether a letter before `next`, or a run of backticks of `len` bytes, ends what is `open`.
    fn may_end(&mut self, letter: char, len: usize, next: Option<char>, open: &Enclosure) -> bool {
        let Some(fit) = open.fit(letter, len, next, self.has_left) else {
            self.nest(letter);
            return false;
        };
        let place = QUOTES.iter().position(|(_, close)| close.starts_with(letter));
        if let Some(nested) = place.and_then(|at| self.nested.get_mut(at)).filter(|open| **open > 0)
        {
            *nested -= 1;
            return false;
        }
        // What stands directly behind the mark shows the mark alone.
        let is_direct = !self.is_blank || self.at == self.mark + self.of.len;
        let is_behind =
            self.is_closed || matches!(self.last, '>' | '}' | ']' | ')' | '｜' | '|' | '`');
        match fit {
            Fit::Near => true,
            Fit::Far if self.depth > 0 && self.last != '>' => false,
            Fit::Far if open.is_tight => is_behind || self.is_blank_line,
            Fit::Far => is_behind && is_direct,
        }
    }

    /// Counts a quotation mark that opens a quotation of its own.
    fn nest(&mut self, letter: char) {
        let place = QUOTES.iter().position(|(quote, _)| quote.starts_with(letter));
        let pair = place.filter(|at| PAIRS & (1 << at) != 0);
        if let Some(nested) = pair.and_then(|at| self.nested.get_mut(at)) {
            *nested += 1;
        }
    }

    /// Reads a letter, which may end what is open. Whether it does.
    fn ends(&mut self, letter: char, may_end: bool) -> bool {
        if self.string == Some(letter) {
            (self.string, self.inner) = (None, None);
        } else if self.string.is_some() {
            self.inner = self.inner.or(may_end.then_some(self.at));
        } else if matches!(letter, '"' | '\'') && self.begins_string() {
            self.string = Some(letter);
            self.inner = may_end.then_some(self.at);
        } else if may_end {
            if !self.is_before_close() || self.at == self.mark + self.of.len {
                return true;
            }
            self.early = self.early.or(Some(self.at));
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

    /// The end, where nothing closes the call or its string.
    fn without_close(&self) -> Option<usize> {
        self.early.or(self.inner)
    }

    /// Whether the call has marks that close it, and they are still to come.
    fn is_before_close(&self) -> bool {
        !self.of.closes.is_empty() && !self.was_closed
    }

    fn read(&mut self, letter: char) {
        self.is_blank = letter.is_whitespace();
        if !self.is_blank {
            (self.last, self.is_blank_line, self.is_closed) = (letter, false, false);
        }
    }

    /// Whether a quote begins a string of the call here.
    fn begins_string(&self) -> bool {
        match self.last {
            '{' | '[' | '(' | '=' => true,
            ',' | ':' => self.depth > 0,
            _ => false,
        }
    }
}
