//! Looking ahead in a text that may go on.

use std::ops::{Deref, Range};

use crate::{
    text::{
        labels, marks,
        presence::{self, More, Presence},
        setup::Setup,
    },
    work,
};

/// Where something of bounded length ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// So many bytes on.
    At(usize),
    /// The text has to go on before it can be told.
    More,
    /// Nowhere: the text ends first.
    Ended,
    /// Nowhere within its bounds.
    Beyond,
}

/// The text so far, and whether it goes on.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) text: &'a str,
    pub(crate) ended: bool,
    /// It ended before the model was done.
    pub(crate) cut: bool,
    /// Where the special tokens stand, where that is known.
    pub(crate) special: Option<&'a [Range<usize>]>,
    pub(crate) setup: &'a Setup,
}

/// A look at it. It goes from hand to hand for every piece of a text, so it is no more than a pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a>(pub(crate) &'a View<'a>);

impl<'a> Deref for Look<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        self.0
    }
}

/// Where the tokens between bars stand in a mark.
pub(crate) fn barred(mark: &str) -> impl Iterator<Item = Range<usize>> {
    mark.match_indices("<|").map(|(start, _)| {
        let end = mark.get(start..).and_then(|token| token.find('>'));
        start..end.map_or(mark.len(), |end| start + end + 1)
    })
}

impl<'a> Look<'a> {
    pub(crate) fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Whether nothing more stands, or will stand, at `at`.
    pub(crate) fn is_end(&self, at: usize) -> bool {
        self.ended && at >= self.text.len()
    }

    /// Whether the mark of `len` bytes at `at` may be one: it came as special tokens, where that is known. Of a mark that has
    /// tokens between bars, such as `<|channel|>analysis`, these did, and one of words alone has none.
    pub(crate) fn is_special(&self, at: usize, len: usize) -> bool {
        let Some(special) = self.special else { return true };
        let is_one = |start: usize, end: usize| {
            let next = special.partition_point(|range| range.end <= start);
            special.get(next).is_some_and(|range| range.start <= start && end <= range.end)
        };
        let mark = self.slice(at, at + len);
        let mut barred = barred(mark).peekable();
        if barred.peek().is_some() {
            return barred.all(|token| is_one(at + token.start, at + token.end));
        }
        !mark.bytes().next().is_some_and(marks::may_begin) || is_one(at, at + len)
    }

    pub(crate) fn presence(&self, at: usize, token: &str) -> Presence {
        presence::of(self.rest(at), token, self.ended)
    }

    /// Which of `tokens` stands at `at`: its length, or `Err(More)`.
    pub(crate) fn any(&self, at: usize, tokens: &[&str]) -> Result<Option<usize>, More> {
        presence::any(self.rest(at), tokens, self.ended)
    }

    /// The first letter at or behind `at` that `stops`, among the first `most` bytes. However the text is cut, the answer is
    /// the same once it is none of [`Until::More`].
    pub(crate) fn until(&self, at: usize, most: usize, stops: impl Fn(char) -> bool) -> Until {
        let rest = self.rest(at);
        let mut letters = rest.char_indices().take_while(|(len, _)| *len < most);
        let found = letters.find(|(_, letter)| stops(*letter));
        work::count(found.map_or(rest.len().min(most), |(len, _)| len));
        match found {
            Some((len, _)) => Until::At(len),
            None if rest.len() >= most => Until::Beyond,
            None if self.ended => Until::Ended,
            None => Until::More,
        }
    }

    /// Behind the blanks at `at`, if they are few: a line that begins further in begins with no mark of lines.
    pub(crate) fn behind_blanks(&self, at: usize) -> Result<Option<usize>, More> {
        const BLANKS: usize = 64;
        self.behind(at, BLANKS, labels::is_blank)
    }

    /// Behind the white space at `at`, if it is short.
    pub(crate) fn behind_some_white(&self, at: usize) -> Result<Option<usize>, More> {
        const WHITE: usize = 256;
        self.behind(at, WHITE, char::is_whitespace)
    }

    /// Behind the letters at `at` that are `part`, if they are at most `most` bytes.
    fn behind(
        &self,
        at: usize,
        most: usize,
        part: impl Fn(char) -> bool,
    ) -> Result<Option<usize>, More> {
        match self.until(at, most + 1, |letter| !part(letter)) {
            Until::At(len) => Ok(Some(at + len)),
            Until::More => Err(More),
            Until::Ended => Ok(Some(self.text.len())),
            Until::Beyond => Ok(None),
        }
    }

    /// Where `token` begins, within `most` bytes from `at`. What is further away is not looked at, or many marks would look at
    /// the whole text.
    pub(crate) fn near(&self, at: usize, token: &str, most: usize) -> Option<usize> {
        let rest = self.rest(at);
        let mut end = rest.len().min(most + token.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let found = rest.get(..end)?.find(token);
        work::count(found.unwrap_or(end));
        found.filter(|len| *len <= most)
    }

    /// The first byte at or behind `at` that is no white space, or where the text stops.
    pub(crate) fn behind_white(&self, at: usize) -> usize {
        let rest = self.rest(at);
        let white = rest.len() - rest.trim_start().len();
        work::count(white);
        at + white
    }
}
