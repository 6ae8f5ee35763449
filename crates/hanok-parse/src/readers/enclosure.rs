//! Quotation marks and inline code that begin before a call and end behind it, on one line: “use <tool_call>…</tool_call> so”.

use crate::{
    readers::shown::QUOTES,
    text::{look::Look, presence::More},
    work,
};

/// So far behind a mark the end of what encloses it is looked for.
const AHEAD: usize = 1024;
/// So many runs of backticks wait for their like.
const RUNS: usize = 16;

/// Quotation marks that are open, as bits by their place in [`QUOTES`].
type Marks = u16;

/// What stands open on the line at hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enclosure {
    /// Read up to this byte.
    at: usize,
    /// The letter before it on the line.
    last: Option<char>,
    marks: Marks,
    /// Runs of backticks: how long, and which marks were open before.
    runs: Vec<(usize, Marks)>,
    ahead: Option<Ahead>,
    /// What stands before this byte is enclosed.
    to: usize,
}

/// A look for the end of what stands open, behind a mark.
#[derive(Debug, Clone)]
struct Ahead {
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
}

impl Enclosure {
    /// Nothing is open at byte `at`.
    pub(crate) fn from(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// Whether the mark of a call at byte `at` stands in what ends behind it on its line.
    pub(crate) fn holds(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        if at < self.to {
            return Ok(true);
        }
        self.read(look, at);
        if self.marks == 0 && self.runs.is_empty() {
            return Ok(false);
        }
        let ahead = self.ahead.take().filter(|ahead| ahead.mark == at);
        let mut ahead = ahead.unwrap_or_else(|| Ahead::new(at));
        match ahead.end(look, self) {
            Ok(Some(end)) => self.to = end,
            // What has no end on its line encloses nothing.
            Ok(None) => self.forget(at),
            Err(More) => {
                self.ahead = Some(ahead);
                return Err(More);
            }
        }
        Ok(at < self.to)
    }

    /// Forgets what is open before byte `at`.
    pub(crate) fn forget(&mut self, at: usize) {
        *self = Self { at, to: self.to, ..Self::default() };
    }

    /// Reads on to byte `to`.
    fn read(&mut self, look: Look<'_>, to: usize) {
        let text = look.slice(self.at, to);
        work::count(text.len());
        if let Some(line) = text.rfind('\n') {
            self.forget(self.at + line + 1);
        }
        while let Some(letter) = look.slice(self.at, to).chars().next() {
            let rest = look.slice(self.at, to);
            let len = if letter == '`' { run(rest) } else { letter.len_utf8() };
            let next = rest.get(len..).and_then(|rest| rest.chars().next());
            if letter == '`' {
                self.ticks(len);
            } else {
                self.quote(letter, next);
            }
            self.last = Some(letter).filter(|last| self.last.is_some() || !last.is_whitespace());
            self.at += len;
        }
    }

    /// Reads a run of backticks. A fence at the start of a line is none.
    fn ticks(&mut self, len: usize) {
        if let Some(at) = self.runs.iter().position(|(open, _)| *open == len) {
            self.marks = self.runs.get(at).map_or(0, |(_, marks)| *marks);
            self.runs.truncate(at);
        } else if (len < 3 || self.last.is_some()) && self.runs.len() < RUNS {
            self.runs.push((len, self.marks));
        }
    }

    /// Reads a letter before `next`. A straight quote behind a letter opens nothing: it ends a word, or stands in one.
    /// Behind a brace it begins a key.
    fn quote(&mut self, letter: char, next: Option<char>) {
        if letter.is_ascii() && !matches!(letter, '"' | '\'') {
            return;
        }
        for (at, (open, close)) in QUOTES.iter().enumerate() {
            let bit = 1 << at;
            let is_open = self.marks & bit != 0;
            if is_open && close.starts_with(letter) && ends(letter, next) {
                self.marks &= !bit;
            } else if !is_open && open.starts_with(letter) {
                let is_straight = matches!(letter, '"' | '\'');
                if !is_straight
                    || !self.last.is_some_and(|last| last == '{' || last.is_alphanumeric())
                {
                    self.marks |= bit;
                }
            }
        }
    }

    /// Whether the letter or run of backticks at the beginning of `rest`, before `next`, ends what is open.
    fn is_end(&self, letter: char, len: usize, next: Option<char>) -> bool {
        if letter == '`' {
            return self.runs.iter().any(|(open, _)| *open == len);
        }
        let mut marks = QUOTES.iter().enumerate().filter(|(at, _)| self.marks & (1 << at) != 0);
        marks.any(|(_, (_, close))| close.starts_with(letter)) && ends(letter, next)
    }
}

impl Ahead {
    fn new(mark: usize) -> Self {
        Self { mark, at: mark, depth: 0, string: None, inner: None, last: ' ' }
    }

    /// Where `open` ends on this line. What stands in a string of the call's own ends nothing.
    fn end(&mut self, look: Look<'_>, open: &Enclosure) -> Result<Option<usize>, More> {
        let from = self.at;
        let end = loop {
            let rest = look.rest(self.at);
            let Some(letter) = rest.chars().next() else {
                if !look.ended {
                    break Err(More);
                }
                break Ok(self.inner.filter(|_| self.depth == 0 && !look.cut));
            };
            if letter == '\n' {
                break Ok(self.inner);
            }
            if self.at > self.mark + AHEAD {
                break Ok(None);
            }
            let len = if letter == '`' { run(rest) } else { letter.len_utf8() };
            let next = rest.get(len..).and_then(|rest| rest.chars().next());
            if next.is_none() && matches!(letter, '`' | '\'' | '\\') && !look.ended {
                break Err(More);
            }
            if letter == '\\' {
                self.at += len + next.filter(|next| *next != '\n').map_or(0, char::len_utf8);
                self.last = letter;
                continue;
            }
            if self.ends(letter, open.is_end(letter, len, next)) {
                break Ok(Some(self.at));
            }
            self.at += len;
        };
        work::count(self.at - from);
        end
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
            return true;
        } else {
            match letter {
                '{' | '[' | '(' => self.depth += 1,
                '}' | ']' | ')' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        if !letter.is_whitespace() {
            self.last = letter;
        }
        false
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

/// Whether a quote before `next` may end something: an apostrophe in a word does not.
fn ends(quote: char, next: Option<char>) -> bool {
    quote != '\'' || !next.is_some_and(char::is_alphanumeric)
}

/// How many backticks stand at the beginning of `text`.
fn run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}
