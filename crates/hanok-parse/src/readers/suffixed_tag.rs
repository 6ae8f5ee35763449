//! Tags that carry a suffix, another one in each checkpoint: `<tool_call:6124c78e>`.

use crate::{
    readers::{
        params::Params,
        reader::{Next, Reader},
        tag_words::Words,
        think::Think,
        walk::Walk,
    },
    text::{
        grammar::{self, Suffixed},
        look::{Look, Until},
        names,
        presence::More,
    },
};

/// The longest suffix, and the longest name.
const LONGEST: usize = 256;

/// What the tag opens.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tag {
    Call(&'static Suffixed),
    /// Reasoning, up to this tag with the same suffix.
    Think(&'static str),
    /// Nothing. Reasoning is closed that was never opened.
    EndThink,
    /// Nothing; it is left out.
    Close,
}

/// The words of a call, and the suffix that its tags carry.
#[derive(Debug, Clone, Copy)]
struct Carried<'a> {
    words: &'static Suffixed,
    suffix: &'a str,
}

/// A tag whose suffix is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SuffixedTag {
    start: usize,
    /// Behind the tag's own letters, the last of which begins the suffix: the colon.
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
        let token = look.slice(self.start, self.at);
        let colon = token.chars().next_back().map_or(0, char::len_utf8);
        let suffix = look.slice(self.at - colon, body - 1);
        match self.tag {
            Tag::Close => Ok(Next::Done(body)),
            Tag::EndThink => super::think::close(walk, look, body - self.start),
            Tag::Think(close) => {
                let close = grammar::suffixed(close, suffix);
                Ok(Think::new(body, &[], &[]).closed_by(close).begin(walk, look))
            }
            Tag::Call(words) => self.call(walk, look, body, Carried { words, suffix }),
        }
    }

    fn call(
        self,
        walk: &mut Walk,
        look: Look<'_>,
        body: usize,
        carried: Carried<'_>,
    ) -> Result<Next, More> {
        let len = match look.until(body, LONGEST, |letter| letter == '<') {
            Until::At(len) => len,
            endless => return self.endless(walk, look, endless),
        };
        let name = look.slice(body, body + len).trim().to_owned();
        let Carried { words, suffix } = carried;
        let separator = grammar::suffixed(words.separator, suffix);
        let at = body + len + look.any(body + len, &[&separator])?.unwrap_or_default();
        if !walk.leave(look) {
            return Ok(Next::Done(at));
        }
        Ok(Params::new(look, self.start, at, name, Words::suffixed(words.tags, suffix))
            .begin(walk, look))
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
        if !matches!(self.tag, Tag::Call(_)) {
            return Next::Inline(look.text.len());
        }
        if names::begins_tool(&look.setup.declared, name) {
            walk.leave(look);
            return Next::truncated(walk, look, self.start, None);
        }
        self.prose(walk, look)
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
