//! The one pass over a text.
//!
//! The pass goes from mark to mark and never back: a reader that begins at a mark reads on from there, and leaves the
//! walk behind what it read. What is not a mark is text, and goes where the mode says. A mark may only be looked at
//! where it can begin, so the work is linear in the text. Wherever the text stops, the pass stops with a state, and
//! goes on from there: nothing is decided before the text says it, so it does not matter how the text is cut.

use std::ops::Range;

use crate::{
    declared::CallKind,
    parse::unknown_mark,
    readers::{
        attribute_call::AttributeCall,
        dispatch::Dispatch,
        echo::{self, Echo},
        enclosure::Enclosed,
        header::Header,
        nested_xml::NestedXml,
        python_names,
        reader::{Next, Reader},
        recovery::Recovery,
        suffixed_tag::{SuffixedTag, Tag},
        think::{self, Think},
        walk::{Mode, Walk},
        word_call::WordCall,
    },
    reply::{
        error::{ErrorKind, Expected},
        event::Event,
        finish::Finish,
        note::NoteKind,
        outcome::Reply,
    },
    text::{
        eights,
        grammar::Headers,
        labels,
        look::{Look, View},
        marks::{self, By, Lookup, Meaning},
        names,
        presence::More,
    },
};

/// A pass over a text, as far as it came.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) walk: Walk,
    /// What is being read besides text.
    pub(super) reading: Option<Box<dyn Reader>>,
}

/// Whether the pass came to where the text stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Moved,
    More,
}

impl Pass {
    /// A pass from byte `start`.
    pub(crate) fn new(start: usize) -> Self {
        Self { walk: Walk::new(start), reading: None }
    }

    /// A pass from the beginning, in reasoning that the prompt opened.
    pub(crate) fn in_reasoning() -> Self {
        Self { reading: Some(Box::new(Think::opened_before(0))), ..Self::new(0) }
    }

    /// Reads on as far as the text goes.
    pub(crate) fn run(&mut self, view: &View<'_>) {
        let look = Look(view);
        while self.step(look) == Progress::Moved {}
        if look.ended {
            self.walk.settle(look);
            self.walk.resolve_pending(look);
            self.walk.release_fence(look);
            if let Some(tool) = &look.setup.named {
                if !self.walk.draft.has_attempt() {
                    let all = self.walk.start..look.text.len();
                    self.walk.draft.fail(
                        ErrorKind::MissingInput,
                        Expected::Object,
                        Some(tool),
                        all,
                    );
                }
            }
            self.walk.draft.content.cut();
            self.walk.draft.thought.cut();
        } else if let Mode::Answer(_) = self.walk.mode {
            let told = self.walk.run.text.get(..self.walk.run.solid).unwrap_or_default();
            self.walk.draft.tell_answer(told);
        }
        self.walk.draft.flush();
        if !self.reading.as_ref().is_some_and(|reader| reader.may_extend()) {
            self.walk.draft.tell_notes();
        }
    }

    /// Takes a piece that is all of it more of a call: what most pieces of one are. Nothing else is told then.
    #[inline]
    pub(crate) fn takes(&mut self, text: &str, out: &mut Vec<Event>) -> bool {
        let Self { walk, reading } = self;
        reading.as_mut().is_some_and(|reader| reader.takes(&mut walk.draft, text, out))
    }

    fn step(&mut self, look: Look<'_>) -> Progress {
        if let Some(reader) = &mut self.reading {
            return match reader.read(&mut self.walk, look) {
                Next::More => Progress::More,
                next => {
                    self.reading = None;
                    self.follow(next);
                    Progress::Moved
                }
            };
        }
        if self.walk.at >= look.text.len() {
            return Progress::More;
        }
        match self.read_text(look) {
            Ok(()) => Progress::Moved,
            Err(More) => Progress::More,
        }
    }

    /// Goes on where a reader says.
    fn follow(&mut self, next: Next) {
        match next {
            Next::More => {}
            Next::Then(reader) => self.reading = Some(reader),
            Next::Done(at) => self.walk.go(at),
            Next::Inline(at) => {
                self.walk.at = at;
                self.walk.fresh = false;
            }
        }
    }

    /// Has `reader` read on.
    pub(super) fn read(&mut self, look: Look<'_>, reader: impl Reader + 'static) {
        let next = reader.begin(&mut self.walk, look);
        self.follow(next);
    }

    fn read_text(&mut self, look: Look<'_>) -> Result<(), More> {
        if let Some(rule) = self.walk.next_rule.take() {
            let at = self.walk.at;
            self.read(look, Dispatch::new(at, at, rule));
            return Ok(());
        }
        if self.walk.fresh {
            let found = self.line_start(look)?;
            if found {
                return Ok(());
            }
            self.walk.fresh = false;
        }
        let begins = match look.rest(self.walk.at).as_bytes() {
            bytes @ [_, _, ..] => {
                look.setup.marks.may_stand(bytes) || unknown_mark::may_begin(bytes)
            }
            [first] => marks::may_begin(*first),
            [] => false,
        };
        if begins && self.mark(look)? {
            return Ok(());
        }
        if self.inside(look)? {
            return Ok(());
        }
        self.plain(look);
        Ok(())
    }

    /// A form without a mark within a line, where one format was told.
    fn inside(&mut self, look: Look<'_>) -> Result<bool, More> {
        let at = self.walk.at;
        let bytes = look.rest(at).as_bytes();
        let walk = &mut self.walk;
        if !look.setup.may_begin_inside(bytes) || !walk.is_prose() || walk.echo.is_some() {
            return Ok(false);
        }
        // A word goes on.
        let is_inner = bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && look.slice(walk.start, at).ends_with(|last: char| last.is_alphanumeric());
        if is_inner || walk.is_shown(look) || walk.fence.is_open() && !walk.begins_line(look) {
            return Ok(false);
        }
        if bytes.first() == Some(&b'{') {
            return self.bare(look, at);
        }
        match look.setup.lines.at(look.rest(at)) {
            // Code in a line is shown.
            Lookup::Mark(Meaning::Open(rule), _) if rule.json.is_some() => self.line_mark(look, at),
            Lookup::Prefix if !look.ended => Err(More),
            _ => Ok(false),
        }
    }

    fn mark(&mut self, look: Look<'_>) -> Result<bool, More> {
        if let Some(echo) = self.walk.echo {
            if let Some(len) = look.any(self.walk.at, echo.closes())? {
                let behind = self.walk.at + len;
                let tag = echo::rest_of_tag(look, self.walk.at, behind)?;
                self.walk.echo = echo.closed();
                self.walk.go(behind + tag);
                return Ok(true);
            }
        }
        let (lookup, by) = look.setup.marks.found(look.rest(self.walk.at));
        if matches!(lookup, Lookup::Nothing)
            && look.setup.python
            && self.walk.is_prose()
            && look.rest(self.walk.at).starts_with('[')
            && self.list_in_line(look)?
        {
            return Ok(true);
        }
        if matches!(lookup, Lookup::Nothing) && self.walk.is_prose() {
            if let Some(len) = self.data(look)? {
                self.walk.go(self.walk.at + len);
                return Ok(true);
            }
        }
        if matches!(lookup, Lookup::Nothing) && self.walk.mode == Mode::Content {
            self.note_unknown(look)?;
        }
        let is_mark = match lookup {
            Lookup::Mark(..) => true,
            Lookup::Prefix => look.ended,
            Lookup::Nothing => false,
        };
        if let Lookup::Mark(_, len) = lookup {
            if look.special.is_some() && !self.walk.counts(look, len) {
                return Ok(false);
            }
        }
        // A mark that is quoted is talked about, not used.
        let walk = &mut self.walk;
        if is_mark && (walk.fenced_input || walk.mark_is_shown(look, lookup)) {
            walk.note_quoted(lookup);
            return Ok(false);
        }
        if let Lookup::Mark(mark, len) = lookup {
            if walk.is_prose() && walk.is_enclosed(look, mark, len)? {
                walk.note_quoted(lookup);
                return Ok(false);
            }
        }
        if is_mark && walk.is_quoted(look) {
            if let Lookup::Mark(_, len) = lookup {
                walk.quoted_to = walk.at + len;
            }
            walk.note_quoted(lookup);
            return Ok(false);
        }
        match lookup {
            Lookup::Mark(mark, len)
                if self.is_locked_out(look, mark, self.walk.at..self.walk.at + len, &by) =>
            {
                Ok(false)
            }
            Lookup::Mark(mark, len) if self.walk.echo.is_some_and(|echo| echo.hides(mark)) => {
                self.walk.echo = self.walk.echo.map(|echo| echo.behind(mark));
                self.walk.go(self.walk.at + len);
                Ok(true)
            }
            Lookup::Mark(mark @ (Meaning::Turn(own) | Meaning::Part(own)), len)
                if self.walk.mode != Mode::Dead =>
            {
                let Some(role) = echo::own_role(look, self.walk.at + len, own)? else {
                    self.walk.of_other(look);
                    return Ok(true);
                };
                // Once something was called, the model's own next turn is invented as well.
                if matches!(mark, Meaning::Part(_)) || !self.walk.foreign(look) {
                    let behind = self.walk.at + len + role;
                    self.walk.enclosure.pass_mark(look, self.walk.at, behind);
                    self.walk.go(behind);
                }
                Ok(true)
            }
            Lookup::Mark(mark, len) => self.enter_mark(look, mark, len, by),
            Lookup::Prefix if !look.ended => Err(More),
            Lookup::Prefix if self.walk.is_prose() => Ok(self.cut_mark(look)),
            _ => Ok(false),
        }
    }

    /// Whether the mark at `span` opens or closes a call in a format that counts no more. It is text, and so is what it opens.
    pub(super) fn is_locked_out(
        &mut self,
        look: Look<'_>,
        meaning: Meaning,
        span: Range<usize>,
        by: &By,
    ) -> bool {
        // A header says whose turn it is, too.
        let is_of_call = matches!(meaning, Meaning::Close)
            || meaning.opens() && !matches!(meaning, Meaning::Header(_));
        if !is_of_call || !self.walk.is_prose() || self.walk.draft.lock.is_open() {
            return false;
        }
        if self.walk.draft.lock.admits(by) {
            return false;
        }
        let token = look.slice(span.start, span.end);
        if meaning.opens() {
            self.walk.quoted_to = span.end;
            self.walk.draft.note(NoteKind::OtherFormat, span);
        } else if closes_alone(token) {
            self.walk.draft.was_data(span);
        }
        true
    }

    /// What begins here is data, by a sign that no table has: a tool's result behind a token, whose length this is, or a list of
    /// Python's calls where none are looked for.
    fn data(&mut self, look: Look<'_>) -> Result<Option<usize>, More> {
        let at = self.walk.at;
        if self.walk.shown.is_some() || self.walk.echo.is_some() {
            return Ok(None);
        }
        if !look.setup.python && look.rest(at).starts_with('[') {
            let name = python_names::first_name(look, at)?;
            let declared = &look.setup.declared;
            if name.is_some_and(|name| names::resolve(declared, CallKind::Tool, name).is_ok()) {
                self.walk.show(")]", false);
                return Ok(None);
            }
        }
        let Some(len) = unknown_mark::result(look, at)? else { return Ok(None) };
        if !self.walk.begins_line(look) || self.walk.foreign(look) {
            return Ok(None);
        }
        self.walk.echo = Some(Echo::marked(NEXT_TURN, false).beginning_line(true));
        Ok(Some(len))
    }

    /// Notes a mark that looks like a call's. It is text.
    fn note_unknown(&mut self, look: Look<'_>) -> Result<(), More> {
        const MOST: usize = 8;
        let at = self.walk.at;
        if self.walk.unknown_marks < MOST {
            if let Some(len) = unknown_mark::length(look, at)? {
                if !self.walk.is_shown(look) && !self.walk.is_quoted(look) {
                    self.walk.unknown_marks += 1;
                    self.walk.draft.note(NoteKind::UnknownMark, at..at + len);
                }
            }
        }
        Ok(())
    }

    /// A list of Python's calls behind prose on its line.
    fn list_in_line(&mut self, look: Look<'_>) -> Result<bool, More> {
        let Some(name) = python_names::first_name(look, self.walk.at)? else { return Ok(false) };
        let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
        let walk = &mut self.walk;
        if !is_declared || walk.echo.is_some() || walk.is_shown(look) {
            return Ok(false);
        }
        // Code is an example.
        let in_code = walk.fence.is_open() && !walk.begins_line(look);
        if in_code || python_names::is_of_code(look.slice(walk.start, walk.at)) {
            return Ok(false);
        }
        if walk.enclosure.holds(look, walk.at, Enclosed::default())? || walk.is_quoted(look) {
            return Ok(false);
        }
        self.bare_python(look, self.walk.at)
    }

    pub(super) fn enter_mark(
        &mut self,
        look: Look<'_>,
        mark: Meaning,
        len: usize,
        by: By,
    ) -> Result<bool, More> {
        if mark.opens() && len > 0 {
            self.walk.enters(by);
        }
        match mark {
            _ if self.walk.is_of_other => return Ok(false),
            Meaning::Think(closes, until) => {
                self.walk.enclosure.read(look, self.walk.at);
                self.read(look, Think::new(self.walk.at + len, closes, until));
            }
            Meaning::EndThink => {
                let next = think::close(&mut self.walk, look, len)?;
                self.follow(next);
            }
            Meaning::SuffixedThink(close) => self.suffixed(look, len, Tag::Think(close)),
            Meaning::SuffixedEndThink => self.suffixed(look, len, Tag::EndThink),
            _ if self.walk.mode == Mode::Dead => return Ok(false),
            Meaning::SuffixedClose => self.suffixed(look, len, Tag::Close),
            Meaning::Stop => {
                let behind = self.walk.at + len;
                let is_other = echo::begins_other(look, behind)?;
                self.walk.enclosure.pass_mark(look, self.walk.at, behind);
                self.walk.go(behind);
                if is_other {
                    self.walk.of_other(look);
                }
            }
            Meaning::Foreign if !matches!(self.walk.mode, Mode::Answer(_)) => {
                if !self.walk.foreign(look) {
                    self.walk.go(self.walk.at + len);
                }
            }
            Meaning::Result(closes) if !matches!(self.walk.mode, Mode::Answer(_)) => {
                let behind = self.walk.at + len;
                let tag = echo::rest_of_tag(look, self.walk.at, behind)?;
                if !self.walk.foreign(look) {
                    let echo = Echo::marked(closes, self.walk.echo.is_some());
                    self.walk.echo = Some(echo.beginning_line(self.walk.begins_line(look)));
                    self.walk.go(behind + tag);
                }
            }
            Meaning::Open(rule) if self.walk.is_prose() => {
                self.read(look, Dispatch::new(self.walk.at, self.walk.at + len, rule));
            }
            Meaning::Header(words) => self.header(look, len, words),
            Meaning::Elements(words) if self.walk.is_prose() => {
                self.read(look, NestedXml::new(self.walk.at, self.walk.at + len, words));
            }
            Meaning::Section(closes) if self.walk.is_prose() => {
                self.read(look, Recovery::section(self.walk.at, self.walk.at + len, closes));
            }
            Meaning::Suffixed(call) if self.walk.is_prose() => {
                self.suffixed(look, len, Tag::Call(call));
            }
            Meaning::Answer if self.walk.is_prose() => {
                if self.walk.leave(look) {
                    self.walk.mode = Mode::Answer(self.walk.at);
                    self.walk.go(self.walk.at + len);
                }
            }
            Meaning::EndAnswer => {
                if let Mode::Answer(_) = self.walk.mode {
                    self.walk.settle(look);
                    self.walk.mode = Mode::Dead;
                }
                self.walk.go(self.walk.at + len);
            }
            Meaning::Words(close) if self.walk.is_prose() => {
                self.read(look, WordCall::new(self.walk.at, self.walk.at + len, close));
            }
            Meaning::Attributes if self.walk.is_prose() => {
                self.read(look, AttributeCall::new(self.walk.at, self.walk.at + len));
            }
            Meaning::Comment(close) if self.walk.is_prose() => {
                self.walk.show(close, false);
                return Ok(false);
            }
            Meaning::Close if self.walk.is_prose() => self.walk.go(self.walk.at + len),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn suffixed(&mut self, look: Look<'_>, len: usize, tag: Tag) {
        self.read(look, SuffixedTag::new(self.walk.at, self.walk.at + len, tag));
    }

    /// A message's header. The one before is over, and so is its answer.
    pub(super) fn header(&mut self, look: Look<'_>, len: usize, words: &'static Headers) {
        if let Mode::Answer(_) = self.walk.mode {
            self.walk.settle(look);
            self.walk.mode = Mode::Dead;
            return;
        }
        self.read(look, Header::new(self.walk.at, self.walk.at + len, words));
    }

    /// The text broke off inside a mark: it is never shown, and a call's mark was to be a call.
    fn cut_mark(&mut self, look: Look<'_>) -> bool {
        let Some(opens) = look.setup.marks.cut(look.rest(self.walk.at)) else { return false };
        if opens && self.walk.echo.is_none() {
            self.walk.truncated(look, self.walk.at, None, Expected::Rest);
        }
        self.walk.at = look.text.len();
        true
    }

    /// Text up to where the next mark may begin.
    fn plain(&mut self, look: Look<'_>) {
        let bytes = look.rest(self.walk.at).as_bytes();
        let mut fresh = bytes.first() == Some(&b'\n');
        let mut len = 1;
        while let Some(mut rest) = bytes.get(len..) {
            if !fresh && look.setup.is_free {
                let stops = |byte: &u8| {
                    STOPS.contains(byte) || look.setup.may_begin_inside(std::slice::from_ref(byte))
                };
                len += rest.iter().position(stops).unwrap_or(rest.len());
                rest = bytes.get(len..).unwrap_or_default();
            } else if !fresh {
                len += eights::before_any(rest, STOPS);
                rest = bytes.get(len..).unwrap_or_default();
            }
            let Some(&byte) = rest.first() else { break };
            let mark = match rest {
                [_, _, ..] => look.setup.marks.may_stand(rest) || unknown_mark::may_begin(rest),
                _ => marks::may_begin(byte),
            };
            if mark
                || look.setup.may_begin_inside(rest)
                || fresh && (may_begin_line(byte) || look.setup.may_begin_line(rest))
            {
                break;
            }
            fresh = byte == b'\n';
            len += 1;
        }
        while !look.text.is_char_boundary(self.walk.at + len) {
            len += 1;
        }
        let len = len.min(bytes.len());
        self.walk.push(look, self.walk.at, self.walk.at + len);
        self.walk.at += len;
        self.walk.fresh = fresh;
    }

    /// The reply, when the text has ended.
    pub(crate) fn into_reply(mut self, text: &str, finish: Finish, out: &mut Vec<Event>) -> Reply {
        std::mem::swap(&mut self.walk.draft.events, out);
        self.walk.draft.close_notes(text.len());
        self.walk.draft.commit();
        std::mem::swap(&mut self.walk.draft.events, out);
        self.walk.draft.into_reply(finish)
    }
}

/// Whether a close mark is that of a call, or of its wrapper: where no such call began, what stands before it was its value.
fn closes_alone(token: &str) -> bool {
    token.starts_with("</") && !matches!(token, "</answer>" | "</response>")
}

/// What ends a result that has no end of its own.
const NEXT_TURN: &[&str] = &["<|assistant|>", "<|im_start|>assistant"];

/// The bytes with which a mark or a line begins.
const STOPS: [u8; 5] = {
    let [a, b, c, d] = marks::FIRSTS;
    [b'\n', a, b, c, d]
};

/// Whether a mark of lines may begin with `byte`.
fn may_begin_line(byte: u8) -> bool {
    labels::may_begin(byte) || matches!(byte, b'{' | b'[' | b'>' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::{STOPS, marks};

    #[test]
    fn text_is_passed_over_up_to_where_a_mark_or_a_line_may_begin() {
        for byte in 0..=u8::MAX {
            let begins = byte == b'\n' || marks::may_begin(byte);
            assert_eq!(STOPS.contains(&byte), begins, "{byte:#x}");
        }
    }
}
