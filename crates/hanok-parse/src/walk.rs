//! The one pass over a text.
//!
//! The walk goes from mark to mark and never back: a format that begins at a mark reads on from there, and leaves the
//! walk behind what it read. What is not a mark is text, and goes where the mode says. A mark may only be looked at
//! where it can begin, so the work is linear in the text. Wherever the text stops, the walk stops with a state, and
//! goes on from there: nothing is decided before the text says it, so it does not matter how the text is cut.

use std::ops::Range;

use crate::{
    CallKind, Declared, ErrorKind, Event, Expected, Reply,
    calls::{self, Calls},
    draft::{Attempt, Draft},
    echo::{self, Echo},
    elements::Elements,
    fence::Fence,
    flow::Run,
    header::{self, Header},
    input::Input,
    labels::{self, Label, LabelKind, Line},
    look::{self, Look, More, View},
    lost::Lost,
    marks::{self, Found, Mark},
    name::{Behind, Named},
    names,
    opening::Opening,
    python::Python,
    reading::{Progress, Reading},
    suffixed::{Suffixed, Tag},
    think::{self, Think},
};

/// Where text goes that is no mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Content,
    /// A thought, from this byte on.
    Thought(usize),
    /// The input of the pending call, in words.
    Input,
    /// The task of the pending delegation.
    Task,
    /// The answer, from this byte on.
    Answer(usize),
    /// Behind the end of the reply. Only a close tag that makes it all reasoning still counts.
    Dead,
}

/// A name that waits for its input.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) start: usize,
    /// Where the name ends.
    pub(crate) end: usize,
}

/// What is called, and where it stands.
#[derive(Debug)]
pub(crate) struct Called<'a> {
    pub(crate) kind: CallKind,
    pub(crate) name: &'a str,
    pub(crate) span: Range<usize>,
    pub(crate) given: Range<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Walk {
    pub(crate) start: usize,
    pub(crate) at: usize,
    /// Behind the last reasoning.
    pub(crate) reasoned_to: usize,
    /// Labels, fences and bare JSON may begin here.
    pub(crate) fresh: bool,
    pub(crate) mode: Mode,
    pub(crate) reading: Reading,
    /// The text of a mode other than content and thought.
    run: Run,
    /// The bold marks that a label left open.
    open: String,
    pub(crate) pending: Option<Pending>,
    pub(crate) fence: Fence,
    /// A result is being repeated: nothing in it is a call.
    pub(crate) echo: Option<Echo>,
    pub(crate) draft: Draft,
    /// Objects whose end was not found. Each may have cost a look at the whole text, so there is a limit.
    pub(crate) unclosed: usize,
}

impl Walk {
    /// A walk from byte `start`.
    pub(crate) fn new(start: usize) -> Self {
        Self { start, at: start, reasoned_to: start, fresh: true, ..Self::default() }
    }

    /// Reads on as far as the text goes.
    pub(crate) fn run(&mut self, view: &View<'_>) {
        let look = Look(view);
        while self.step(look) == Progress::Moved {}
        if look.ended {
            self.settle(look);
            self.resolve_pending(look);
            self.release_fence(look);
            self.draft.content.cut();
            self.draft.thought.cut();
        } else if let Mode::Answer(_) = self.mode {
            let told = self.run.text.get(..self.run.solid).unwrap_or_default();
            self.draft.tell_answer(told);
        }
        self.draft.flush();
        if !matches!(self.reading, Reading::After(_)) {
            self.draft.tell_notes();
        }
    }

    /// Takes a piece that is all of it more of a call: what most pieces of one are. Nothing else is told then.
    #[inline]
    pub(crate) fn takes(&mut self, text: &str, declared: &Declared) -> bool {
        match &mut self.reading {
            Reading::Calls(calls) => calls.takes(&mut self.draft, text, declared),
            Reading::Given(given) => given.takes(&mut self.draft, text),
            Reading::Params(params) => params.takes(&mut self.draft, text),
            _ => false,
        }
    }

    fn step(&mut self, look: Look<'_>) -> Progress {
        if !matches!(self.reading, Reading::Text) {
            return std::mem::take(&mut self.reading).read(self, look);
        }
        if self.at >= look.text.len() {
            return Progress::More;
        }
        match self.read_text(look) {
            Ok(()) => Progress::Moved,
            Err(More) => Progress::More,
        }
    }

    fn read_text(&mut self, look: Look<'_>) -> Result<(), More> {
        if self.fresh {
            let found = self.line_start(look)?;
            if found {
                return Ok(());
            }
            self.fresh = false;
        }
        let begins = match look.rest(self.at).as_bytes() {
            [first, second, ..] => look.setup.marks.may_begin(*first, *second),
            [first] => marks::may_begin(*first),
            [] => false,
        };
        if begins && self.mark(look)? {
            return Ok(());
        }
        self.plain(look);
        Ok(())
    }

    /// Moves to `at`, where a mark was read, and looks for marks of lines there.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
        self.fresh = true;
    }

    fn is_prose(&self) -> bool {
        matches!(self.mode, Mode::Content | Mode::Thought(_))
    }

    fn line_start(&mut self, look: Look<'_>) -> Result<bool, More> {
        if self.mode == Mode::Dead || self.echo.is_some_and(Echo::is_marked) {
            return Ok(false);
        }
        let first = look.rest(self.at).bytes().next().unwrap_or_default();
        let headless = look.setup.headers && self.at == self.start && matches!(first, b' ' | b't');
        if headless && header::begins(look, self.at)? {
            self.header(look, 0);
            return Ok(true);
        }
        if look.setup.labels && labels::may_begin(first) {
            match labels::at(look.rest(self.at), look.ended) {
                Line::More => return Err(More),
                Line::Label(label) => {
                    self.fresh = false;
                    if self.label(look, label) {
                        return Ok(true);
                    }
                }
                Line::Other => {}
            }
        }
        if !self.is_prose() || self.echo.is_some() {
            return Ok(false);
        }
        if look.ended
            && let Some(pending) = &self.pending
            && self.breaks_off(look, pending)
        {
            self.at = look.text.len();
            return Ok(true);
        }
        let Some(next) = self.behind_blanks(look)? else { return Ok(false) };
        match look.rest(next).bytes().next() {
            Some(b'`') if self.fence_line(look)? => Ok(true),
            Some(b'{' | b'[') if look.setup.json && self.bare(look, next)? => Ok(true),
            Some(b'[') if look.setup.python => self.bare_python(look, next),
            Some(b'f') if next == self.at => self.line_mark(look),
            _ => Ok(false),
        }
    }

    /// Where the first letter of the line stands, if it is near.
    fn behind_blanks(&self, look: Look<'_>) -> Result<Option<usize>, More> {
        const BLANKS: usize = 64;
        let rest = look.rest(self.at);
        let tail = rest.trim_start_matches(labels::is_blank);
        let len = rest.len() - tail.len();
        if tail.is_empty() && len <= BLANKS && !look.ended {
            return Err(More);
        }
        Ok((len <= BLANKS).then_some(self.at + len))
    }

    fn bare(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        if !calls::begins(look, at)? {
            return Ok(false);
        }
        self.fresh = false;
        self.at = at;
        self.reading = Reading::Calls(Box::new(Calls::bare(at)));
        Ok(true)
    }

    /// A list of Python's calls, where the first names a declared tool.
    fn bare_python(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let Some(name) = Python::first_name(look, at)? else { return Ok(false) };
        if names::resolve(&look.setup.declared, CallKind::Tool, name).is_err() {
            return Ok(false);
        }
        self.fresh = false;
        self.at = at;
        self.reading = Reading::Python(Box::new(Python::bare(at)));
        Ok(true)
    }

    /// A mark whose first word prose has, too.
    fn line_mark(&mut self, look: Look<'_>) -> Result<bool, More> {
        match look.setup.lines.at(look.rest(self.at)) {
            Found::Mark(mark, len) => {
                self.fresh = false;
                Ok(self.enter_mark(look, mark, len))
            }
            Found::Prefix if !look.ended => Err(More),
            _ => Ok(false),
        }
    }

    fn label(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        match self.mode {
            Mode::Dead => return false,
            Mode::Answer(_) if label.kind == LabelKind::Thought => {
                self.settle(look);
                self.mode = Mode::Dead;
                return true;
            }
            Mode::Answer(_) => return false,
            Mode::Task
                if matches!(label.kind, LabelKind::Task | LabelKind::Final { strong: false }) =>
            {
                return false;
            }
            _ => {}
        }
        if label.kind == LabelKind::Observation {
            let foreign = self.foreign(look);
            if !foreign {
                self.echo = Some(Echo::line());
            }
            return foreign;
        }
        if !matches!(label.kind, LabelKind::Input | LabelKind::Task) {
            self.echo = None;
        }
        match label.kind {
            LabelKind::Thought => self.open_mode(look, label, Mode::Thought(self.at)),
            LabelKind::Final { .. } => self.open_mode(look, label, Mode::Answer(self.at)),
            LabelKind::Observation => return false,
            LabelKind::Action => self.open_name(look, label, CallKind::Tool),
            LabelKind::Delegate => self.open_name(look, label, CallKind::Delegate),
            LabelKind::Input => return self.open_input(look, label),
            LabelKind::Task => return self.open_task(look, label),
        }
        true
    }

    fn open_mode(&mut self, look: Look<'_>, label: Label<'_>, mode: Mode) {
        if self.leave(look) {
            self.enter(look, label);
            self.mode = mode;
        }
    }

    fn open_name(&mut self, look: Look<'_>, label: Label<'_>, kind: CallKind) {
        let start = self.at;
        if self.leave(look) {
            self.enter(look, label);
            let named = Named::new(Behind::Name(kind), start, self.at);
            self.reading = Reading::Name(Box::new(named));
        }
    }

    /// `Action Input:` behind a name. Elsewhere the words mean nothing.
    fn open_input(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        if !self.waits_for(CallKind::Tool) || self.mode == Mode::Input {
            return false;
        }
        let start = self.at;
        self.enter(look, label);
        self.reading = Reading::Name(Box::new(Named::new(Behind::Input, start, self.at)));
        true
    }

    /// `Task:` behind a delegation. Elsewhere the word means nothing.
    fn open_task(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        let waits = self.waits_for(CallKind::Delegate);
        if waits {
            self.enter(look, label);
            self.mode = Mode::Task;
        }
        waits
    }

    fn waits_for(&self, kind: CallKind) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.kind == kind)
    }

    /// Stands behind the label.
    fn enter(&mut self, look: Look<'_>, label: Label<'_>) {
        self.settle(look);
        self.fence.wraps();
        label.open.clone_into(&mut self.open);
        self.at += label.len;
    }

    /// What only the program may say ends the reply, once something was called.
    pub(crate) fn foreign(&mut self, look: Look<'_>) -> bool {
        if !self.draft.has_attempt() && self.pending.is_none() {
            return false;
        }
        self.invented(look);
        true
    }

    /// What the model invents ends the reply.
    pub(crate) fn invented(&mut self, look: Look<'_>) {
        self.echo = None;
        if self.leave(look) {
            self.draft.invented(self.at);
            self.mode = Mode::Dead;
        }
    }

    fn mark(&mut self, look: Look<'_>) -> Result<bool, More> {
        if let Some(echo) = self.echo
            && let Some(len) = look.any(self.at, echo.closes())?
        {
            self.echo = echo.closed();
            self.go(self.at + len);
            return Ok(true);
        }
        let before = look.slice(self.start, self.at);
        // A mark in inline code is talked about, not used.
        if before.ends_with('`') && !before.ends_with("```") {
            return Ok(false);
        }
        match look.setup.marks.at(look.rest(self.at)) {
            Found::Mark(mark, len) if self.echo.is_some_and(|echo| echo.hides(mark)) => {
                self.echo = self.echo.map(|echo| echo.behind(mark));
                self.go(self.at + len);
                Ok(true)
            }
            Found::Mark(Mark::Turn(own), len)
                if self.is_prose() && echo::is_own(look, self.at + len, own)? =>
            {
                // Once something was called, the model's own next turn is invented as well.
                if !self.foreign(look) {
                    self.go(self.at + len);
                }
                Ok(true)
            }
            Found::Mark(mark, len) => Ok(self.enter_mark(look, mark, len)),
            Found::Prefix if !look.ended => Err(More),
            Found::Prefix if self.is_prose() => Ok(self.cut_mark(look)),
            _ => Ok(false),
        }
    }

    fn enter_mark(&mut self, look: Look<'_>, mark: Mark, len: usize) -> bool {
        match mark {
            Mark::Think(closes) => {
                self.reading = Reading::Think(Box::new(Think::new(self.at + len, closes)));
            }
            Mark::EndThink => think::close(self, look, len),
            Mark::SuffixedThink => self.suffixed(len, Tag::Think),
            Mark::SuffixedClose => {
                let thought = look.rest(self.at).starts_with("</think");
                if self.mode == Mode::Dead && !thought {
                    return false;
                }
                self.suffixed(len, Tag::Close { thought });
            }
            _ if self.mode == Mode::Dead => return false,
            Mark::Stop => self.go(self.at + len),
            Mark::Foreign if !matches!(self.mode, Mode::Answer(_)) => {
                if !self.foreign(look) {
                    self.go(self.at + len);
                }
            }
            Mark::Result(closes) if !matches!(self.mode, Mode::Answer(_)) => {
                if !self.foreign(look) {
                    self.echo = Some(Echo::marked(closes, self.echo.is_some()));
                    self.go(self.at + len);
                }
            }
            Mark::Turn(_) if !matches!(self.mode, Mode::Answer(_)) => self.invented(look),
            Mark::Open(rule) if self.is_prose() => {
                self.reading = Reading::Opening(Opening::new(self.at, self.at + len, rule));
            }
            Mark::Header => self.header(look, len),
            Mark::Elements if self.is_prose() => {
                let elements = Elements::new(self.at, self.at + len);
                self.reading = Reading::Elements(Box::new(elements));
            }
            Mark::Section(closes) if self.is_prose() => {
                self.reading = Reading::Lost(Lost::section(self.at, self.at + len, closes));
            }
            Mark::Suffixed if self.is_prose() => self.suffixed(len, Tag::Call),
            Mark::Close if self.is_prose() => self.go(self.at + len),
            _ => return false,
        }
        true
    }

    fn suffixed(&mut self, len: usize, tag: Tag) {
        self.reading = Reading::Suffixed(Suffixed::new(self.at, self.at + len, tag));
    }

    /// A message's header. The one before is over, and so is its answer.
    fn header(&mut self, look: Look<'_>, len: usize) {
        if let Mode::Answer(_) = self.mode {
            self.settle(look);
            self.mode = Mode::Dead;
            return;
        }
        self.reading = Reading::Header(Header::new(self.at, self.at + len));
    }

    /// The text broke off inside a mark: it is never shown, and a call's mark was to be a call.
    fn cut_mark(&mut self, look: Look<'_>) -> bool {
        let Some(opens) = look.setup.marks.cut(look.rest(self.at)) else { return false };
        if opens && self.echo.is_none() {
            self.truncated(look, self.at, None, Expected::Rest);
        }
        self.at = look.text.len();
        true
    }

    /// Text up to where the next mark may begin.
    fn plain(&mut self, look: Look<'_>) {
        let bytes = look.rest(self.at).as_bytes();
        let mut fresh = bytes.first() == Some(&b'\n');
        let mut len = 1;
        while let Some(&byte) = bytes.get(len) {
            if is_plain(byte) && !fresh {
                len += look::run(bytes.get(len..).unwrap_or_default(), is_plain);
                continue;
            }
            let second = bytes.get(len + 1);
            let mark = match second {
                Some(&second) => look.setup.marks.may_begin(byte, second),
                None => marks::may_begin(byte),
            };
            if mark || fresh && may_begin_line(byte) {
                break;
            }
            fresh = byte == b'\n';
            len += 1;
        }
        while !look.text.is_char_boundary(self.at + len) {
            len += 1;
        }
        let len = len.min(bytes.len());
        self.push(look, self.at, self.at + len);
        self.at += len;
        self.fresh = fresh;
    }

    /// Sends a piece of the text where the mode says.
    pub(crate) fn push(&mut self, look: Look<'_>, start: usize, end: usize) {
        let text = look.slice(start, end);
        if self.is_prose() && !self.release_fence_for(look, start, end) {
            return;
        }
        match self.mode {
            Mode::Content => self.draft.say_content(text),
            Mode::Thought(_) => self.draft.say_thought(text),
            Mode::Dead => {}
            _ => self.run.push(text),
        }
    }

    /// Closes what was open, before something else is read. `false` when that ended the reply.
    pub(crate) fn leave(&mut self, look: Look<'_>) -> bool {
        self.settle(look);
        self.resolve_pending(look);
        self.fence.wraps();
        self.mode != Mode::Dead
    }

    pub(crate) fn call(&mut self, look: Look<'_>, called: Called<'_>, input: Input) {
        let Called { kind, name, span, given } = called;
        let declared = &look.setup.declared;
        let is_final = kind == CallKind::Tool && name.trim().eq_ignore_ascii_case("final answer");
        if is_final && !declared.has_tool(name.trim()) {
            let answer = marks::without_stops(&input.into_words());
            self.draft.abandon();
            self.draft.answer(answer.trim().to_owned(), span);
            self.mode = Mode::Dead;
            return;
        }
        self.draft.call(declared, Attempt { kind, name, input, span, given });
    }

    /// The text ends inside a call: nothing follows.
    pub(crate) fn truncated(
        &mut self,
        look: Look<'_>,
        start: usize,
        name: Option<&str>,
        expected: Expected,
    ) {
        self.draft.fail(ErrorKind::Truncated, expected, name, start..look.text.len());
        self.at = look.text.len();
    }

    /// Ends what was being read.
    fn settle(&mut self, look: Look<'_>) {
        let mode = std::mem::take(&mut self.mode);
        let run = std::mem::take(&mut self.run).text;
        match mode {
            Mode::Content => {}
            Mode::Dead => self.mode = Mode::Dead,
            Mode::Thought(start) => self.draft.end_thought(start..self.at),
            Mode::Answer(start) => {
                let answer = self.words(&run);
                self.draft.answer(answer, start..self.at);
            }
            Mode::Input | Mode::Task => self.settle_input(look, &run, mode),
        }
    }

    fn settle_input(&mut self, look: Look<'_>, run: &str, mode: Mode) {
        let words = self.words(run);
        let Some(Pending { kind, name, start, end }) = self.pending.take() else { return };
        let input = match mode {
            Mode::Task if words.is_empty() => Input::Empty,
            Mode::Task => Input::Text(words),
            _ => Input::from_text(&words),
        };
        let called = Called { kind, name: &name, span: start..self.at, given: end..self.at };
        self.call(look, called, input);
    }

    /// Text behind a label, without what belongs to the label: open bold, the fence around both.
    fn words(&mut self, run: &str) -> String {
        let words = self.fence.unwrap(run.trim());
        let open = std::mem::take(&mut self.open);
        let inner = words
            .strip_suffix(open.as_str())
            .filter(|inner| !open.is_empty() && !inner.contains(open.as_str()));
        inner.unwrap_or(words).trim().to_owned()
    }

    /// Whether the text ends where the input of a name should begin: behind the name, which may not be whole, or inside
    /// the next label. Other words show that the model went on without one.
    fn breaks_off(&self, look: Look<'_>, pending: &Pending) -> bool {
        if !look.ended {
            return false;
        }
        let tail = look.slice(pending.end, look.text.len());
        if tail.is_empty() {
            return true;
        }
        if tail.trim().is_empty() {
            return pending.kind == CallKind::Tool && !self.takes_nothing(look, &pending.name);
        }
        let labels = match pending.kind {
            CallKind::Tool => ["action input", "행동 입력"],
            CallKind::Delegate => ["task", "작업"],
        };
        let word = tail.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        !tail.contains('<') && labels.iter().any(|label| label.starts_with(&word))
    }

    fn takes_nothing(&self, look: Look<'_>, name: &str) -> bool {
        let declared = &look.setup.declared;
        let name = names::resolve(declared, CallKind::Tool, name);
        name.is_ok_and(|name| declared.takes_nothing(&name))
    }

    /// A name without input: enough for a tool that takes nothing.
    fn resolve_pending(&mut self, look: Look<'_>) {
        let Some(pending) = self.pending.take() else { return };
        if look.is_end(self.at) && self.breaks_off(look, &pending) {
            let name = Some(pending.name.trim());
            return self.truncated(look, pending.start, name, Expected::Rest);
        }
        let (start, end) = (pending.start, pending.end);
        let called = Called {
            kind: pending.kind,
            name: &pending.name,
            span: start..self.at,
            given: end..end,
        };
        self.call(look, called, Input::Empty);
    }

    /// Forgets all but where it stands: what came before was reasoning.
    pub(crate) fn restart(&mut self) {
        self.run = Run::default();
        self.pending = None;
        self.fence = Fence::default();
        self.echo = None;
        self.mode = Mode::Content;
    }

    /// The reply, when the text has ended.
    pub(crate) fn into_reply(mut self, text: &str, out: &mut Vec<Event>) -> Reply {
        std::mem::swap(&mut self.draft.events, out);
        self.draft.close_notes(text.len());
        std::mem::swap(&mut self.draft.events, out);
        self.draft.into_reply()
    }
}

/// The bytes with which neither a mark nor a line begins.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut byte = 0_u8;
    loop {
        if let Some(plain) = plain.split_at_mut(byte as usize).1.first_mut() {
            *plain = byte != b'\n' && !marks::may_begin(byte);
        }
        if byte == 255 {
            break plain;
        }
        byte += 1;
    }
};

fn is_plain(byte: u8) -> bool {
    PLAIN.get(usize::from(byte)) == Some(&true)
}

/// Whether a mark of lines may begin with `byte`.
fn may_begin_line(byte: u8) -> bool {
    labels::may_begin(byte) || matches!(byte, b'{' | b'[')
}
