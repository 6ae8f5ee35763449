//! Whether what stands at hand is only shown.

use crate::{
    policy::Mark,
    readers::{
        enclosure::{Enclosed, is_letter},
        shown::{QUOTES, Shown},
        walk::{Mode, Walk},
    },
    reply::note::NoteKind,
    text::{
        labels,
        look::{Look, Until},
        marks::{self, Lookup, Meaning},
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
        mark: Meaning,
        len: usize,
    ) -> Result<bool, More> {
        let is_of_call = mark.opens() || matches!(mark, Meaning::Close);
        if mark.opens() && (self.is_in_thought(look, len) || self.is_in_fence(look, self.at)?) {
            return Ok(true);
        }
        Ok(is_of_call && self.enclosure.holds(look, self.at, Enclosed::of(mark, len))?)
    }

    /// Whether words of a thought stand before this mark on its line: a thought talks about calls, but not in tokens of the vocabulary.
    fn is_in_thought(&self, look: Look<'_>, len: usize) -> bool {
        /// A thought that is longer than this has no other line.
        const LINE: usize = 512;
        let Mode::Thought(start) = self.mode else { return false };
        if marks::trust(look.slice(self.at, self.at + len)) == Mark::Special {
            return false;
        }
        let end = self.at.min(start + LINE);
        let line = look.text.as_bytes().get(start..end).unwrap_or_default();
        work::count(line.len());
        let is_line = !line.contains(&b'\n');
        let is_word = |byte: &u8| !byte.is_ascii_whitespace();
        // The label is a word, too.
        is_line
            && line.iter().rposition(|byte| *byte == b':').is_some_and(|colon| {
                line.get(colon + 1..).is_some_and(|words| words.iter().any(is_word))
            })
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
            // Behind a letter or a digit it ends a word, or says inches.
            "\"" => !head.ends_with(is_letter) && head.matches('"').count() % 2 == 0,
            "'" => head.is_empty() || head.ends_with(|last: char| !last.is_alphanumeric()),
            _ => true,
        };
        if opens {
            self.show(close, true);
        }
        opens
    }

    /// Notes that the mark here, which would open a call, is only shown.
    pub(crate) fn note_quoted(&mut self, lookup: Lookup) {
        /// Of more, nobody reads.
        const MOST: usize = 8;
        let Lookup::Mark(mark, len) = lookup else { return };
        if mark.opens() && self.is_prose() && self.quoted_marks < MOST {
            self.quoted_marks += 1;
            self.draft.note(NoteKind::Quoted, self.at..self.at + len);
        }
    }

    /// Whether nothing but white space stands between byte `at` and a mark that is quoted or shown: what that opens, it quotes.
    pub(crate) fn is_of_quoted(&mut self, look: Look<'_>, at: usize) -> bool {
        if self.quoted_to <= self.start {
            return false;
        }
        let between = look.slice(self.quoted_to, at);
        let words = between.trim_start();
        work::count(between.len() - words.len());
        if !words.is_empty() {
            self.quoted_to = self.start;
        }
        words.is_empty()
    }

    /// Whether a mark stands here that is shown, or that one opens which is shown.
    pub(crate) fn mark_is_shown(&mut self, look: Look<'_>, lookup: Lookup) -> bool {
        let opening = match lookup {
            Lookup::Mark(mark, len) if mark.opens() => Some(len),
            _ => None,
        };
        let at = self.at;
        let is_shown = self.is_shown(look) || opening.is_some() && self.is_of_quoted(look, at);
        if let Some(len) = opening.filter(|_| is_shown) {
            self.quoted_to = at + len;
        }
        is_shown
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
        let is_shown = self.is_shown(look);
        let may_be_list = matches!(self.shown, None | Some(Shown::Nested(_)));
        let behind = if may_be_list { behind_bullets(look, at)? } else { at };
        let rest = look.rest(behind);
        let sign = rest.bytes().next().unwrap_or_default();
        let is_in_list = behind > at;
        let len = rest.bytes().take(SIGNS).take_while(|byte| *byte == sign).count();
        work::count(len);
        let is_fence = matches!(sign, b'`' | b'~');
        if (is_fence || sign == b'>') && len == rest.len() && len < SIGNS && !look.ended {
            return Err(More);
        }
        if is_shown {
            self.read_fence(look, behind, sign, len, is_in_list)?;
            return Ok(true);
        }
        match sign {
            b'>' if len != 3 || is_quotation(rest) => self.show("\n", true),
            b'|' => self.show("\n", true),
            b'`' if len > 3 => self.shown = Some(Shown::Block { sign, len, depth: 1 }),
            b'~' if len >= 3 => self.shown = Some(Shown::Block { sign, len, depth: 1 }),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a run of `len` signs at byte `at`, with which a line begins that is shown: a fence that closes what is shown, or one
    /// in it. Behind the signs of a list no fence closes.
    fn read_fence(
        &mut self,
        look: Look<'_>,
        at: usize,
        sign: u8,
        len: usize,
        is_in_list: bool,
    ) -> Result<(), More> {
        let depth = match self.shown {
            Some(Shown::Block { sign: own, len: least, depth }) if own == sign && len >= least => {
                depth
            }
            Some(Shown::Nested(depth)) if sign == b'`' && len >= 3 => depth,
            _ => return Ok(()),
        };
        let tail = look.behind_blanks(at + len)?.map(|tail| look.rest(tail));
        let ends_line = tail.is_some_and(|tail| tail.is_empty() || tail.starts_with(['\n', '\r']));
        let depth = if ends_line && !is_in_list { depth - 1 } else { depth + 1 };
        self.shown = match self.shown {
            Some(Shown::Block { sign, len, .. }) if depth > 0 => {
                Some(Shown::Block { sign, len, depth })
            }
            Some(Shown::Nested(_)) if depth > 1 => Some(Shown::Nested(depth)),
            _ => None,
        };
        Ok(())
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

/// Whether the three signs with which `rest` begins are those of a quotation in quotations. Functionary writes a name behind them.
fn is_quotation(rest: &str) -> bool {
    let behind = rest.trim_start_matches('>').chars().next();
    behind.is_some_and(|letter| labels::is_blank(letter) || matches!(letter, '<' | '{' | '['))
}

/// Behind the signs of a list at `at`, each with the blanks behind it: `- `, `1. `.
pub(crate) fn behind_bullets(look: Look<'_>, mut at: usize) -> Result<usize, More> {
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
