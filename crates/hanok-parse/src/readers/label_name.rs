//! What stands behind `Action:`, `Delegate:` and `Action Input:`.

use crate::{
    declared::CallKind,
    json::{json_text, scan::Ends},
    readers::{
        calls::{self, Calls},
        fence,
        json_arguments::JsonArguments,
        reader::{Progress, Reader},
        walk::{Mode, Pending, Walk},
    },
    reply::error::{ErrorKind, Expected},
    text::{
        labels::{self, Line},
        look::Look,
        marks::{self, Lookup},
        presence::More,
        rule::Shape,
    },
};

/// What a JSON object behind a label may end with.
pub(crate) const ENDS: Ends = Ends { tags: &[], labels: true, fence: true };

/// How much white space may stand between a fence and the JSON in it.
const GAP: usize = 64;

/// What the label was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    Name(CallKind),
    Input,
}

/// Behind a label.
#[derive(Debug, Clone)]
pub(crate) struct LabelName {
    what: Behind,
    /// Where the label stands.
    start: usize,
    behind: usize,
    ahead: usize,
    /// Where the name begins.
    name: Option<usize>,
}

impl LabelName {
    /// Behind a label that stands at `start` and ends at `behind`.
    pub(crate) fn new(what: Behind, start: usize, behind: usize) -> Self {
        Self { what, start, behind, ahead: behind, name: None }
    }

    fn begin(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<(), More> {
        self.ahead = look.behind_white(self.ahead);
        if look.rest(self.ahead).is_empty() && !look.ended {
            return Err(More);
        }
        if self.what != Behind::Name(CallKind::Delegate)
            && let Some((at, fenced)) = json_behind(look, self.ahead)?
        {
            if fenced {
                walk.fence.open();
            }
            walk.at = at;
            return self.json(walk, look, at);
        }
        match self.what {
            Behind::Name(kind) => self.name(walk, look, kind),
            Behind::Input => self.words(walk, look),
        }
    }

    fn json(&mut self, walk: &mut Walk, look: Look<'_>, at: usize) -> Result<(), More> {
        if self.what != Behind::Input {
            let calls = Calls::marked(self.start, at, ENDS, Shape::Members);
            walk.reading = Some(Box::new(calls));
            return Ok(());
        }
        if !look.rest(at).starts_with('{') {
            self.ahead = at;
            return self.words(walk, look);
        }
        if let Some(Pending { kind, name, start, .. }) = walk.pending.take() {
            let written = JsonArguments::new(look, kind, name, start, at, ENDS);
            walk.reading = Some(Box::new(written));
        }
        Ok(())
    }

    /// Plain text may stand in a fence, too.
    fn words(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<(), More> {
        let fence = fence::opening(look, self.ahead)?;
        walk.fresh = look.slice(self.behind, self.ahead).contains('\n');
        walk.at = self.ahead;
        if let Some(len) = fence {
            walk.fence.open();
            walk.at += len;
            walk.fenced_input = true;
        }
        walk.mode = Mode::Input;
        Ok(())
    }

    /// Finds where the name begins: on the label's line or the next one that is not blank.
    fn name(&mut self, walk: &mut Walk, look: Look<'_>, kind: CallKind) -> Result<(), More> {
        walk.at = self.ahead;
        if look.rest(self.ahead).is_empty() {
            walk.truncated(look, self.start, None, Expected::Rest);
            return Ok(());
        }
        if look.slice(self.behind, self.ahead).contains('\n') {
            match labels::at(look.rest(self.ahead), look.ended) {
                Line::More => return Err(More),
                Line::Other => {}
                Line::Label(_) => {
                    let expected =
                        if kind == CallKind::Tool { Expected::Tool } else { Expected::Agent };
                    let span = self.start..self.ahead;
                    walk.draft.fail(ErrorKind::Malformed, expected, None, span);
                    walk.fresh = true;
                    return Ok(());
                }
            }
        }
        self.name = Some(self.ahead);
        self.line(walk, look, kind, self.ahead)
    }

    /// Reads the name: its line, up to a mark. It waits for its input.
    fn line(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        kind: CallKind,
        from: usize,
    ) -> Result<(), More> {
        loop {
            let rest = look.rest(self.ahead);
            let stop = rest.bytes().position(|byte| byte == b'\n' || marks::may_begin(byte));
            let Some(stop) = stop else {
                self.ahead += rest.len();
                if look.ended {
                    break;
                }
                return Err(More);
            };
            self.ahead += stop;
            let tail = look.rest(self.ahead);
            match look.setup.marks.at(tail) {
                _ if tail.starts_with('\n') => break,
                Lookup::Mark(..) => break,
                Lookup::Prefix if !look.ended => return Err(More),
                _ => self.ahead += json_text::letter(tail),
            }
        }
        let name = look.slice(from, self.ahead).to_owned();
        walk.at = self.ahead;
        walk.pending = Some(Pending { kind, name, start: self.start, end: self.ahead });
        Ok(())
    }
}

impl Reader for LabelName {
    fn read(mut self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Progress {
        let read = match (self.name, self.what) {
            (Some(from), Behind::Name(kind)) => self.line(walk, look, kind, from),
            _ => self.begin(walk, look),
        };
        match read {
            Ok(()) => Progress::Moved,
            Err(More) => {
                walk.reading = Some(self);
                Progress::More
            }
        }
    }
}

/// Where a JSON value begins at `at`, and whether a fence opens before it.
fn json_behind(look: Look<'_>, at: usize) -> Result<Option<(usize, bool)>, More> {
    if calls::begins(look, at)? {
        return Ok(Some((at, false)));
    }
    let Some(len) = fence::opening(look, at)? else { return Ok(None) };
    let value = look.behind_white(at + len);
    if value - (at + len) > GAP {
        return Ok(None);
    }
    Ok(calls::begins(look, value)?.then_some((value, true)))
}
