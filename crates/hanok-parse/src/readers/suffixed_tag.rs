//! Tags that carry a suffix, another one in each checkpoint: `<tool_call:6124c78e>`.

use crate::{
    readers::{
        params::Params,
        reader::{Next, Reader},
        think::Think,
        walk::Walk,
    },
    text::{
        look::{Look, Until},
        names,
        presence::More,
    },
};

/// The longest suffix, and the longest name.
const LONGEST: usize = 256;

/// What the tag opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Call,
    Think,
    /// Nothing; it is left out. Where it closes reasoning, the reasoning was never opened.
    Close {
        thought: bool,
    },
}

/// A tag whose suffix is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuffixedTag {
    start: usize,
    /// Behind the colon.
    at: usize,
    tag: Tag,
}

impl SuffixedTag {
    pub(crate) fn new(start: usize, at: usize, tag: Tag) -> Self {
        Self { start, at, tag }
    }

    fn decide(self, walk: &mut Walk, look: Look<'_>) -> Result<Next, More> {
        let is_suffix =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let len = match look.until(self.at, LONGEST, |letter| !is_suffix(letter)) {
            Until::At(len) => len,
            endless => return self.endless(walk, look, endless),
        };
        if !look.rest(self.at + len).starts_with('>') {
            return Ok(self.prose(walk, look));
        }
        let body = self.at + len + 1;
        // The colon belongs to the suffix.
        let suffix = look.slice(self.at - 1, body - 1);
        match self.tag {
            Tag::Close { thought: false } => Ok(Next::Done(body)),
            Tag::Close { thought: true } => super::think::close(walk, look, body - self.start),
            Tag::Think => {
                let close = format!("</think{suffix}>");
                Ok(Think::new(body, &[], &[]).closed_by(close).begin(walk, look))
            }
            Tag::Call => self.call(walk, look, body, suffix),
        }
    }

    fn call(
        self,
        walk: &mut Walk,
        look: Look<'_>,
        body: usize,
        suffix: &str,
    ) -> Result<Next, More> {
        let len = match look.until(body, LONGEST, |letter| letter == '<') {
            Until::At(len) => len,
            endless => return self.endless(walk, look, endless),
        };
        let name = look.slice(body, body + len).trim().to_owned();
        let separator = format!("<tool_sep{suffix}>");
        let at = body + len + look.any(body + len, &[&separator])?.unwrap_or_default();
        if !walk.leave(look) {
            return Ok(Next::Done(at));
        }
        Ok(Params::suffixed(look, self.start, at, name, suffix).begin(walk, look))
    }

    /// Nothing ends the suffix or the name.
    fn endless(self, walk: &mut Walk, look: Look<'_>, until: Until) -> Result<Next, More> {
        match until {
            Until::More => Err(More),
            Until::Ended => Ok(self.cut(walk, look)),
            Until::At(_) | Until::Beyond => Ok(self.prose(walk, look)),
        }
    }

    /// The text ended in it.
    fn cut(self, walk: &mut Walk, look: Look<'_>) -> Next {
        let begun = look.slice(self.at, look.text.len());
        let name = begun.split_once('>').map_or("", |(_, name)| name);
        if self.tag == Tag::Call && names::begins_tool(&look.setup.declared, name) {
            walk.leave(look);
            return Next::truncated(walk, look, self.start, None);
        }
        if self.tag == Tag::Call {
            return self.prose(walk, look);
        }
        Next::Inline(look.text.len())
    }

    fn prose(self, walk: &mut Walk, look: Look<'_>) -> Next {
        walk.push(look, self.start, self.at);
        Next::Inline(self.at)
    }
}

impl Reader for SuffixedTag {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        match self.decide(walk, look) {
            Ok(next) => next,
            Err(More) => Next::More,
        }
    }
}
