//! Code fences around calls.
//!
//! A fence line is held back until it is clear what it opens: around a call or a label it belongs to the format, around
//! anything else to the content.

use std::ops::Range;

use crate::{
    json::json_text,
    readers::{shown::Shown, walk::Walk},
    text::{
        labels,
        look::{Look, Until},
        presence::More,
    },
    work,
};

pub(crate) const FENCE: &str = "```";
/// A fence at the start of a line.
const FENCE_LINE: &str = "\n```";
/// The longest name of a language, blanks included.
const LANGUAGE: usize = 64;
/// The longest line of a fence that says more than a language.
const INFO: usize = 256;

#[derive(Debug, Clone, Default)]
pub(crate) struct Fence {
    held: Option<Range<usize>>,
    /// The white space behind it.
    white: Vec<Range<usize>>,
    /// A fence around the format is open.
    wrapping: bool,
    /// A fence around code is open.
    code: bool,
    /// Behind the mark at the first byte, no fence stands before the second one.
    searched: (usize, usize),
    /// Where the last fence of the text stands, once that has ended.
    last: Option<Option<usize>>,
}

/// The languages of fences in which a call may stand alone. One in another language is shown.
const OF_CALLS: [&str; 15] = [
    "",
    "text",
    "txt",
    "plaintext",
    "json",
    "jsonc",
    "json5",
    "jsonl",
    "xml",
    "python",
    "py",
    "tool_code",
    "tool_call",
    "tool_calls",
    "tool",
];

impl Fence {
    /// What was held back opens around a call or a label.
    pub(crate) fn wraps(&mut self) {
        self.white.clear();
        if self.held.take().is_some() {
            self.wrapping = true;
        }
    }

    /// Whether a fence is open, around whatever.
    pub(crate) fn is_open(&self) -> bool {
        self.code || self.is_wrapping()
    }

    /// Whether one is open that is not around the format: what begins in it is code.
    pub(crate) fn is_around_code(&self) -> bool {
        self.code || self.held.is_some()
    }

    pub(crate) fn is_wrapping(&self) -> bool {
        self.wrapping || self.held.is_some()
    }

    /// A fence that the caller skipped opens around an input.
    pub(crate) fn open(&mut self) {
        self.wrapping = true;
    }

    pub(crate) fn close(&mut self) {
        self.wrapping = false;
        self.held = None;
        self.white.clear();
    }

    /// `text` without the closing fence that belongs to the format. Fences within the text come in pairs.
    pub(crate) fn unwrap<'a>(&mut self, text: &'a str) -> &'a str {
        let inner = text.strip_suffix(FENCE).filter(|_| self.wrapping);
        match inner.filter(|inner| inner.matches(FENCE).count() % 2 == 0) {
            Some(inner) => {
                self.wrapping = false;
                inner.trim_end()
            }
            None => text,
        }
    }
}

/// The length of the fence and its language at `at`, blanks before and behind included, if what follows is the end of
/// the line or one of JSON's brackets.
pub(crate) fn opening(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    let text = look.rest(at);
    let (mut fence, mut done) = (0, None);
    for (len, letter) in text.char_indices() {
        if len > LANGUAGE {
            return Ok(None);
        }
        match letter {
            _ if labels::is_blank(letter) && (fence == 0 || done.is_some()) => {}
            '`' if fence < 3 => fence += 1,
            _ if fence < 3 => return Ok(None),
            '\n' | '\r' | '{' | '[' | '<' => return Ok(Some(len)),
            '`' | '_' | '-' | '+' | '.' if done.is_none() => {}
            _ if letter.is_ascii_alphanumeric() && done.is_none() => {}
            _ if labels::is_blank(letter) => done = Some(len),
            _ => return Ok(None),
        }
    }
    if !look.ended {
        return Err(More);
    }
    Ok((fence >= 3).then_some(text.len()))
}

/// The length of a fence of three signs at `at`, blanks before it included, that has anything but a backtick behind it: a
/// language and more, such as a title, a file or words. A mark in it is read by itself.
fn with_info(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    let Some(fence) = look.behind_blanks(at)? else { return Ok(None) };
    if look.any(fence, &[FENCE])?.is_none() {
        return Ok(None);
    }
    let info = fence + FENCE.len();
    let len = match look.until(info, INFO, |letter| matches!(letter, '`' | '\n' | '\r')) {
        Until::At(len) if look.rest(info + len).starts_with('`') => return Ok(None),
        Until::At(len) => len,
        Until::Ended => look.rest(info).len(),
        Until::More => return Err(More),
        Until::Beyond => return Ok(None),
    };
    let mark = look.slice(info, info + len).find('<');
    Ok(Some(info + mark.unwrap_or(len) - at))
}

/// The length of the line of a fence at `at`, with whatever it says, and whether that is no more than a language.
pub(crate) fn line(look: Look<'_>, at: usize) -> Result<Option<(usize, bool)>, More> {
    if let Some(len) = opening(look, at)? {
        return Ok(Some((len, true)));
    }
    Ok(with_info(look, at)?.map(|len| (len, false)))
}

impl Walk {
    /// Reads a fence at the start of a line.
    pub(crate) fn fence_line(&mut self, look: Look<'_>) -> Result<bool, More> {
        let Some((len, is_plain)) = line(look, self.at)? else { return Ok(false) };
        let line = self.at..self.at + len;
        if self.fence.wrapping && !is_plain {
            self.show_fence(look);
            return Ok(false);
        }
        if self.fence.wrapping {
            self.fence.close();
            self.go(line.end);
            return Ok(true);
        }
        if self.fence.is_around_code()
            && look.slice(line.start, line.end).trim().len() > FENCE.len()
        {
            self.show_fence(look);
            return Ok(false);
        }
        if self.fence.code {
            self.fence.code = false;
            return Ok(false);
        }
        self.release_fence(look);
        self.fence.held = Some(line.clone());
        self.go(line.end);
        Ok(true)
    }

    /// Whether a mark at byte `at` stands in a fence that is not its own: with other text before it, or in a language that no call
    /// is written in. One without an end shows nothing.
    pub(crate) fn is_in_fence(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let held = self.fence.held.as_ref().map(|held| look.slice(held.start, held.end));
        let is_of_calls = |line: &str| {
            let info = line.trim().trim_start_matches('`').trim();
            OF_CALLS.contains(&info.to_lowercase().as_str())
        };
        if !self.fence.code && held.is_none_or(is_of_calls) {
            return Ok(false);
        }
        if look.ended {
            let last = *self.fence.last.get_or_insert_with(|| {
                let rest = look.rest(at);
                work::count(rest.len());
                rest.rfind(FENCE_LINE).map(|len| at + len)
            });
            return Ok(last.is_some_and(|last| last >= at));
        }
        let searched = self.fence.searched;
        let from = if searched.0 == at { searched.1.max(at) } else { at };
        let rest = look.rest(from);
        let found = rest.find(FENCE_LINE);
        work::count(found.unwrap_or(rest.len()));
        if found.is_some() {
            return Ok(true);
        }
        self.fence.searched = (at, from + rest.len() - json_text::overlap(rest, FENCE_LINE));
        Err(More)
    }

    /// Reads a fence behind the signs of a list, which end at byte `behind`. In another fence it is the text of that, and so are
    /// the fences in it.
    pub(crate) fn fence_in_list(&mut self, look: Look<'_>, behind: usize) -> Result<bool, More> {
        let Some((len, _)) = line(look, behind)? else { return Ok(false) };
        let info = look.slice(behind, behind + len).trim_start().trim_start_matches('`');
        // Code in a line of its own.
        if info.contains('`') {
            return Ok(false);
        }
        if self.fence.is_open() {
            self.show_fence(look);
            return Ok(false);
        }
        self.push(look, self.at, behind);
        self.at = behind;
        self.fence_line(look)
    }

    /// Shows the fence here, with the fences in it.
    pub(crate) fn show_fence(&mut self, look: Look<'_>) {
        self.release_fence(look);
        self.shown = Some(Shown::Nested(2));
    }

    /// Sends a held fence to the content, where the text from `start` to `end` shows that it is code's. Says whether
    /// that text is to be sent, too.
    pub(crate) fn release_fence_for(&mut self, look: Look<'_>, start: usize, end: usize) -> bool {
        if self.fence.held.is_none() {
            return true;
        }
        if look.slice(start, end).trim().is_empty() {
            match self.fence.white.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => self.fence.white.push(start..end),
            }
            return false;
        }
        self.release_fence(look);
        true
    }

    pub(crate) fn release_fence(&mut self, look: Look<'_>) {
        let Some(held) = self.fence.held.take() else { return };
        self.fence.code = true;
        self.push(look, held.start, held.end);
        for white in std::mem::take(&mut self.fence.white) {
            self.push(look, white.start, white.end);
        }
    }
}
