//! Where a value between tags ends.

use crate::{
    declared::ParamType,
    json::fault::{Repair, RepairKind},
    readers::params::Params,
    text::{
        look::{Look, Until},
        presence::{More, Presence},
    },
};

/// The longest key, with its tag.
const HEAD: usize = 1024;
/// How much white space may stand between two tags.
const GAP: usize = 256;

impl Params {
    /// Where the value ends, and behind its close tag. `None` when the text ends first.
    pub(crate) fn find_end(
        &mut self,
        look: Look<'_>,
        kind: ParamType,
    ) -> Result<Option<(usize, usize)>, More> {
        let first = if self.close.starts_with(']') { b']' } else { b'<' };
        loop {
            let rest = look.rest(self.ahead);
            let Some(len) = rest.bytes().position(|byte| byte == first) else {
                self.ahead += rest.len();
                return if look.ended { Ok(None) } else { Err(More) };
            };
            self.ahead += len;
            match look.presence(self.ahead, &self.close) {
                Presence::Yes => {
                    let behind = self.ahead + self.close.len();
                    if self.goes_on(look, behind)? {
                        return Ok(Some((self.ahead, behind)));
                    }
                }
                Presence::More => return Err(More),
                Presence::No if self.ends_without_close(look)? || self.next_param(look)? => {
                    self.repairs.push(Repair { kind: RepairKind::Closer, at: self.ahead });
                    return Ok(Some((self.ahead, self.ahead)));
                }
                // No number holds the end of its call and the next one.
                Presence::No if is_word(kind) && self.next_call(look)? => return Ok(None),
                Presence::No => {}
            }
            self.ahead += 1;
        }
    }

    /// Whether another parameter or the end of the call stands at `at`.
    pub(crate) fn goes_on(&self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let mut next = self.behind_gap(look, at);
        while let Some(len) = look.any(next, self.tags.skips)?.filter(|_| next <= at + GAP) {
            next = self.behind_gap(look, next + len);
        }
        if next > at + GAP {
            return Ok(true);
        }
        if look.rest(next).is_empty() || look.rest(next) == "\\" && !look.ended {
            return if look.ended { Ok(true) } else { Err(More) };
        }
        let other = self.tags.other_end.as_deref().unwrap_or(&self.tags.end);
        let tags = [&*self.tags.open, &*self.tags.end, other];
        let rest = look.rest(next);
        if look.ended && tags.iter().chain(self.tags.skips).any(|tag| tag.starts_with(rest)) {
            return Ok(true);
        }
        Ok(look.any(next, &tags)?.is_some() || look.any(next, self.tags.behind)?.is_some())
    }

    /// Behind white space, and line breaks that were written as `\n` where a value has a tag of its own.
    pub(crate) fn behind_gap(&self, look: Look<'_>, at: usize) -> usize {
        let mut at = look.behind_white(at);
        while self.tags.value.is_some() && look.rest(at).starts_with("\\n") {
            at = look.behind_white(at + 2);
        }
        at
    }

    /// Whether the call ends here and its wrapper behind it: the close tag of the value is missing.
    pub(crate) fn ends_without_close(&self, look: Look<'_>) -> Result<bool, More> {
        match look.presence(self.ahead, &self.tags.end) {
            Presence::No => return Ok(false),
            Presence::More => return Err(More),
            Presence::Yes => {}
        }
        let behind = look.behind_white(self.ahead + self.tags.end.len());
        if behind > self.ahead + GAP {
            return Ok(false);
        }
        let Some(len) = look.any(behind, self.tags.behind)? else {
            return if look.rest(behind).is_empty() && !look.ended { Err(More) } else { Ok(false) };
        };
        let behind = look.behind_white(behind + len);
        if behind > self.ahead + 2 * GAP {
            return Ok(false);
        }
        let rest = look.rest(behind);
        if rest.is_empty() {
            return if look.ended { Ok(true) } else { Err(More) };
        }
        // What follows is no text of a string, but another call.
        match look.setup.marks.opens(rest) {
            Presence::More if !look.ended => Err(More),
            opens => Ok(opens == Presence::Yes),
        }
    }

    /// Whether the call ends here, and another one begins behind it.
    pub(crate) fn next_call(&self, look: Look<'_>) -> Result<bool, More> {
        match look.presence(self.ahead, &self.tags.end) {
            Presence::Yes => {}
            Presence::No => return Ok(false),
            Presence::More => return Err(More),
        }
        let behind = look.behind_white(self.ahead + self.tags.end.len());
        let rest = look.rest(behind);
        match look.setup.marks.opens(rest) {
            _ if rest.is_empty() => {
                if look.ended {
                    Ok(false)
                } else {
                    Err(More)
                }
            }
            Presence::More if !look.ended => Err(More),
            opens => Ok(opens == Presence::Yes),
        }
    }

    /// Whether the next line opens another parameter of the tool, which was not given yet: the close tag is missing.
    pub(crate) fn next_param(&self, look: Look<'_>) -> Result<bool, More> {
        if !self.tags.lines || !look.slice(self.at, self.ahead).ends_with('\n') {
            return Ok(false);
        }
        match look.presence(self.ahead, &self.tags.open) {
            Presence::Yes => {}
            Presence::No => return Ok(false),
            Presence::More => return Err(More),
        }
        let head = self.ahead + self.tags.open.len();
        let end = match look.until(head, HEAD, |letter| matches!(letter, '>' | '\n')) {
            Until::At(end) => end,
            Until::More => return Err(More),
            Until::Ended | Until::Beyond => return Ok(false),
        };
        let rest = look.rest(head);
        let key = rest.get(..end).unwrap_or_default().trim();
        let tail = rest.get(end + 1..).unwrap_or_default();
        if tail.is_empty() && !look.ended {
            return Err(More);
        }
        let declared_name = self.declared_name.as_ref();
        let declared =
            declared_name.and_then(|tool| look.setup.declared.param(tool, key)).is_some();
        let written = self.members.iter().any(|member| member.has(key, &self.out));
        Ok(declared && !written && tail.starts_with(['\n', '\r']))
    }
}

/// Whether a value of this type is one word.
pub(crate) fn is_word(kind: ParamType) -> bool {
    matches!(kind, ParamType::Integer | ParamType::Number | ParamType::Boolean | ParamType::Null)
}
