//! Code fences around calls.
//!
//! A fence line is held back until it is clear what it opens: around a call or a label it belongs to the format, around
//! anything else to the content.

use std::ops::Range;

use crate::{
    readers::{shown::Shown, walk::Walk},
    text::{labels, look::Look, presence::More},
};

pub(crate) const FENCE: &str = "```";
/// The longest name of a language, blanks included.
const LANGUAGE: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct Fence {
    held: Option<Range<usize>>,
    /// The white space behind it.
    white: Vec<Range<usize>>,
    /// A fence around the format is open.
    wrapping: bool,
    /// A fence around code is open.
    pub(crate) code: bool,
}

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

impl Walk {
    /// Reads a fence at the start of a line.
    pub(crate) fn fence_line(&mut self, look: Look<'_>) -> Result<bool, More> {
        let Some(len) = opening(look, self.at)? else { return Ok(false) };
        let line = self.at..self.at + len;
        if self.fence.wrapping {
            self.fence.close();
            self.go(line.end);
            return Ok(true);
        }
        let is_inner = self.fence.code || self.fence.held.is_some();
        if is_inner && look.slice(line.start, line.end).trim().len() > FENCE.len() {
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
