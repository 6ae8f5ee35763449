//! What all readers share: where reading stands, where text goes, and what was read so far.

use crate::{
    declared::CallKind,
    json::scan::Scan,
    policy::Mark,
    readers::{echo::Echo, enclosure::Enclosure, fence::Fence, shown::Shown},
    reply::{
        called::Called,
        draft::Draft,
        error::{ErrorKind, Expected},
        flow::Run,
        input::Input,
    },
    text::{
        look::{self, Look},
        marks::{self, By},
        names,
        rule::Rule,
        table::{self, Grammar},
    },
    work,
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

/// What stands before the next block of labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Block {
    /// No block that called something.
    #[default]
    None,
    /// One, and nothing but thoughts behind it.
    Called,
    /// One, and other text behind it: an observation that the model invents, by whatever word.
    Over,
}

/// A name that waits for its input.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) start: usize,
    /// Where the name ends.
    pub(crate) end: usize,
    /// It says that nothing is called.
    pub(crate) is_none: bool,
    /// The text does not end where its input should begin.
    pub(crate) goes_on: bool,
}

impl Pending {
    /// Whether the text ends where the input should begin: behind the name, which may not be whole, or inside the next label. Other
    /// words show that the model went on without one.
    fn is_last(&self, look: Look<'_>) -> bool {
        /// A label with what may stand around it is shorter.
        const LABEL: usize = 256;
        let tail = look.slice(self.end, look.text.len());
        if tail.is_empty() {
            return true;
        }
        if look.behind_white(self.end) == look.text.len() {
            return self.kind == CallKind::Tool && (look.cut || !self.takes_nothing(look));
        }
        if tail.len() > LABEL {
            return false;
        }
        work::count(tail.len());
        let labels = match self.kind {
            CallKind::Tool => ["action input", "행동 입력"],
            CallKind::Delegate => ["task", "작업"],
        };
        let word = tail.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        !tail.contains('<') && labels.iter().any(|label| label.starts_with(&word))
    }

    fn takes_nothing(&self, look: Look<'_>) -> bool {
        let declared = &look.setup.declared;
        let name = names::resolve(declared, CallKind::Tool, &self.name);
        name.is_ok_and(|name| declared.takes_nothing(&name))
    }
}

/// Where a pass stands, and what it has read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walk {
    pub(crate) start: usize,
    pub(crate) at: usize,
    /// Behind the last reasoning.
    pub(crate) reasoned_to: usize,
    /// How many close marks of reasoning still count where none is open: one, before any was opened, and those of marks
    /// that were opened inside reasoning.
    pub(crate) stray_closes: usize,
    /// Labels, fences and bare JSON may begin here.
    pub(crate) fresh: bool,
    pub(crate) mode: Mode,
    /// Behind the last mark that counted, or the last call.
    pub(crate) trusted_to: usize,
    /// Another call of the same block begins here, by this rule.
    pub(crate) next_rule: Option<&'static Rule>,
    /// The text of a mode other than content and thought.
    pub(crate) run: Run,
    /// The bold marks that a label left open.
    pub(crate) open: String,
    pub(crate) pending: Option<Pending>,
    pub(crate) fence: Fence,
    pub(crate) block: Block,
    /// Whom the header of the message at hand names.
    pub(crate) addressee: Option<String>,
    /// Text that is only shown.
    pub(crate) shown: Option<Shown>,
    pub(crate) enclosure: Enclosure,
    /// Where the last mark ends that stands directly behind a quotation mark.
    pub(crate) quoted_to: usize,
    /// The input at hand stands in a fence that is open.
    pub(crate) fenced_input: bool,
    /// A result is being repeated: nothing in it is a call.
    pub(crate) echo: Option<Echo>,
    pub(crate) draft: Draft,
    /// The reply ended where a mark says that another role speaks.
    pub(crate) is_of_other: bool,
    /// How many marks were noted that no format has.
    pub(crate) unknown_marks: usize,
    /// How many marks were noted that are only shown.
    pub(crate) quoted_marks: usize,
    /// Objects whose end was not found. Each may have cost a look at the whole text, so there is a limit.
    pub(crate) unclosed: usize,
    /// An object that was read, for the room that it takes.
    pub(crate) spare: Option<Box<Scan>>,
}

impl Walk {
    /// A walk from byte `start`.
    pub(crate) fn new(start: usize) -> Self {
        Self {
            start,
            at: start,
            reasoned_to: start,
            fresh: true,
            stray_closes: 1,
            enclosure: Enclosure::from(start),
            ..Self::default()
        }
    }

    /// Moves to `at`, where a mark was read, and looks for marks of lines there.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
        self.fresh = true;
    }

    /// Whether the mark of `len` bytes here counts, where special tokens are known. One that begins a tag with a name in it is
    /// never such a token, and counts behind one, or behind a call.
    pub(crate) fn counts(&mut self, look: Look<'_>, len: usize) -> bool {
        let token = look.slice(self.at, self.at + len);
        let is_open =
            !token.ends_with(['>', ']', '｜', '✿', '▷']) && look::barred(token).next().is_none();
        let near = || look.slice(self.trusted_to, self.at).trim().is_empty();
        let counts = look.is_special(self.at, len) || is_open && self.trusted_to > 0 && near();
        if counts {
            self.trusted_to = self.at + len;
        }
        counts
    }

    /// A mark of `len` bytes here opens what is read next.
    pub(crate) fn enters(&mut self, by: By) {
        self.draft.lock.enters(self.at);
        self.draft.lock.reads(by);
    }

    /// Whether a form without a mark still counts. What is read next is read as one of it.
    pub(crate) fn reads_bare(&mut self, grammar: Grammar) -> bool {
        let mark = match grammar {
            Grammar::Headers => Mark::Special,
            _ if grammar.is_bare() => Mark::Bare,
            _ => Mark::Tag,
        };
        let by = By::of(table::formats_of(grammar), mark);
        let counts = self.draft.lock.admits(&by);
        if counts {
            self.draft.lock.reads(by);
        }
        counts
    }

    pub(crate) fn is_prose(&self) -> bool {
        matches!(self.mode, Mode::Content | Mode::Thought(_))
    }

    pub(crate) fn waits_for(&self, kind: CallKind) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.kind == kind)
    }

    /// What only the program may say ends the reply, once something was called.
    pub(crate) fn foreign(&mut self, look: Look<'_>) -> bool {
        let has_called = self.has_called();
        if has_called {
            self.of_other(look);
        }
        has_called
    }

    /// Whether something was called, or is about to be.
    pub(crate) fn has_called(&self) -> bool {
        self.draft.has_attempt() || self.pending.is_some()
    }

    /// What another role says ends the reply, whatever marks stand in it.
    pub(crate) fn of_other(&mut self, look: Look<'_>) {
        self.invented(look);
        self.is_of_other = true;
    }

    /// What the model invents ends the reply.
    pub(crate) fn invented(&mut self, look: Look<'_>) {
        self.echo = None;
        if self.leave(look) {
            self.draft.invented(self.at);
            self.mode = Mode::Dead;
        }
    }

    /// Sends a piece of the text where the mode says.
    pub(crate) fn push(&mut self, look: Look<'_>, start: usize, end: usize) {
        let text = look.slice(start, end);
        if self.is_prose() && !self.release_fence_for(look, start, end) {
            return;
        }
        match self.mode {
            Mode::Content => {
                if self.block == Block::Called && !text.trim().is_empty() {
                    self.block = Block::Over;
                }
                self.draft.say_content(text);
            }
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
        let (kind, name) = (called.kind, called.name);
        self.trusted_to = self.trusted_to.max(called.span.end);
        self.enclosure.called(called.span.end);
        self.block = if self.draft.lock.is_of_labels() { Block::Called } else { Block::None };
        let declared = &look.setup.declared;
        let is_final = kind == CallKind::Tool && name.trim().eq_ignore_ascii_case("final answer");
        if is_final && !declared.has_tool(name.trim()) {
            let answer = marks::without_stops(&input.into_words());
            self.draft.abandon();
            self.draft.answer(answer.trim().to_owned(), called.span);
            self.mode = Mode::Dead;
            return;
        }
        self.draft.call(declared, called, input);
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
    pub(crate) fn settle(&mut self, look: Look<'_>) {
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
        let Some(Pending { kind, name, start, end, is_none, .. }) = self.pending.take() else {
            return;
        };
        if is_none {
            return;
        }
        // Nothing says that words are whole but the model's own end.
        let is_cut = look.cut && look.is_end(self.at);
        if std::mem::take(&mut self.fenced_input) || is_cut {
            return self.truncated(look, start, Some(name.trim()), Expected::Rest);
        }
        let input = match mode {
            Mode::Task if words.is_empty() => Input::Empty,
            Mode::Task => Input::Text(words),
            _ => Input::from_text(&words),
        };
        let called = Called::of(kind, &name, start..self.at, end..self.at);
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

    /// Whether the text ends where the input of the name at hand should begin. Asked of a name once: what follows stays the same.
    pub(crate) fn breaks_off(&mut self, look: Look<'_>) -> bool {
        let Some(pending) = self.pending.as_mut().filter(|pending| !pending.goes_on) else {
            return false;
        };
        if !look.ended {
            return false;
        }
        let breaks_off = pending.is_last(look);
        pending.goes_on = !breaks_off;
        breaks_off
    }

    /// A name without input: enough for a tool that takes nothing.
    pub(crate) fn resolve_pending(&mut self, look: Look<'_>) {
        let Some(pending) = self.pending.take().filter(|pending| !pending.is_none) else { return };
        if look.is_end(self.at) && pending.is_last(look) {
            let name = Some(pending.name.trim());
            return self.truncated(look, pending.start, name, Expected::Rest);
        }
        let (start, end) = (pending.start, pending.end);
        let called = Called::of(pending.kind, &pending.name, start..self.at, end..end);
        self.call(look, called, Input::Empty);
    }

    /// Forgets all but where it stands: what came before was reasoning.
    pub(crate) fn restart(&mut self) {
        self.run = Run::default();
        self.pending = None;
        self.fence = Fence::default();
        self.shown = None;
        self.fenced_input = false;
        self.echo = None;
        self.block = Block::None;
        self.mode = Mode::Content;
    }
}
