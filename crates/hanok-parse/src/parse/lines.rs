//! The start of a line: labels, fences, JSON and lists that no mark tells.

use crate::{
    declared::CallKind,
    json::scan::Ends,
    parse::pass::Pass,
    readers::{
        calls::{self, Calls},
        data_list::{self, DataList},
        dispatch::Dispatch,
        echo::Echo,
        enclosure::Enclosed,
        fence::{self, FENCE},
        header, headless,
        json_arguments::JsonArguments,
        label_name::{Behind, LabelName},
        python_calls::PythonCalls,
        python_names, quotation,
        walk::{Block, Mode},
    },
    reply::note::NoteKind,
    text::{
        formats::TOOL_CALL,
        labels::{self, Label, LabelKind, Line},
        look::{Look, Until},
        marks::{Lookup, Meaning},
        names,
        presence::{More, Presence},
        table::Grammar,
    },
};

/// The language of fences that hold calls.
pub(crate) const TOOL_CODE: &str = "tool_code";
/// The languages of fences that show a tool's result.
pub(crate) const RESULTS: [&str; 5] =
    ["tool_output", "tool_outputs", "tool_result", "tool_results", "output"];

impl Pass {
    pub(crate) fn line_start(&mut self, look: Look<'_>) -> Result<bool, More> {
        if self.walk.mode == Mode::Dead || self.walk.echo.is_some_and(Echo::is_marked) {
            return Ok(false);
        }
        if self.walk.mode == Mode::Input && self.walk.fenced_input {
            if let Some(line) = look.behind_blanks(self.walk.at)? {
                self.walk.fenced_input = match look.presence(line, FENCE) {
                    Presence::More => return Err(More),
                    stands => stands == Presence::No,
                };
            }
            return Ok(false);
        }
        if self.walk.is_prose() && self.walk.line_is_shown(look)? {
            return Ok(false);
        }
        let first = look.rest(self.walk.at).bytes().next().unwrap_or_default();
        let is_start = self.walk.at == self.walk.start;
        if let Some(words) = look.setup.headers.filter(|_| is_start) {
            if header::begins(look, self.walk.at, words)? {
                self.header(look, 0, words);
                return Ok(true);
            }
        }
        if look.setup.pairs
            && is_start
            && headless::pairs(look, self.walk.at)?
            && self.walk.reads_bare(Grammar::Pairs)
        {
            self.read(look, Dispatch::new(self.walk.at, self.walk.at, &TOOL_CALL));
            return Ok(true);
        }
        // Whether it is a fence is certain before a label in it is looked at, which is looked at once.
        if matches!(first, b'`' | b' ' | b'\t') && self.walk.is_prose() {
            fence::line(look, self.walk.at)?;
        }
        if labels::may_begin(first) {
            match labels::keyed(look.rest(self.walk.at), look.ended, look.setup.key()) {
                Line::More => return Err(More),
                Line::Label(label) if !look.setup.labels && !self.is_guard(look, label) => {
                    self.walk.fresh = false;
                    if self.walk.is_prose() && self.result_label(look, label) {
                        return Ok(true);
                    }
                }
                Line::Label(label)
                    if label.kind == LabelKind::Tool
                        && !tool_line(look, self.walk.at + label.len)? => {}
                Line::Label(label)
                    if label.kind.begins() && self.label_is_enclosed(look, label)? =>
                {
                    return Ok(false);
                }
                Line::Label(label) => {
                    self.walk.fresh = false;
                    if self.label(look, label) {
                        return Ok(true);
                    }
                }
                Line::Other => {}
            }
        }
        if !self.walk.is_prose() || self.walk.echo.is_some() {
            return Ok(false);
        }
        if let Some(ended) = self.result_fence(look)? {
            return Ok(ended);
        }
        if let Some(tool) = &look.setup.named {
            return self.named(look, tool);
        }
        if self.walk.breaks_off(look) {
            self.walk.at = look.text.len();
            return Ok(true);
        }
        let Some(next) = look.behind_blanks(self.walk.at)? else { return Ok(false) };
        let rest = look.rest(next).as_bytes();
        match rest.first() {
            Some(b'`') if self.code_fence(look)? || self.walk.fence_line(look)? => Ok(true),
            Some(b'-' | b'*' | b'+' | b'0'..=b'9') if self.list_fence(look, next)? => Ok(true),
            Some(b'{' | b'[') if look.setup.json && self.bare(look, next)? => Ok(true),
            Some(b'[') if look.setup.python => self.bare_python(look, next),
            Some(_) if look.setup.lines.may_begin_line(rest) => self.line_mark(look, next),
            Some(_) if look.setup.code_lines => self.code_line(look, next),
            _ => Ok(false),
        }
    }

    /// The arguments of the tool that was asked for, in a fence or alone.
    pub(crate) fn named(&mut self, look: Look<'_>, tool: &str) -> Result<bool, More> {
        if self.walk.draft.has_attempt() {
            return Ok(false);
        }
        let Some(at) = look.behind_some_white(self.walk.at)? else { return Ok(false) };
        let fence = fence::opening(look, at)?;
        let Some(at) = look.behind_some_white(at + fence.unwrap_or_default())? else {
            return Ok(false);
        };
        if !look.rest(at).starts_with('{') {
            return Ok(false);
        }
        if fence.is_some() {
            self.walk.fence.open();
        }
        self.walk.at = at;
        let ends = Ends { fence: true, ..Ends::default() };
        let (walk, tool) = (&mut self.walk, tool.to_owned());
        let object = JsonArguments::new(walk, look, CallKind::Tool, tool, at, at, ends);
        self.read(look, object);
        Ok(true)
    }

    /// A fence whose language says that it shows a tool's result: whether it ended the reply.
    fn result_fence(&mut self, look: Look<'_>) -> Result<Option<bool>, More> {
        let Some(len) = fence::opening(look, self.walk.at)? else { return Ok(None) };
        let line = look.slice(self.walk.at, self.walk.at + len);
        if !RESULTS.contains(&line.trim().trim_start_matches('`')) {
            return Ok(None);
        }
        if self.walk.foreign(look) {
            return Ok(Some(true));
        }
        self.walk.show_fence(look);
        Ok(Some(false))
    }

    /// A fence behind the signs of a list at byte `at`.
    fn list_fence(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let behind = quotation::behind_bullets(look, at)?;
        let is_fence = behind > at && look.rest(behind).starts_with('`');
        Ok(is_fence && self.walk.fence_in_list(look, behind)?)
    }

    /// A fence whose language says that it holds calls.
    pub(crate) fn code_fence(&mut self, look: Look<'_>) -> Result<bool, More> {
        if !look.setup.tool_code || self.walk.fence.is_around_code() {
            return Ok(false);
        }
        let Some(len) = fence::opening(look, self.walk.at)? else { return Ok(false) };
        let (start, end) = (self.walk.at, self.walk.at + len);
        let is_code = look.slice(start, end).trim().trim_start_matches('`') == TOOL_CODE;
        if !is_code || self.is_enclosed(look)? || !self.walk.reads_bare(Grammar::ToolCode) {
            return Ok(false);
        }
        self.walk.release_fence(look);
        let goes_on = self.walk.leave(look);
        self.walk.at = end;
        self.walk.fresh = false;
        if goes_on {
            self.read(look, PythonCalls::marked(start, end, &[FENCE]).code());
        }
        Ok(true)
    }

    pub(crate) fn bare(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        if data_list::begins(look, at)? {
            self.read(look, DataList::new(self.walk.at, at));
            return Ok(true);
        }
        if !calls::begins(look, at)?
            || self.is_talk(look, at)?
            || !self.walk.reads_bare(Grammar::Json)
        {
            return Ok(false);
        }
        self.walk.fresh = false;
        self.walk.at = at;
        self.read(look, Calls::bare(at));
        Ok(true)
    }

    /// A list of PythonCalls's calls, where the first names a declared tool.
    pub(crate) fn bare_python(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let Some(name) = python_names::first_name(look, at)? else { return Ok(false) };
        let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
        if !is_declared || self.is_talk(look, at)? || !self.walk.reads_bare(Grammar::Python) {
            return Ok(false);
        }
        self.walk.fresh = false;
        self.walk.at = at;
        self.read(look, PythonCalls::bare(at));
        Ok(true)
    }

    /// A call of a declared tool as code writes it.
    pub(crate) fn code_line(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let Some(name) = python_names::name(look, at)? else { return Ok(false) };
        let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
        if !is_declared || self.is_talk(look, at)? || !self.walk.reads_bare(Grammar::Lines) {
            return Ok(false);
        }
        self.walk.fresh = false;
        if self.walk.leave(look) {
            self.walk.at = at;
            self.read(look, PythonCalls::marked(at, at, &[]).code());
        }
        Ok(true)
    }

    /// A mark whose first word prose has, too.
    pub(crate) fn line_mark(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let (lookup, by) = look.setup.lines.found(look.rest(at));
        match lookup {
            Lookup::Mark(_, len) if !look.is_special(at, len) => Ok(false),
            Lookup::Mark(Meaning::Turn(_), _) => {
                self.walk.of_other(look);
                Ok(true)
            }
            // A fence shows code, unless its language says that it calls.
            Lookup::Mark(Meaning::Open(rule), _)
                if rule.python && rule.skips.is_empty() && self.walk.fence.is_open() =>
            {
                Ok(false)
            }
            Lookup::Mark(mark, len)
                if self.walk.is_enclosed(look, mark, len)?
                    || mark.opens() && self.walk.is_of_quoted(look, at) =>
            {
                Ok(false)
            }
            Lookup::Mark(mark, len) if self.is_locked_out(look, mark, at..at + len, &by) => {
                Ok(false)
            }
            Lookup::Mark(mark, len) => {
                self.walk.fresh = false;
                self.walk.at = at;
                self.enter_mark(look, mark, len, by)
            }
            Lookup::Prefix if !look.ended => Err(More),
            _ => Ok(false),
        }
    }

    /// Whether a label stands in what ends behind it. A backtick before the label begins inline code, if it is open behind it.
    fn label_is_enclosed(&mut self, look: Look<'_>, label: Label<'_>) -> Result<bool, More> {
        if !label.open.contains('`') || !self.walk.is_prose() {
            return self.is_enclosed(look);
        }
        let behind = self.walk.at + label.len;
        self.walk.enclosure.holds(look, behind, Enclosed::default())
    }

    /// Whether what begins at byte `at` of the line at hand is talked about, and not called: it is enclosed, or of a quoted mark.
    fn is_talk(&mut self, look: Look<'_>, at: usize) -> Result<bool, More> {
        Ok(self.is_enclosed(look)? || self.walk.is_of_quoted(look, at))
    }

    /// Whether the line at hand stands in what began before it and ends behind it.
    fn is_enclosed(&mut self, look: Look<'_>) -> Result<bool, More> {
        let (none, at) = (Enclosed::default(), self.walk.at);
        let is_prose = self.walk.is_prose();
        Ok(is_prose
            && (self.walk.is_in_fence(look, at)? || self.walk.enclosure.holds(look, at, none)?))
    }

    /// Whether a label that calls nothing counts by itself: it says that what follows is thought, or the answer.
    fn is_guard(&self, look: Look<'_>, label: Label<'_>) -> bool {
        let says = matches!(label.kind, LabelKind::Thought | LabelKind::Final { .. });
        look.setup.answers && says
    }

    pub(crate) fn label(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        match self.walk.mode {
            Mode::Dead => return false,
            Mode::Answer(_) if label.kind == LabelKind::Thought => {
                self.walk.settle(look);
                self.walk.mode = Mode::Dead;
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
            return self.result_label(look, label);
        }
        if self.walk.echo.is_some() && !self.ends_result(label) {
            return false;
        }
        let begins =
            matches!(label.kind, LabelKind::Action | LabelKind::Tool | LabelKind::Delegate);
        if begins && self.walk.block == Block::Over {
            self.walk.invented(look);
            return true;
        }
        if begins && !self.walk.reads_bare(Grammar::Labels) {
            self.walk.draft.note(NoteKind::OtherFormat, self.walk.at..self.walk.at + label.len);
            return false;
        }
        match label.kind {
            LabelKind::Thought => self.open_mode(look, label, Mode::Thought(self.walk.at)),
            LabelKind::Final { .. } => self.open_mode(look, label, Mode::Answer(self.walk.at)),
            LabelKind::Observation => return false,
            LabelKind::Action | LabelKind::Tool => self.open_name(look, label, CallKind::Tool),
            LabelKind::Delegate => self.open_name(look, label, CallKind::Delegate),
            LabelKind::Input => return self.open_input(look, label),
            LabelKind::Task => return self.open_task(look, label),
        }
        true
    }

    /// A label where only that of a result counts, and what ends one. Says whether it ended the reply.
    fn result_label(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        if label.kind != LabelKind::Observation {
            self.ends_result(label);
            return false;
        }
        let has_called = self.walk.has_called();
        if has_called {
            // A label of reasoning, which a close mark may still say that it is.
            self.walk.invented(look);
        } else {
            self.walk.echo = Some(Echo::line());
        }
        has_called
    }

    /// Only the model's own thought or answer ends a result that a label began.
    fn ends_result(&mut self, label: Label<'_>) -> bool {
        let ends = matches!(label.kind, LabelKind::Thought | LabelKind::Final { .. });
        if ends {
            self.walk.echo = None;
        }
        ends
    }

    pub(crate) fn open_mode(&mut self, look: Look<'_>, label: Label<'_>, mode: Mode) {
        if self.walk.leave(look) {
            self.enter(look, label);
            self.walk.mode = mode;
        }
    }

    pub(crate) fn open_name(&mut self, look: Look<'_>, label: Label<'_>, kind: CallKind) {
        let start = self.walk.at;
        if self.walk.leave(look) {
            self.enter(look, label);
            self.read(look, LabelName::new(Behind::Name(kind), start, self.walk.at));
        }
    }

    /// `Action Input:` behind a name. Elsewhere the words mean nothing.
    pub(crate) fn open_input(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        if !self.walk.waits_for(CallKind::Tool) || self.walk.mode == Mode::Input {
            return false;
        }
        let start = self.walk.at;
        self.enter(look, label);
        self.read(look, LabelName::new(Behind::Input, start, self.walk.at));
        true
    }

    /// `Task:` behind a delegation. Elsewhere the word means nothing.
    pub(crate) fn open_task(&mut self, look: Look<'_>, label: Label<'_>) -> bool {
        let waits = self.walk.waits_for(CallKind::Delegate);
        if waits {
            self.enter(look, label);
            self.walk.mode = Mode::Task;
        }
        waits
    }

    /// Stands behind the label.
    pub(crate) fn enter(&mut self, look: Look<'_>, label: Label<'_>) {
        self.walk.settle(look);
        self.walk.fence.wraps();
        label.open.clone_into(&mut self.walk.open);
        self.walk.at += label.len;
    }
}

/// Whether a declared tool is named up to the end of the line, and the next line that is not blank begins with the label
/// of an input.
pub(crate) fn tool_line(look: Look<'_>, at: usize) -> Result<bool, More> {
    const LINE: usize = 256;
    let len = match look.until(at, LINE, |letter| letter == '\n') {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(false),
    };
    let name = look.slice(at, at + len);
    if names::resolve(&look.setup.declared, CallKind::Tool, name).is_err() {
        return Ok(false);
    }
    let next = match look.until(at + len, LINE, |letter| !letter.is_whitespace()) {
        Until::At(blank) => at + len + blank,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(false),
    };
    match labels::at(look.rest(next), look.ended) {
        Line::More => Err(More),
        Line::Label(label) => Ok(label.kind == LabelKind::Input),
        Line::Other => Ok(false),
    }
}
