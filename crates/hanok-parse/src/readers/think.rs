//! Reasoning: `<think>…</think>`, and close tags whose open tag the chat template wrote.

use crate::{
    readers::{
        reader::{Next, Reader},
        walk::{Mode, Walk},
    },
    reply::note::NoteKind,
    text::{
        labels::{self, Line},
        look::Look,
        marks::{self, Lookup, Meaning},
        presence::More,
    },
};

/// Whether calls may come out of the reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reasoning {
    /// What a model writes inside its reasoning is never a call.
    #[default]
    Ignore,
    /// When nothing follows the reasoning, the calls inside its last piece count.
    Promote,
}

/// Reasoning that is being read.
#[derive(Debug, Clone)]
pub(crate) struct Think {
    start: usize,
    at: usize,
    fresh: bool,
    closes: &'static [&'static str],
    /// Marks that end it and mean something of their own.
    until: &'static [&'static str],
    /// The prompt opened it: any mark that closes reasoning does.
    any: bool,
    /// How many marks of reasoning were opened in it.
    inner: usize,
    /// A close mark that only this text has.
    close: Option<String>,
}

impl Think {
    /// Reasoning that begins at `start`.
    pub(crate) fn new(
        start: usize,
        closes: &'static [&'static str],
        until: &'static [&'static str],
    ) -> Self {
        Self { start, at: start, fresh: true, closes, until, any: false, inner: 0, close: None }
    }

    /// Reasoning that the prompt opened.
    pub(crate) fn opened_before(start: usize) -> Self {
        Self { any: true, ..Self::new(start, &[], &[]) }
    }

    pub(crate) fn closed_by(self, close: String) -> Self {
        Self { close: Some(close), ..self }
    }

    /// Reads up to the next mark. Where reading goes on, when it is the close mark.
    fn step(&mut self, walk: &mut Walk, look: Look<'_>, rest: &str) -> Result<Option<usize>, More> {
        let own = match &self.close {
            Some(close) => look.any(self.at, &[close])?,
            None => match self.closes.iter().find(|close| marks::is_close(rest, close)) {
                Some(close) => Some(close.len()),
                None => look.any(self.at, self.closes)?,
            },
        };
        if let Some(len) = own.filter(|len| look.is_special(self.at, *len)) {
            return Ok(Some(self.at + len));
        }
        let until = look.any(self.at, self.until)?;
        if until.is_some_and(|len| look.is_special(self.at, len)) {
            return Ok(Some(self.at));
        }
        if self.fresh {
            self.decoy_label(walk, look, rest)?;
        }
        match look.setup.marks.at(rest) {
            Lookup::Mark(Meaning::Open(_), len) => {
                walk.draft.note(NoteKind::Decoy, self.at..self.at + len);
            }
            Lookup::Mark(Meaning::EndThink, len) if self.any && look.is_special(self.at, len) => {
                return Ok(Some(self.at + len));
            }
            Lookup::Mark(Meaning::Think(..) | Meaning::SuffixedThink(_), _) => self.inner += 1,
            Lookup::Prefix if !look.ended => return Err(More),
            _ => {}
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let tail = rest.get(first..).unwrap_or_default();
        self.fresh = rest.starts_with('\n');
        let plain = if self.fresh {
            0
        } else {
            // A close mark of words begins with a letter.
            let word = self.closes.first().and_then(|close| close.bytes().next());
            let stops = |byte| byte == b'\n' || marks::may_begin(byte) || Some(byte) == word;
            tail.bytes().position(stops).unwrap_or(tail.len())
        };
        let len = first + plain;
        walk.draft.say_reasoning(rest.get(..len).unwrap_or_default());
        self.at += len;
        Ok(None)
    }

    fn decoy_label(&mut self, walk: &mut Walk, look: Look<'_>, rest: &str) -> Result<(), More> {
        self.fresh = false;
        if !look.setup.labels || !rest.bytes().next().is_some_and(labels::may_begin) {
            return Ok(());
        }
        match labels::at(rest, look.ended) {
            Line::Label(label) if label.kind.calls() => {
                walk.draft.note(NoteKind::Decoy, self.at..self.at + label.len);
            }
            Line::More => {
                self.fresh = true;
                return Err(More);
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&self, walk: &mut Walk, end: usize, behind: usize) -> Next {
        walk.draft.reasoning.cut();
        walk.draft.reasoned.push(self.start..end);
        walk.reasoned_to = behind;
        walk.enclosure.jump(behind);
        walk.stray_closes = self.inner;
        Next::Done(behind)
    }
}

impl Reader for Think {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let rest = look.rest(self.at);
            if rest.is_empty() {
                break;
            }
            match self.step(walk, look, rest) {
                Ok(Some(behind)) => {
                    let end = self.at;
                    return self.close(walk, end, behind);
                }
                Ok(None) => {}
                Err(More) => break,
            }
        }
        if look.ended {
            return self.close(walk, look.text.len(), look.text.len());
        }
        Next::More
    }
}

/// Nothing was open: all of the text so far was reasoning. What already was stays as it is, so that many such marks cost
/// no more than their text.
pub(crate) fn close(walk: &mut Walk, look: Look<'_>, len: usize) -> Result<Next, More> {
    let behind = walk.at + len;
    let Some(left) = walk.stray_closes.checked_sub(1) else {
        return second(walk, look, behind);
    };
    walk.enclosure.forget(behind);
    if walk.draft.committed {
        let start = walk.start;
        // What was told as the answer stays one.
        if let Mode::Answer(_) = walk.mode {
            walk.settle(look);
        }
        // What was told as a call stays one.
        if !walk.draft.streams || walk.draft.calls.is_empty() {
            walk.draft.drop_calls(start..behind);
        }
        walk.stray_closes = left;
        walk.reasoned_to = behind;
        walk.restart();
        return Ok(Next::Done(behind));
    }
    let piece = walk.reasoned_to.min(walk.at)..walk.at;
    let before = look.slice(piece.start, piece.end);
    walk.draft.retract(before, piece, walk.start..behind);
    walk.reasoned_to = behind;
    walk.stray_closes = left;
    walk.restart();
    Ok(Next::Done(behind))
}

/// A close mark where nothing is open any more: text where text goes on behind it, and left out at the end of a line.
fn second(walk: &mut Walk, look: Look<'_>, behind: usize) -> Result<Next, More> {
    let rest = look.rest(behind);
    if rest.is_empty() && !look.ended {
        return Err(More);
    }
    if rest.is_empty() || rest.starts_with(['\n', '\r', '<', '[']) {
        return Ok(Next::Done(behind));
    }
    walk.push(look, walk.at, behind);
    Ok(Next::Inline(behind))
}
