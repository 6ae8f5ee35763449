//! Quotation marks and inline code that begin before a call and end behind it, and rows of tables: “use <tool_call>…</tool_call> so”.
//!
//! On the line of the call they begin and end anywhere, and so do pairs such as “…” and 「…」 in its paragraph. Straight quotes,
//! apostrophes and backticks stand in prose for other reasons, too: over lines they have to end directly behind the call.

mod ahead;
mod barren;
mod elements;

use self::{ahead::Ahead, barren::Barren, elements::Elements};
use crate::{
    readers::shown::QUOTES,
    text::{look::Look, marks::Meaning, presence::More},
    work,
};

/// So many runs of backticks wait for their like.
const RUNS: usize = 16;

/// Quotation marks that are open, as bits by their place in [`QUOTES`].
type Marks = u16;

/// Those that nothing else is written with.
const PAIRS: Marks = !0b1_0111;

/// A mark of a call, and what closes it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Enclosed {
    len: usize,
    closes: &'static [&'static str],
}

/// How a sign fits what is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It ends it, wherever it stands.
    Near,
    /// It ends it directly behind the call.
    Far,
}

/// What stands open in the paragraph at hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enclosure {
    /// Read up to this byte.
    at: usize,
    /// The letter before it on the line.
    last: Option<char>,
    marks: Marks,
    /// Those of them that were opened on this line.
    line: Marks,
    /// Runs of backticks: how long, and which marks were open before.
    runs: Vec<(usize, Marks)>,
    /// How many of them were opened on lines before.
    runs_before: usize,
    /// The last letter opened something, blanks, tags and the beginning of a fence aside.
    is_tight: bool,
    /// What was open before the fence in which it stands: what its code opens is nothing behind it.
    before_fence: Option<Marks>,
    /// Only blanks stand before it on the line.
    is_blank: bool,
    /// The line has a sign of columns.
    has_column: bool,
    /// The paragraph has the line that a table has below its head.
    is_table: bool,
    ahead: Option<Ahead>,
    barren: Barren,
    elements: Elements,
    /// What stands before this byte is enclosed.
    to: usize,
}

impl Enclosed {
    /// `mark`, of `len` bytes.
    pub(crate) fn of(mark: Meaning, len: usize) -> Self {
        let closes = match mark {
            Meaning::Open(rule) => rule.closes,
            Meaning::Section(closes) => closes,
            _ => &[],
        };
        Self { len, closes }
    }
}

impl Enclosure {
    /// Nothing is open at byte `at`.
    pub(crate) fn from(at: usize) -> Self {
        Self { at, is_blank: true, ..Self::default() }
    }

    /// Whether the `mark` of a call at byte `at` stands in what ends behind it.
    pub(crate) fn holds(
        &mut self,
        look: Look<'_>,
        at: usize,
        mark: Enclosed,
    ) -> Result<bool, More> {
        if at < self.to {
            return Ok(true);
        }
        if let Some(end) = self.elements.end(look, at)? {
            self.to = end;
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
        let mut ahead = ahead.unwrap_or_else(|| Ahead::new(at, mark));
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
        (self.last, self.marks, self.line, self.runs_before) = (None, 0, 0, 0);
        (self.is_tight, self.is_blank) = (false, true);
        (self.has_column, self.is_table) = (false, false);
        (self.before_fence, self.ahead) = (None, None);
    }

    /// Goes on at byte `at`: what stands before it and is not read yet is no prose.
    pub(crate) fn jump(&mut self, at: usize) {
        self.elements.jump(at);
        self.at = self.at.max(at);
    }

    /// What closes a call ends at byte `at`: nothing of it is an element.
    pub(crate) fn pass_closes(&mut self, at: usize) {
        self.elements.jump(at);
    }

    /// A call ends at byte `at`: nothing is open behind it but elements.
    pub(crate) fn called(&mut self, at: usize) {
        self.elements.jump(at);
        self.forget(at);
    }

    /// Goes on behind a mark that stands from `at` to `behind`.
    pub(crate) fn pass_mark(&mut self, look: Look<'_>, at: usize, behind: usize) {
        self.read(look, at);
        self.jump(behind);
    }

    /// Reads on to byte `to`, from the beginning of its paragraph.
    pub(crate) fn read(&mut self, look: Look<'_>, to: usize) {
        self.elements.read(look, to);
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
        let was_tight = self.is_tight;
        let mut is_of_fence = false;
        if self.is_blank && self.last.is_none() {
            let words = line.trim_start_matches([' ', '\t']);
            is_of_fence = is_fence(words);
            if begins_block(words) {
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
            self.is_tight = false;
            match letter {
                _ if self.last == Some('\\') => {}
                // Behind words, with nothing but its language behind it, it opens a fence.
                '`' if len >= 3 && is_whole && is_language(look.slice(self.at + len, end)) => {
                    self.runs.clear();
                }
                '`' => self.ticks(len),
                '|' => self.has_column |= self.is_column(next),
                _ => self.quote(letter, next),
            }
            self.is_blank = false;
            self.last = Some(letter);
            self.at += len;
        }
        if is_of_fence {
            self.runs.clear();
            self.is_tight = was_tight;
            match self.before_fence.take() {
                Some(before) => self.marks = before,
                None => self.before_fence = Some(self.marks),
            }
        }
        if is_whole {
            if self.is_blank {
                self.end_paragraph();
            }
            (self.line, self.runs_before) = (0, self.runs.len());
            (self.last, self.is_blank, self.has_column) = (None, true, false);
        }
    }

    /// A paragraph ends. What the last letter opened goes on to what follows it.
    fn end_paragraph(&mut self) {
        self.is_table = false;
        if !self.is_tight && self.before_fence.is_none() {
            self.marks = 0;
            self.runs.clear();
        }
    }

    /// Skips `text`, which opens and ends nothing.
    fn skip(&mut self, text: &str) {
        self.at += text.len();
        let words = text.trim();
        if !words.is_empty() {
            let is_tag = words.starts_with('<') && words.ends_with('>');
            (self.is_tight, self.is_blank) = (self.is_tight && is_tag, false);
        }
        if !self.is_blank {
            self.last = text.chars().next_back().or(self.last);
        }
    }

    /// Reads a run of backticks. A fence at the start of a line is none.
    fn ticks(&mut self, len: usize) {
        if let Some(at) = self.runs.iter().position(|(open, _)| *open == len) {
            self.marks = self.runs.get(at).map_or(0, |(_, marks)| *marks);
            self.line &= self.marks;
            self.runs.truncate(at);
            self.runs_before = self.runs_before.min(at);
        } else if (len < 3 || self.last.is_some()) && self.runs.len() < RUNS {
            self.runs.push((len, self.marks));
            self.is_tight = true;
        }
    }

    /// Reads a letter before `next`: what it does not end, it opens.
    fn quote(&mut self, letter: char, next: Option<char>) {
        let closed = places(letter, |(_, close)| *close) & self.marks;
        if closed != 0 && ends(letter, next) {
            self.marks &= !closed;
            self.line &= !closed;
        } else if closed == 0 && opens(letter, self.last, next) {
            let opened = places(letter, |(open, _)| *open);
            self.marks |= opened;
            self.line |= opened;
            self.is_tight = opened != 0;
        }
    }

    /// Whether the sign of columns at hand, before `next`, stands between two columns, and not in a token such as `<|call|>`.
    fn is_column(&self, next: Option<char>) -> bool {
        let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
        (is_space(self.last) || is_space(next)) && next != Some('>') && self.last != Some('<')
    }

    /// How the letter or run of backticks of `len` bytes, before `next`, ends what is open. Whether the line of the call's mark, or of
    /// what closes it, `has_left`.
    fn fit(&self, letter: char, len: usize, next: Option<char>, has_left: bool) -> Option<Fit> {
        let fit = |is_near| if is_near { Fit::Near } else { Fit::Far };
        if letter == '`' {
            let at = self.runs.iter().position(|(open, _)| *open == len)?;
            return Some(fit(!has_left && at >= self.runs_before));
        }
        if !ends(letter, next) {
            return None;
        }
        let near = if has_left { PAIRS } else { PAIRS | self.line };
        let marks = QUOTES.iter().enumerate().filter(|(at, _)| self.marks & (1 << at) != 0);
        let mut ended = marks.filter(|(_, (_, close))| close.starts_with(letter)).peekable();
        ended.peek()?;
        Some(fit(ended.any(|(at, _)| near & (1 << at) != 0)))
    }

    /// Whether something is open that ends wherever its like stands.
    fn may_end_anywhere(&self, has_left: bool) -> bool {
        let is_of_line = self.line != 0 || self.runs.len() > self.runs_before;
        self.marks & PAIRS != 0 || !has_left && is_of_line
    }
}

/// The quotation marks of which `letter` is this part.
fn places(letter: char, part: impl Fn(&(&'static str, &'static str)) -> &'static str) -> Marks {
    let is_part = |quote: &(&'static str, &'static str)| part(quote).starts_with(letter);
    let all = QUOTES.iter().enumerate().skip(1).filter(|(_, quote)| is_part(quote));
    all.fold(0, |places, (at, _)| places | 1 << at)
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

/// Whether nothing, or a language, stands behind a fence.
fn is_language(rest: &str) -> bool {
    !rest.trim().contains(|letter: char| letter == '`' || letter.is_whitespace())
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether `line` begins a block of its own: a heading, a quotation or an entry of a list.
fn begins_block(line: &str) -> bool {
    let behind_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = behind_number.len() < line.len()
        && (behind_number.starts_with(". ") || behind_number.starts_with(") "));
    is_number
        || matches!(line.as_bytes(), [b'#' | b'>', ..] | [b'-' | b'*' | b'+', b' ' | b'\t', ..])
}

/// Whether `line` is the one that a table has below its head: `--- | :---`.
fn is_below_head(line: &str) -> bool {
    let is_sign = |byte| matches!(byte, b'-' | b':' | b'|' | b' ' | b'\t' | b'\r' | b'\n');
    line.bytes().all(is_sign) && line.contains('-') && line.contains('|')
}

/// Whether a quotation mark, inline code or a column may begin with `byte`.
fn may_enclose(byte: u8) -> bool {
    matches!(byte, b'`' | b'"' | b'\'' | b'|' | 0xc2 | 0xe2 | 0xe3 | 0xef)
}

/// Whether a quotation mark between these two may open something. A straight one behind a letter ends a word or stands in one, and so
/// does an apostrophe behind what ends something else; before a number it leaves out a century.
fn opens(quote: char, last: Option<char>, next: Option<char>) -> bool {
    match quote {
        '"' => !last.is_some_and(|last| last == '{' || is_letter(last)),
        '\'' => {
            let is_end = |last: char| {
                is_letter(last) || matches!(last, '{' | '`' | ')' | ']' | '}' | '"' | '”' | '*')
            };
            !last.is_some_and(is_end) && !next.is_some_and(|next| next.is_ascii_digit())
        }
        '‘' => !next.is_some_and(|next| next.is_ascii_digit()),
        _ => true,
    }
}

/// Whether a quote before `next` may end something: an apostrophe in a word does not. Korean, Chinese and Japanese go on without a
/// blank.
fn ends(quote: char, next: Option<char>) -> bool {
    !matches!(quote, '\'' | '’') || !next.is_some_and(is_letter)
}

/// Whether `letter` goes on in a word, of a script that has blanks between words and particles.
pub(crate) fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() && !matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..)
}

/// How many backticks stand at the beginning of `text`.
fn run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}
