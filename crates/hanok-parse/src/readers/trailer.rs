//! What belongs to a call that was read: closers too many, the fence around it, its close mark.

use crate::{
    json::fault::{Repair, RepairKind},
    readers::{
        fence::FENCE,
        reader::{Next, Reader},
        walk::Walk,
    },
    text::{
        look::Look,
        marks,
        presence::{More, Presence},
    },
};

/// So much may stand between a call and its close mark.
const JUNK: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Closers,
    Fence,
    Close,
    Junk,
    Tail,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Trailer {
    /// What was read for certain.
    at: usize,
    /// How far was looked.
    ahead: usize,
    stage: Stage,
    /// A line begins where it was read to.
    fresh: bool,
    /// Where the arguments began.
    written: usize,
    closes: &'static [&'static str],
}

impl Trailer {
    /// Behind a call, or behind what was meant as one.
    pub(crate) fn new(at: usize, closes: &'static [&'static str]) -> Self {
        Self { at, ahead: at, stage: Stage::Fence, fresh: false, written: 0, closes }
    }

    /// Behind a JSON object that begins at `written`: closers may follow that close nothing.
    pub(crate) fn object(written: usize, at: usize, closes: &'static [&'static str]) -> Self {
        Self { written, stage: Stage::Closers, ..Self::new(at, closes) }
    }

    /// The same, where a line begins if it is `fresh`.
    pub(crate) fn fresh(self, fresh: bool) -> Self {
        Self { fresh, ..self }
    }

    fn next(&mut self, stage: Stage) -> Result<Option<bool>, More> {
        self.stage = stage;
        self.ahead = self.at;
        Ok(None)
    }

    fn closers(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<bool>, More> {
        loop {
            self.ahead = look.behind_white(self.ahead);
            match look.rest(self.ahead).bytes().next() {
                Some(b'}' | b']' | b')') => {
                    let repair = Repair { kind: RepairKind::Brace, at: self.ahead };
                    self.ahead += 1;
                    self.at = self.ahead;
                    walk.draft.extend(self.written, self.at, repair);
                }
                None if !look.ended => return Err(More),
                _ => return self.next(Stage::Fence),
            }
        }
    }

    fn fence(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<bool>, More> {
        if walk.fence.is_wrapping() {
            self.ahead = look.behind_white(self.ahead);
            match look.presence(self.ahead, FENCE) {
                Presence::Yes => {
                    walk.fence.close();
                    self.at = self.ahead + FENCE.len();
                }
                Presence::No => {}
                Presence::More => return Err(More),
            }
        }
        if self.closes.is_empty() {
            return Ok(Some(false));
        }
        self.next(Stage::Close)
    }

    /// Whether the text broke off inside the close mark, which is never shown.
    fn breaks_off(&self, look: Look<'_>) -> bool {
        let rest = look.rest(self.ahead);
        rest.len() >= marks::SHORTEST && self.closes.iter().any(|close| close.starts_with(rest))
    }

    /// Skips to behind the close mark, and what stands before it, if no other mark and no line comes first.
    fn close(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<bool>, More> {
        if self.stage != Stage::Junk {
            self.ahead = look.behind_white(self.ahead);
            if let Some((rule, another)) = look.setup.marks.block(self.closes) {
                let separator = look.rest(self.ahead).starts_with([',', ';']);
                let call = look.behind_some_white(self.ahead + usize::from(separator))?;
                if let Some(call) = call {
                    if look.any(call, &[another])?.is_some() {
                        self.at = call;
                        walk.next_rule = Some(rule);
                        return Ok(Some(false));
                    }
                }
            }
            match look.any(self.ahead, self.closes)? {
                Some(len) => {
                    self.at = self.ahead + len;
                    return Ok(Some(true));
                }
                None if look.rest(self.ahead).is_empty() && !look.ended => return Err(More),
                None if look.ended && self.breaks_off(look) => {
                    self.at = look.text.len();
                    return Ok(Some(true));
                }
                None if self.stage == Stage::Tail => return Ok(Some(false)),
                None => self.stage = Stage::Junk,
            }
        }
        let rest = look.rest(self.ahead);
        // What is further away is not looked for, or many calls would look at the whole text.
        let most = (self.at + JUNK + 1).saturating_sub(self.ahead).min(rest.len());
        let near = rest.as_bytes().get(..most).unwrap_or_default();
        let len = near.iter().position(|byte| matches!(byte, b'<' | b'\n')).unwrap_or(most);
        self.ahead += len;
        if self.ahead > self.at + JUNK {
            return Ok(Some(false));
        }
        if len == rest.len() {
            return if look.ended { Ok(Some(false)) } else { Err(More) };
        }
        self.stage = Stage::Tail;
        Ok(None)
    }
}

impl Trailer {
    /// What is read behind it, once it is clear.
    fn step(&mut self, walk: &mut Walk, look: Look<'_>) -> Option<Next> {
        loop {
            let done = match self.stage {
                Stage::Closers => self.closers(walk, look),
                Stage::Fence => self.fence(walk, look),
                Stage::Close | Stage::Junk | Stage::Tail => self.close(walk, look),
            };
            match done {
                Ok(None) => {}
                Ok(Some(fresh)) => return Some(Next::text(self.at, fresh || self.fresh)),
                Err(More) => return None,
            }
        }
    }
}

impl Reader for Trailer {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let next = self.step(walk, look).unwrap_or(Next::More);
        if let Next::Done(at) | Next::Inline(at) = next {
            walk.enclosure.pass_closes(at);
        }
        next
    }

    fn may_extend(&self) -> bool {
        true
    }
}
