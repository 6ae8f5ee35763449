//! Whether what stands at hand is only shown.

use crate::{
    readers::{
        enclosure::Enclosed,
        shown::{QUOTES, Shown},
        walk::Walk,
    },
    text::{
        labels,
        look::{Look, Until},
        marks::Mark,
        presence::More,
    },
    work,
};

/// So far back in its line a quotation mark is looked for that a mark may stand between.
const BACK: usize = 512;
/// So many signs of a fence are counted; one of more is taken for one of so many.
const SIGNS: usize = 64;

impl Walk {
    /// Whether what stands here is shown. A quotation or a comment that ended before is forgotten.
    pub(crate) fn is_shown(&mut self, look: Look<'_>) -> bool {
        let Some(Shown::Span { close, from, in_line }) = self.shown else {
            return self.shown.is_some();
        };
        let text = look.slice(from.min(self.at), self.at);
        let ends = close.len() > 1 && look.rest(self.at).starts_with(close);
        if ends || text.contains(close) || in_line && text.contains('\n') {
            self.shown = None;
            return false;
        }
        let mut from = self.at.saturating_sub(close.len() - 1).max(from);
        while !look.text.is_char_boundary(from) {
            from += 1;
        }
        self.shown = Some(Shown::Span { close, from, in_line });
        true
    }

    /// Shows what follows up to `close`.
    pub(crate) fn show(&mut self, close: &'static str, in_line: bool) {
        self.show_from(self.at, close, in_line);
    }

    /// Shows what stands from byte `from` up to `close`.
    pub(crate) fn show_from(&mut self, from: usize, close: &'static str, in_line: bool) {
        self.shown = Some(Shown::Span { close, from, in_line });
    }

    /// Whether this is a call's mark of `len` bytes in quotation marks or inline code that end behind it.
    pub(crate) fn is_enclosed(
        &mut self,
        look: Look<'_>,
        mark: Mark,
        len: usize,
    ) -> Result<bool, More> {
        let is_of_call = mark.opens() || matches!(mark, Mark::Close);
        Ok(is_of_call && self.enclosure.holds(look, self.at, Enclosed::of(mark, len))?)
    }

    /// Whether the mark here stands directly behind a quotation mark that opens.
    pub(crate) fn is_quoted(&mut self, look: Look<'_>) -> bool {
        let before = look.slice(self.start, self.at);
        // The last bytes of the quotation marks.
        let last = before.as_bytes().last().copied().unwrap_or_default();
        if !matches!(last, b'`' | b'"' | b'\'' | 0x88 | 0x8a | 0x8c | 0x8e | 0x98 | 0x9c | 0xab) {
            return false;
        }
        let quote = QUOTES.iter().find(|(open, _)| before.ends_with(open));
        let Some((open, close)) = quote else { return false };
        let mut from = before.len().saturating_sub(BACK);
        while !before.is_char_boundary(from) {
            from += 1;
        }
        let near = before.get(from..).unwrap_or_default();
        let line = near.rfind('\n').and_then(|end| near.get(end + 1..)).unwrap_or(near);
        let head = line.strip_suffix(open).unwrap_or(line);
        let opens = match *open {
            "`" => !line.ends_with("```") && head.matches('`').count() % 2 == 0,
            "\"" => head.matches('"').count() % 2 == 0,
            "'" => head.is_empty() || head.ends_with(|last: char| !last.is_alphanumeric()),
            _ => true,
        };
        if opens {
            self.show(close, true);
        }
        opens
    }

    /// Reads the start of a line: whether all of it is shown.
    pub(crate) fn line_is_shown(&mut self, look: Look<'_>) -> Result<bool, More> {
        let first = look.rest(self.at).bytes().next().unwrap_or_default();
        if self.shown.is_none() && !may_begin_shown(first) {
            return Ok(false);
        }
        if !self.is_line(look) {
            return Ok(self.is_shown(look));
        }
        let Some(at) = look.behind_blanks(self.at)? else { return Ok(self.is_shown(look)) };
        let behind = if self.shown.is_none() { behind_bullets(look, at)? } else { at };
        let rest = look.rest(behind);
        let sign = rest.bytes().next().unwrap_or_default();
        if behind > at && !matches!(sign, b'>' | b'|') {
            return Ok(false);
        }
        let len = rest.bytes().take(SIGNS).take_while(|byte| *byte == sign).count();
        work::count(len);
        let is_fence = matches!(sign, b'`' | b'~');
        if (is_fence || sign == b'>') && len == rest.len() && len < SIGNS && !look.ended {
            return Err(More);
        }
        if self.is_shown(look) {
            match self.shown {
                Some(Shown::Block { sign: own, len: least }) if own == sign && len >= least => {
                    self.shown = None;
                }
                Some(Shown::Nested(depth)) if sign == b'`' && len >= 3 => {
                    let tail = look.behind_blanks(behind + len)?.map(|tail| look.rest(tail));
                    let is_close =
                        tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(['\n', '\r']));
                    let depth = if is_close { depth - 1 } else { depth + 1 };
                    self.shown = (depth > 1).then_some(Shown::Nested(depth));
                }
                _ => {}
            }
            return Ok(true);
        }
        match sign {
            b'>' if len < 3 => self.show("\n", true),
            b'|' => self.show("\n", true),
            b'`' if len > 3 => self.shown = Some(Shown::Block { sign, len }),
            b'~' if len >= 3 => self.shown = Some(Shown::Block { sign, len }),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether nothing but blanks and other marks stands before this on its line.
    pub(crate) fn begins_line(&self, look: Look<'_>) -> bool {
        let before = look.slice(self.start, self.at).trim_end_matches(labels::is_blank);
        before.is_empty() || before.ends_with(['\n', '\r', '>', ']', '｜'])
    }

    /// Whether a line begins here, and not only what stands behind a mark.
    fn is_line(&self, look: Look<'_>) -> bool {
        self.at == self.start || look.slice(self.start, self.at).ends_with('\n')
    }
}

/// Whether a line that is shown may begin with `byte`: its sign, or the first byte of a blank before it.
fn may_begin_shown(byte: u8) -> bool {
    let is_sign = matches!(byte, b'>' | b'|' | b'`' | b'~');
    let is_bullet = matches!(byte, b'-' | b'*' | b'+' | b'0'..=b'9');
    is_sign || is_bullet || matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | 0xc2 | 0xe1..=0xe3 | 0xef)
}

/// Behind the signs of a list at `at`, each with the blanks behind it: `- `, `1. `.
fn behind_bullets(look: Look<'_>, mut at: usize) -> Result<usize, More> {
    /// The signs of lists in lists.
    const MOST: usize = 8;
    for _ in 0..MOST {
        let Some(len) = bullet(look, at)? else { break };
        let Some(behind) = look.behind_blanks(at + len)? else { break };
        if behind == at + len {
            break;
        }
        at = behind;
    }
    Ok(at)
}

/// The length of a list's sign at `at`.
fn bullet(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    /// A number of more digits begins no list.
    const DIGITS: usize = 9;
    if look.rest(at).starts_with(['-', '*', '+']) {
        return Ok(Some(1));
    }
    match look.until(at, DIGITS + 1, |letter| !letter.is_ascii_digit()) {
        Until::At(len) if len > 0 => {
            Ok(look.rest(at + len).starts_with(['.', ')']).then_some(len + 1))
        }
        Until::More if !look.rest(at).is_empty() => Err(More),
        _ => Ok(None),
    }
}
