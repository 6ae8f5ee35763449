//! What stands behind `Action:`, `Delegate:` and `Action Input:`.

use crate::{
    declared::CallKind,
    json::{json_text, scan::Ends},
    readers::{
        calls::{self, Calls},
        fence,
        json_arguments::JsonArguments,
        python_calls::PythonCalls,
        python_names,
        reader::{Progress, Reader},
        walk::{Mode, Pending, Walk},
    },
    reply::error::{ErrorKind, Expected},
    text::{
        labels::{self, Line},
        look::{Look, Until},
        marks::{self, Lookup},
        names,
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
        if self.what != Behind::Name(CallKind::Delegate) {
            if let Some((at, fenced)) = json_behind(look, self.ahead)? {
                if fenced {
                    walk.fence.open();
                }
                walk.at = at;
                return self.json(walk, look, at);
            }
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
        if let Some(Pending { kind, name, start, .. }) = walk.pending.take_if(|it| !it.is_none) {
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
        if kind == CallKind::Tool && self.whole_call(walk, look)? {
            return Ok(());
        }
        self.name = Some(self.ahead);
        self.line(walk, look, kind, self.ahead)
    }

    /// Whether the arguments stand on the line of the name: `find(q="x")` or `find {"q": "x"}`.
    fn whole_call(&self, walk: &mut Walk, look: Look<'_>) -> Result<bool, More> {
        const LINE: usize = 256;
        let declared = &look.setup.declared;
        let is_stop = |letter: char| matches!(letter, '\n' | '(' | '{' | '<');
        let len = match look.until(self.ahead, LINE, is_stop) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended | Until::Beyond => return Ok(false),
        };
        let at = self.ahead + len;
        if !look.rest(at).starts_with(['(', '{']) {
            return Ok(false);
        }
        let name = look.slice(self.ahead, at);
        let is_declared = names::resolve(declared, CallKind::Tool, name).is_ok();
        if look.rest(at).starts_with('{') && is_declared {
            walk.at = at;
            let object =
                JsonArguments::new(look, CallKind::Tool, name.into(), self.start, at, ENDS);
            walk.reading = Some(Box::new(object));
            return Ok(true);
        }
        let is_name = is_declared || python_names::is_name(name);
        if !is_name || !look.rest(at).starts_with('(') || !is_keyword(look, at + 1)? {
            return Ok(false);
        }
        walk.at = self.ahead;
        let calls = PythonCalls::marked(self.start, self.ahead, &[]).code();
        walk.reading = Some(Box::new(calls));
        Ok(true)
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
        let is_none = kind == CallKind::Tool && names::is_none(&look.setup.declared, &name);
        walk.pending = Some(Pending { kind, name, start: self.start, end: self.ahead, is_none });
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

/// Where a JSON value begins at `at`, and whether a fence opens before it. Emphasis may stand before it, or a name and a
/// bracket.
fn json_behind(look: Look<'_>, at: usize) -> Result<Option<(usize, bool)>, More> {
    if calls::begins(look, at)? {
        return Ok(Some((at, false)));
    }
    if let Some(inner) = wrapped(look, at)? {
        return Ok(Some((inner, false)));
    }
    let Some(len) = fence::opening(look, at)? else { return Ok(None) };
    let value = look.behind_white(at + len);
    if value - (at + len) > GAP {
        return Ok(None);
    }
    Ok(calls::begins(look, value)?.then_some((value, true)))
}

/// Whether `key=` stands at `at`, or an object.
fn is_keyword(look: Look<'_>, at: usize) -> Result<bool, More> {
    const KEY: usize = 128;
    let at = look.behind_white(at);
    match look.until(at, KEY, |letter| !(letter.is_alphanumeric() || matches!(letter, '_' | ' '))) {
        Until::At(len) => {
            let rest = look.rest(at + len);
            Ok(len == 0 && rest.starts_with('{') || len > 0 && rest.starts_with('='))
        }
        Until::More => Err(More),
        Until::Ended | Until::Beyond => Ok(false),
    }
}

/// Where an object begins behind `**` or `name(`.
fn wrapped(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    const NAME: usize = 128;
    let is_stop =
        |letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.' | '*' | '-'));
    let len = match look.until(at, NAME, is_stop) {
        Until::At(0) | Until::Ended | Until::Beyond => return Ok(None),
        Until::At(len) => len,
        Until::More => return Err(More),
    };
    let word = look.slice(at, at + len);
    let is_bold = word.bytes().all(|byte| byte == b'*');
    let bracket = look.rest(at + len).starts_with('(') && !word.contains('*');
    if !is_bold && !bracket {
        return Ok(None);
    }
    let inner = look.behind_white(at + len + usize::from(bracket));
    let rest = look.rest(inner);
    if rest.is_empty() && !look.ended && inner - at < 2 * NAME {
        return Err(More);
    }
    Ok(rest.starts_with('{').then_some(inner))
}
