//! Code fences around calls.
//!
//! A fence line is held back until it is clear what it opens: around a call or a label it belongs to the format, around
//! anything else to the content.

use std::ops::Range;

use crate::walk::Walk;

pub(crate) const FENCE: &str = "```";

#[derive(Debug, Default)]
pub(crate) struct Fence {
    held: Option<Range<usize>>,
    /// A fence around the format is open.
    wrapping: bool,
    /// A fence around code is open.
    code: bool,
}

impl Fence {
    /// What was held back opens around a call or a label.
    pub(crate) fn wraps(&mut self) {
        if self.held.take().is_some() {
            self.wrapping = true;
        }
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

/// The length of the fence and its language at the start of `text`, blanks before and behind included, if what follows
/// is the end of the line or one of JSON's brackets.
pub(crate) fn opening(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches(crate::labels::is_blank).strip_prefix(FENCE)?;
    let rest = rest.trim_start_matches(|letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '`' | '_' | '-' | '+' | '.')
    });
    let rest = rest.trim_start_matches(crate::labels::is_blank);
    let ends = rest.is_empty() || rest.starts_with(['\n', '\r', '{', '[', '<']);
    ends.then(|| text.len() - rest.len())
}

impl Walk<'_> {
    /// Reads a fence at the start of a line.
    pub(crate) fn fence_line(&mut self) -> bool {
        let Some(len) = opening(self.rest()) else { return false };
        let line = self.at..self.at + len;
        if self.fence.wrapping {
            self.fence.close();
            self.go(line.end);
            return true;
        }
        if self.fence.code {
            self.fence.code = false;
            return false;
        }
        self.release_fence();
        self.fence.held = Some(line.clone());
        self.go(line.end);
        true
    }

    /// Sends a held fence to the content, where text shows that it is code's. Says whether `text` is to be sent, too.
    pub(crate) fn release_fence_for(&mut self, text: &str) -> bool {
        if self.fence.held.is_none() {
            return true;
        }
        if text.trim().is_empty() {
            return false;
        }
        self.release_fence();
        true
    }

    pub(crate) fn release_fence(&mut self) {
        let Some(held) = self.fence.held.take() else { return };
        self.fence.code = true;
        self.push(held.start, held.end);
        let newline =
            held.end..held.end + crate::walk::white(self.slice(held.end, self.text.len()));
        self.push(newline.start, newline.end.min(self.at));
    }

    /// Skips the closing fence behind a call.
    pub(crate) fn skip_closing_fence(&mut self) {
        let rest = self.rest();
        let behind = rest.trim_start();
        if self.fence.is_wrapping() && behind.starts_with(FENCE) {
            self.fence.close();
            self.at += rest.len() - behind.len() + FENCE.len();
        }
    }
}
