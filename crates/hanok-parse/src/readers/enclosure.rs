//! Quotation marks and inline code that begin before a call and end behind it, and rows of tables: “use <tool_call>…</tool_call> so”.
//!
//! They hold within a paragraph, also over its lines.

mod ahead;
mod barren;

use self::{ahead::Ahead, barren::Barren};
use crate::{
    readers::shown::QUOTES,
    text::{look::Look, presence::More},
    work,
};

/// So many runs of backticks wait for their like.
const RUNS: usize = 16;

/// Quotation marks that are open, as bits by their place in [`QUOTES`].
type Marks = u16;

/// The straight ones.
const STRAIGHT: Marks = 0b110;

/// What stands open in the paragraph at hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enclosure {
    /// Read up to this byte.
    at: usize,
    /// The letter before it on the line.
    last: Option<char>,
    marks: Marks,
    /// Those that the last letter opened, blanks aside.
    tight: Marks,
    /// Runs of backticks: how long, and which marks were open before.
    runs: Vec<(usize, Marks)>,
    /// Only blanks stand before it on the line.
    is_blank: bool,
    /// The line has a sign of columns.
    has_column: bool,
    /// The paragraph has the line that a table has below its head.
    is_table: bool,
    ahead: Option<Ahead>,
    barren: Barren,
    /// What stands before this byte is enclosed.
    to: usize,
}

impl Enclosure {
    /// Nothing is open at byte `at`.
    pub(crate) fn from(at: usize) -> Self {
        Self { at, is_blank: true, ..Self::default() }
    }

    /// Whether the mark of a call at byte `at` stands in what ends behind it.
    pub(crate) fn holds(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        if at < self.to {
            return Ok(true);
        }
        self.read(look, at);
        if self.is_table && self.has_column {
            return Ok(true);
        }
        let (marks, runs) = (self.marks, &self.runs);
        if marks == 0 && runs.is_empty() || !self.barren.may_end(at, marks, runs) {
            return Ok(false);
        }
        let ahead = self.ahead.take().filter(|ahead| ahead.is_behind(at));
        let mut ahead = ahead.unwrap_or_else(|| Ahead::new(at));
        match ahead.end(look, self) {
            Ok(Some(end)) => self.to = end,
            // What has no end encloses nothing.
            Ok(None) => {
                self.barren.note(ahead.at(), self.marks, &self.runs);
                self.forget(at);
            }
            Err(More) => {
                self.ahead = Some(ahead);
                return Err(More);
            }
        }
        Ok(at < self.to)
    }

    /// Forgets what is open before byte `at`.
    pub(crate) fn forget(&mut self, at: usize) {
        self.at = at;
        self.runs.clear();
        (self.last, self.marks, self.tight) = (None, 0, 0);
        (self.is_blank, self.has_column, self.is_table) = (true, false, false);
        self.ahead = None;
    }

    /// Reads on to byte `to`, from the beginning of its paragraph.
    fn read(&mut self, look: Look<'_>, to: usize) {
        let text = look.slice(self.at, to);
        work::count(text.len());
        // Nothing is open, and nothing of this opens something.
        let has_some = text.bytes().fold(self.is_table, |has, byte| has | may_enclose(byte));
        if !has_some && self.marks == 0 && self.runs.is_empty() {
            self.pass(text);
            return;
        }
        if let Some(paragraph) = last_paragraph(text) {
            self.forget(self.at + paragraph);
        }
        while self.at < to {
            let rest = look.slice(self.at, to);
            let line = rest.find('\n').map_or(rest, |end| rest.get(..=end).unwrap_or(rest));
            if line.is_empty() {
                return;
            }
            self.line(line, look, to);
        }
    }

    /// Passes `text`, which has nothing of what encloses.
    fn pass(&mut self, text: &str) {
        match text.bytes().rposition(|byte| byte == b'\n') {
            Some(end) => {
                self.forget(self.at + end + 1);
                self.skip(text.get(end + 1..).unwrap_or_default());
            }
            None => self.skip(text),
        }
    }

    /// Reads a line, or a part of one.
    fn line(&mut self, line: &str, look: Look<'_>, to: usize) {
        let end = self.at + line.len();
        let is_whole = line.ends_with('\n');
        if self.is_blank && self.last.is_none() {
            let words = line.trim_start_matches([' ', '\t']);
            if is_fence(words) {
                self.runs.clear();
            } else if begins_block(words) {
                self.forget(self.at);
            }
            self.is_table |= is_whole && is_below_head(words);
        }
        while self.at < end {
            let rest = look.slice(self.at, end);
            let skipped = rest.bytes().position(may_enclose).unwrap_or(rest.len());
            self.skip(rest.get(..skipped).unwrap_or_default());
            let rest = look.slice(self.at, end);
            let Some(letter) = rest.chars().next() else { break };
            let len = if letter == '`' { run(rest) } else { letter.len_utf8() };
            let next = look.slice(self.at + len, to).chars().next();
            if letter == '`' {
                self.ticks(len);
                self.tight = 0;
            } else {
                self.quote(letter, next);
            }
            self.has_column |= letter == '|';
            self.is_blank = false;
            self.last = Some(letter);
            self.at += len;
        }
        if is_whole && self.is_blank {
            // A paragraph ends. What the last letter opened goes on to what follows it.
            self.marks &= self.tight;
            self.runs.clear();
            self.is_table = false;
        }
        if is_whole {
            (self.last, self.is_blank, self.has_column) = (None, true, false);
        }
    }

    /// Skips `text`, which opens and ends nothing.
    fn skip(&mut self, text: &str) {
        self.at += text.len();
        if !text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            (self.tight, self.is_blank) = (0, false);
        }
        if !self.is_blank {
            self.last = text.chars().next_back().or(self.last);
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
        let mut opened = 0;
        for (at, (open, close)) in QUOTES.iter().enumerate().skip(1) {
            let bit = 1 << at;
            let is_open = self.marks & bit != 0;
            if is_open && close.starts_with(letter) && ends(letter, next) {
                self.marks &= !bit;
            } else if !is_open && open.starts_with(letter) {
                let is_straight = bit & STRAIGHT != 0;
                if !is_straight
                    || !self.last.is_some_and(|last| last == '{' || last.is_alphanumeric())
                {
                    opened |= bit;
                }
            }
        }
        self.marks |= opened;
        self.tight = opened;
    }

    /// Whether the letter or run of backticks of `len` bytes, before `next`, ends what is open. A straight quote `may_close` at its place.
    fn is_end(&self, letter: char, len: usize, next: Option<char>, may_close: bool) -> bool {
        if letter == '`' {
            return self.runs.iter().any(|(open, _)| *open == len);
        }
        let mut marks = QUOTES.iter().enumerate().filter(|(at, _)| self.marks & (1 << at) != 0);
        let is_like = marks.any(|(at, (_, close))| {
            let may_end = may_close || STRAIGHT & (1 << at) == 0;
            may_end && close.starts_with(letter)
        });
        is_like && ends(letter, next)
    }
}

/// Where the last paragraph of `text` begins, if it is not the first. Blank lines at the end of `text` begin none.
fn last_paragraph(text: &str) -> Option<usize> {
    let mut to = text.trim_end().len();
    loop {
        let end = text.get(..to)?.rfind('\n')?;
        let line = text.get(..end)?.rfind('\n').map_or(0, |before| before + 1);
        if line > 0 && text.get(line..end)?.trim().is_empty() {
            return Some(end + 1);
        }
        to = end;
    }
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether `line` begins a block of its own: a heading, a quotation or an entry of a list.
fn begins_block(line: &str) -> bool {
    matches!(line.as_bytes(), [b'#' | b'>', ..] | [b'-' | b'*' | b'+', b' ' | b'\t', ..])
}

/// Whether `line` is the one that a table has below its head: `--- | :---`.
fn is_below_head(line: &str) -> bool {
    let is_sign = |byte| matches!(byte, b'-' | b':' | b'|' | b' ' | b'\t' | b'\r' | b'\n');
    line.bytes().all(is_sign) && line.contains('-') && line.contains('|')
}

/// Whether a quotation mark, inline code or a column may begin with `byte`.
fn may_enclose(byte: u8) -> bool {
    matches!(byte, b'`' | b'"' | b'\'' | b'|' | 0xc2 | 0xe2 | 0xe3)
}

/// Whether a quote before `next` may end something: an apostrophe in a word does not.
fn ends(quote: char, next: Option<char>) -> bool {
    !matches!(quote, '\'' | '’') || !next.is_some_and(char::is_alphanumeric)
}

/// How many backticks stand at the beginning of `text`.
fn run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}
