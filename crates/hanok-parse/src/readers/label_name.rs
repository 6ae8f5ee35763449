//! What stands behind `Action:`, `Delegate:` and `Action Input:`.

use std::ops::Range;

use crate::{
    declared::CallKind,
    json::{json_text, scan::Ends},
    readers::{
        calls::{self, Calls},
        fence,
        json_arguments::JsonArguments,
        python_calls::PythonCalls,
        python_names,
        reader::{Next, Reader},
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

    fn begin(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Next, More> {
        self.ahead = look.behind_white(self.ahead);
        if look.rest(self.ahead).is_empty() && !look.ended {
            return Err(More);
        }
        if let Behind::Name(kind) = self.what {
            if let Some(len) = self.plain_line(look) {
                let from = self.ahead;
                self.ahead += len;
                return Ok(self.named(walk, look, kind, from));
            }
        }
        if self.what != Behind::Name(CallKind::Delegate) {
            let is_input = self.what == Behind::Input;
            if let Some(value) = json_behind(look, self.ahead, is_input)? {
                if value.fenced {
                    walk.fence.open();
                }
                return self.json(walk, look, value);
            }
        }
        match self.what {
            Behind::Name(kind) => self.name(walk, look, kind),
            Behind::Input => self.words(walk, look),
        }
    }

    /// The length of a line that is nothing but a name, and stands behind the label: what nearly all of them are.
    fn plain_line(&self, look: Look<'_>) -> Option<usize> {
        let ends =
            |byte: u8| matches!(byte, b'\n' | b'(' | b'{' | b'*' | b'`') || marks::may_begin(byte);
        let line = look.rest(self.ahead);
        let len = line.bytes().position(ends).filter(|len| *len > 0)?;
        let is_line = line.as_bytes().get(len) == Some(&b'\n');
        (is_line && !look.slice(self.behind, self.ahead).contains('\n')).then_some(len)
    }

    fn json(&mut self, walk: &mut Walk, look: Look<'_>, value: Value) -> Result<Next, More> {
        let Value { at, word, .. } = value;
        if self.what != Behind::Input {
            let calls = Calls::marked(self.start, at, ENDS, Shape::Members);
            return Ok(calls.in_brackets_of(word).begin(walk, look));
        }
        if !look.rest(at).starts_with('{') {
            self.ahead = at;
            return self.words(walk, look);
        }
        Ok(match walk.pending.take_if(|it| !it.is_none) {
            Some(Pending { kind, name, start, .. }) => {
                JsonArguments::new(walk, look, kind, name, start, at, ENDS).begin(walk, look)
            }
            None => Next::Inline(at),
        })
    }

    /// Plain text may stand in a fence, too.
    fn words(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Next, More> {
        let fence = fence::opening(look, self.ahead)?;
        let fresh = look.slice(self.behind, self.ahead).contains('\n');
        if fence.is_some() {
            walk.fence.open();
            walk.fenced_input = true;
        }
        walk.mode = Mode::Input;
        Ok(Next::text(self.ahead + fence.unwrap_or_default(), fresh))
    }

    /// Finds where the name begins: on the label's line or the next one that is not blank.
    fn name(&mut self, walk: &mut Walk, look: Look<'_>, kind: CallKind) -> Result<Next, More> {
        if look.rest(self.ahead).is_empty() {
            return Ok(Next::truncated(walk, look, self.start, None));
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
                    return Ok(Next::Done(self.ahead));
                }
            }
        }
        if kind == CallKind::Tool {
            if let Some(next) = self.whole_call(walk, look)? {
                return Ok(next);
            }
        }
        self.name = Some(self.ahead);
        self.line(walk, look, kind, self.ahead)
    }

    /// What reads arguments that stand on the line of the name: `find(q="x")` or `find {"q": "x"}`.
    fn whole_call(&self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        const LINE: usize = 256;
        let declared = &look.setup.declared;
        let is_stop = |letter: char| matches!(letter, '\n' | '(' | '{' | '<');
        let len = match look.until(self.ahead, LINE, is_stop) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended | Until::Beyond => return Ok(None),
        };
        let at = self.ahead + len;
        if !look.rest(at).starts_with(['(', '{']) {
            return Ok(None);
        }
        let name = look.slice(self.ahead, at);
        let is_declared = names::resolve(declared, CallKind::Tool, name).is_ok();
        if look.rest(at).starts_with('{') && is_declared {
            let name = name.to_owned();
            let object = JsonArguments::new(walk, look, CallKind::Tool, name, self.start, at, ENDS);
            return Ok(Some(object.begin(walk, look)));
        }
        let is_name = is_declared || python_names::is_name(name);
        if !is_name || !look.rest(at).starts_with('(') || !is_keyword(look, at + 1)? {
            return Ok(None);
        }
        Ok(Some(PythonCalls::marked(self.start, self.ahead, &[]).code().begin(walk, look)))
    }

    /// Reads the name: its line, up to a mark. It waits for its input.
    fn line(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        kind: CallKind,
        from: usize,
    ) -> Result<Next, More> {
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
        Ok(self.named(walk, look, kind, from))
    }

    /// The name from byte `from` to here waits for its input.
    fn named(&self, walk: &mut Walk, look: Look<'_>, kind: CallKind, from: usize) -> Next {
        let name = look.slice(from, self.ahead).to_owned();
        let is_none = kind == CallKind::Tool && names::is_none(&look.setup.declared, &name);
        let (start, end, goes_on) = (self.start, self.ahead, false);
        walk.pending = Some(Pending { kind, name, start, end, is_none, goes_on });
        Next::Inline(self.ahead)
    }
}

impl Reader for LabelName {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let read = match (self.name, self.what) {
            (Some(from), Behind::Name(kind)) => self.line(walk, look, kind, from),
            _ => self.begin(walk, look),
        };
        match read {
            Ok(next) => next,
            Err(More) => Next::More,
        }
    }
}

/// A JSON value behind a label.
#[derive(Debug, Clone)]
struct Value {
    /// Where it begins.
    at: usize,
    /// A fence opens before it.
    fenced: bool,
    /// The word in whose brackets it stands.
    word: Option<Range<usize>>,
}

/// The JSON value at `at`. Emphasis may stand before it, or a word and a bracket, which is no declared name unless it
/// `is_input`.
fn json_behind(look: Look<'_>, at: usize, is_input: bool) -> Result<Option<Value>, More> {
    if calls::begins(look, at)? {
        return Ok(Some(Value { at, fenced: false, word: None }));
    }
    if let Some(value) = wrapped(look, at)? {
        let name = value.word.clone().map(|word| look.slice(word.start, word.end));
        let is_called = name
            .filter(|_| !is_input)
            .is_some_and(|name| names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok());
        return Ok((!is_called).then_some(value));
    }
    let Some(len) = fence::opening(look, at)? else { return Ok(None) };
    let value = look.behind_white(at + len);
    if value - (at + len) > GAP {
        return Ok(None);
    }
    Ok(calls::begins(look, value)?.then_some(Value { at: value, fenced: true, word: None }))
}

/// Whether `key=` stands at `at`, or an object.
fn is_keyword(look: Look<'_>, at: usize) -> Result<bool, More> {
    const KEY: usize = 128;
    let Some(at) = look.behind_some_white(at)? else { return Ok(false) };
    match look.until(at, KEY, |letter| !(letter.is_alphanumeric() || matches!(letter, '_' | ' '))) {
        Until::At(len) => {
            let rest = look.rest(at + len);
            Ok(len == 0 && rest.starts_with('{') || len > 0 && rest.starts_with('='))
        }
        Until::More => Err(More),
        Until::Ended | Until::Beyond => Ok(false),
    }
}

/// The object behind `**` or `name(`.
fn wrapped(look: Look<'_>, at: usize) -> Result<Option<Value>, More> {
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
    let word = bracket.then_some(at..at + len);
    Ok(rest.starts_with('{').then_some(Value { at: inner, fenced: false, word }))
}
