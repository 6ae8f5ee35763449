//! The one pass over a text.
//!
//! The walk goes from mark to mark and never back: a format that begins at a mark reads on from there, and leaves the
//! walk behind what it read. What is not a mark is text, and goes where the mode says. A mark may only be looked at
//! where it can begin, at `<` or at the start of a line, so the work is linear in the text.

use crate::{
    CallKind, Declared, ErrorKind, Expected, NoteKind, bare, delegate,
    draft::{Attempt, Draft},
    fence::Fence,
    input::Input,
    labels::{self, Label, LabelKind},
    marks::{self, Mark},
    names, python_tag, react, reasoning, tool_call,
};

/// Where text goes that is no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Content,
    Thought,
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
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) start: usize,
    /// Where the name ends.
    pub(crate) end: usize,
}

#[derive(Debug)]
pub(crate) struct Walk<'a> {
    pub(crate) declared: &'a Declared,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) at: usize,
    /// Labels, fences and bare JSON may begin here.
    pub(crate) fresh: bool,
    pub(crate) mode: Mode,
    /// The text of a mode other than content.
    pub(crate) run: String,
    /// The bold marks that a label left open.
    pub(crate) open: &'a str,
    pub(crate) pending: Option<Pending>,
    pub(crate) fence: Fence,
    pub(crate) draft: Draft,
    /// Objects whose end was not found. Each may have cost a look at the whole text, so there is a limit.
    pub(crate) unclosed: usize,
}

impl<'a> Walk<'a> {
    /// A walk over `text` from byte `start`.
    pub(crate) fn new(declared: &'a Declared, text: &'a str, start: usize) -> Self {
        Self {
            declared,
            text,
            start,
            at: start,
            fresh: true,
            mode: Mode::Content,
            run: String::new(),
            open: "",
            pending: None,
            fence: Fence::default(),
            draft: Draft::default(),
            unclosed: 0,
        }
    }

    pub(crate) fn run(mut self) -> Draft {
        while self.at < self.text.len() {
            self.step();
        }
        self.settle();
        self.resolve_pending();
        self.release_fence();
        self.draft
    }

    fn step(&mut self) {
        if std::mem::take(&mut self.fresh) && self.line_start() {
            return;
        }
        if self.rest().starts_with('<') && self.mark() {
            return;
        }
        self.plain();
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Moves to `at`, where a mark was read, and looks for marks of lines there.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
        self.fresh = true;
    }

    pub(crate) fn skip_white(&mut self) {
        self.at += white(self.rest());
    }

    fn is_prose(&self) -> bool {
        matches!(self.mode, Mode::Content | Mode::Thought)
    }

    fn line_start(&mut self) -> bool {
        if let Some(label) = labels::at(self.rest())
            && self.label(label)
        {
            return true;
        }
        self.is_prose() && (self.fence_line() || bare::read(self))
    }

    fn label(&mut self, label: Label<'a>) -> bool {
        match self.mode {
            Mode::Dead => return false,
            Mode::Answer(_) if label.kind == LabelKind::Thought => {
                self.settle();
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
        match label.kind {
            LabelKind::Thought => self.thought(label),
            LabelKind::Action => react::action(self, label),
            LabelKind::Input => react::input(self, label),
            LabelKind::Observation => self.foreign(),
            LabelKind::Final { .. } => self.final_answer(label),
            LabelKind::Delegate => delegate::agent(self, label),
            LabelKind::Task => delegate::task(self, label),
        }
    }

    /// Stands behind the label.
    pub(crate) fn enter(&mut self, label: Label<'a>) {
        self.settle();
        self.fence.wraps();
        self.open = label.open;
        self.at += label.len;
    }

    fn thought(&mut self, label: Label<'a>) -> bool {
        if self.leave() {
            self.enter(label);
            self.mode = Mode::Thought;
        }
        true
    }

    fn final_answer(&mut self, label: Label<'a>) -> bool {
        let start = self.at;
        if self.leave() {
            self.enter(label);
            self.mode = Mode::Answer(start);
        }
        true
    }

    /// What only the program may say ends the reply, once something was called.
    fn foreign(&mut self) -> bool {
        if !self.draft.has_attempt() && self.pending.is_none() {
            return false;
        }
        if self.leave() {
            self.draft.note(NoteKind::InventedObservation, self.at..self.text.len());
            self.mode = Mode::Dead;
        }
        true
    }

    fn mark(&mut self) -> bool {
        let before = self.slice(self.start, self.at);
        // A mark in inline code is talked about, not used.
        if before.ends_with('`') && !before.ends_with("```") {
            return false;
        }
        match marks::at(self.rest()) {
            Some((mark, len)) => self.enter_mark(mark, len),
            None => self.is_prose() && self.cut_mark(),
        }
    }

    fn enter_mark(&mut self, mark: Mark, len: usize) -> bool {
        match mark {
            Mark::Think(close) => reasoning::open(self, len, close),
            Mark::EndThink => reasoning::close(self, len),
            _ if self.mode == Mode::Dead => return false,
            Mark::Stop => self.go(self.at + len),
            Mark::Foreign if !matches!(self.mode, Mode::Answer(_)) => {
                if !self.foreign() {
                    self.go(self.at + len);
                }
            }
            Mark::ToolCall if self.is_prose() => return tool_call::read(self, len),
            Mark::PythonTag if self.is_prose() => return python_tag::read(self, len),
            Mark::Close if self.is_prose() => self.go(self.at + len),
            _ => return false,
        }
        true
    }

    /// The text broke off inside a mark: it is never shown, and a call's mark was to be a call.
    fn cut_mark(&mut self) -> bool {
        match marks::cut(self.rest()) {
            Some(Mark::ToolCall | Mark::PythonTag) => self.truncated(self.at, None, Expected::Rest),
            Some(_) => self.at = self.text.len(),
            None => return false,
        }
        true
    }

    /// Text up to where the next mark may begin.
    fn plain(&mut self) {
        let rest = self.rest();
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let broken = rest.starts_with('\n');
        let len = match rest.get(first..).and_then(|tail| tail.find(['<', '\n'])) {
            _ if broken => first,
            Some(plain) => first + plain,
            None => rest.len(),
        };
        self.push(self.at, self.at + len);
        self.at += len;
        self.fresh = broken;
    }

    /// Sends a piece of the text where the mode says.
    pub(crate) fn push(&mut self, start: usize, end: usize) {
        let text = self.slice(start, end);
        if self.is_prose() && !self.release_fence_for(text) {
            return;
        }
        match self.mode {
            Mode::Content => self.draft.content.push_str(text),
            Mode::Dead => {}
            _ => self.run.push_str(text),
        }
    }

    /// Closes what was open, before something else is read. `false` when that ended the reply.
    pub(crate) fn leave(&mut self) -> bool {
        self.settle();
        self.resolve_pending();
        self.fence.wraps();
        self.mode != Mode::Dead
    }

    pub(crate) fn call(
        &mut self,
        kind: CallKind,
        name: &str,
        input: Input,
        start: usize,
        end: usize,
    ) {
        let is_final = kind == CallKind::Tool && name.trim().eq_ignore_ascii_case("final answer");
        if is_final && !self.declared.has_tool(name.trim()) {
            self.draft
                .answer(marks::without_stops(&input.into_words()).trim().to_owned(), start..end);
            self.mode = Mode::Dead;
            return;
        }
        self.draft.call(self.declared, Attempt { kind, name, input, span: start..end });
    }

    /// The text ends inside a call: nothing follows.
    pub(crate) fn truncated(&mut self, start: usize, name: Option<&str>, expected: Expected) {
        self.draft.fail(ErrorKind::Truncated, expected, name, start..self.text.len());
        self.at = self.text.len();
    }

    /// Ends what was being read.
    pub(crate) fn settle(&mut self) {
        let mode = std::mem::replace(&mut self.mode, Mode::Content);
        let run = std::mem::take(&mut self.run);
        match mode {
            Mode::Content => {}
            Mode::Dead => self.mode = Mode::Dead,
            Mode::Thought => self.draft.thought(run.trim()),
            Mode::Answer(start) => {
                let answer = self.words(&run);
                self.draft.answer(answer, start..self.at);
            }
            Mode::Input | Mode::Task => self.settle_input(&run, mode),
        }
    }

    fn settle_input(&mut self, run: &str, mode: Mode) {
        let words = self.words(run);
        let Some(Pending { kind, name, start, .. }) = self.pending.take() else { return };
        let input = match mode {
            Mode::Task if words.is_empty() => Input::Empty,
            Mode::Task => Input::Text(words),
            _ => Input::from_text(&words),
        };
        self.call(kind, &name, input, start, self.at);
    }

    /// Text behind a label, without what belongs to the label: open bold, the fence around both.
    fn words(&mut self, run: &str) -> String {
        let words = self.fence.unwrap(run.trim());
        let open = std::mem::take(&mut self.open);
        let inner =
            words.strip_suffix(open).filter(|inner| !open.is_empty() && !inner.contains(open));
        inner.unwrap_or(words).trim().to_owned()
    }

    /// Whether the text ends where the input of a name should begin: behind the name, which may not be whole, or inside
    /// the next label. Other words show that the model went on without one.
    fn breaks_off(&self, pending: &Pending) -> bool {
        let tail = self.slice(pending.end, self.text.len());
        if tail.is_empty() || self.at < self.text.len() {
            return tail.is_empty();
        }
        if tail.trim().is_empty() {
            return pending.kind == CallKind::Tool && !self.takes_nothing(&pending.name);
        }
        let labels = match pending.kind {
            CallKind::Tool => ["action input", "행동 입력"],
            CallKind::Delegate => ["task", "작업"],
        };
        let word = tail.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        !tail.contains('<') && labels.iter().any(|label| label.starts_with(&word))
    }

    fn takes_nothing(&self, name: &str) -> bool {
        let name = names::resolve(self.declared, CallKind::Tool, name);
        name.is_ok_and(|name| self.declared.takes_nothing(&name))
    }

    /// A name without input: enough for a tool that takes nothing.
    pub(crate) fn resolve_pending(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        if self.breaks_off(&pending) {
            return self.truncated(pending.start, Some(pending.name.trim()), Expected::Rest);
        }
        self.call(pending.kind, &pending.name, Input::Empty, pending.start, self.at);
    }
}

/// The length of the white space at the start of `text`.
pub(crate) fn white(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
