//! Finds where a JSON object ends, and writes it out as valid JSON, while the text comes.
//!
//! One pass with a stack of its own: it knows what is a string and what is not, so a `}` in a string is data, and no
//! input can overflow the program's stack. It stops wherever the text stops, and goes on from there. What models get
//! wrong around strings is mended on the way; see [`repair`](super::repair).

use crate::{
    json::{
        fault::{Repair, RepairKind},
        json_text,
        members::{self, Member},
        token::{Inside, is_quote},
    },
    text::{
        labels::{self, LabelKind, Line},
        marks::STOPS,
        presence::{self, More},
    },
    work,
};

/// `serde_json` reads 127 levels; what it could not decode is not handed on.
const DEEPEST: usize = 127;
/// How many repairs of one object are told one by one.
const REPAIRS: usize = 64;

/// What may close an object whose own closers are missing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    /// The format's end marks. A token that ends the turn closes every format.
    pub(crate) tags: &'static [&'static str],
    /// A line that begins with a label: `Observation:` closes, any other one breaks the object off.
    pub(crate) labels: bool,
    /// A code fence.
    pub(crate) fence: bool,
}

/// How values are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Json,
    /// Python's literals; the outermost object is `(key=value, …)`.
    Python,
    /// Keys without quotes, and strings as they are between two of these.
    Quoted(&'static str),
}

/// What came of reading on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// The text stops, and will go on.
    More,
    /// The object is read whole.
    Done,
    /// It cannot be read. [`Scan::at`] is where.
    Bad,
    /// The text ended inside it.
    Cut,
    /// A member of the outermost object was read, and nobody knows yet whether the object is a call.
    Member,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    Key,
    Colon,
    Value,
    Comma,
}

/// What a token did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Next,
    Done,
    Bad,
    More,
}

#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) object: bool,
    /// It closes with `)`.
    round: bool,
    doubled: bool,
    filled: bool,
    /// Where it begins in what is written.
    start: usize,
    /// Its first member.
    pub(crate) base: usize,
}

/// The state of one pass. [`repair`](super::repair) has the methods that read single tokens.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) at: usize,
    /// The last start of a line that is not inside a string. `None` on the first line.
    pub(crate) line: Option<usize>,
    /// Only blanks stand between the start of the line and here.
    pub(crate) line_is_blank: bool,
    pub(crate) out: String,
    pub(crate) frames: Vec<Frame>,
    pub(crate) members: Vec<Member>,
    /// The members of the last object that was read within the outermost one, and where that begins in what is written.
    pub(super) inner: Vec<Member>,
    pub(super) inner_at: usize,
    pub(crate) want: Want,
    pub(crate) inside: Inside,
    /// The text stopped in words without quotes.
    pub(crate) in_words: bool,
    /// How far an unfinished look ahead has come.
    pub(crate) ahead: usize,
    pub(crate) repairs: Vec<Repair>,
    /// A letter that could have been written as it is was escaped.
    pub(crate) escaped: bool,
    pub(crate) ends: Ends,
    pub(crate) dialect: Dialect,
    /// No mark says that this is a call: a line break inside a key ends it.
    pub(crate) bare: bool,
    /// A member of the outermost object was read.
    pause: bool,
    /// It is text: a line break inside any string ends it.
    pub(crate) released: bool,
    /// The parameter whose value may stand without its name.
    pub(crate) positional: Option<String>,
    /// Python's words are no faults.
    pub(crate) native_words: bool,
    /// What [`Scan::takes`] came to.
    met: Option<Read>,
}

/// A piece of text, and whether it goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    pub(crate) ended: bool,
}

impl Scan {
    /// Reads the value that begins at byte `at`.
    pub(crate) fn new(at: usize, ends: Ends) -> Self {
        let (frames, members) = (Vec::with_capacity(4), Vec::with_capacity(4));
        Self::with(at, ends, String::with_capacity(512), frames, members, Vec::new())
    }

    /// The same in the room of one that was read, if there is one.
    pub(crate) fn reusing(spare: &mut Option<Box<Self>>, at: usize, ends: Ends) -> Box<Self> {
        let Some(mut scan) = spare.take() else { return Box::new(Self::new(at, ends)) };
        let mut out = std::mem::take(&mut scan.out);
        let mut frames = std::mem::take(&mut scan.frames);
        let mut members = std::mem::take(&mut scan.members);
        let mut inner = std::mem::take(&mut scan.inner);
        out.clear();
        frames.clear();
        members.clear();
        inner.clear();
        *scan = Self::with(at, ends, out, frames, members, inner);
        scan
    }

    fn with(
        at: usize,
        ends: Ends,
        out: String,
        frames: Vec<Frame>,
        members: Vec<Member>,
        inner: Vec<Member>,
    ) -> Self {
        Self {
            at,
            line: None,
            line_is_blank: false,
            out,
            frames,
            members,
            inner,
            inner_at: 0,
            want: Want::Value,
            inside: Inside::Nothing,
            in_words: false,
            ahead: 0,
            repairs: Vec::new(),
            escaped: false,
            ends,
            dialect: Dialect::Json,
            bare: false,
            pause: false,
            released: false,
            positional: None,
            native_words: false,
            met: None,
        }
    }

    /// Reads on in a text that will go on. `false` when it came to more than to where the text stops, and the next
    /// [`Scan::read`] says what that is.
    #[inline]
    pub(crate) fn takes(&mut self, text: &str) -> bool {
        // What most pieces of a long call are: more of a string.
        let more = text.get(self.at..).unwrap_or_default();
        if self.inside == Inside::Text('"') && json_text::plain(more.as_bytes()) == more.len() {
            work::count(more.len());
            self.out.push_str(more);
            self.at += more.len();
            return true;
        }
        let read = self.read(text, false);
        self.met = (read != Read::More).then_some(read);
        self.met.is_none()
    }

    /// Reads on in `text`.
    #[inline]
    pub(crate) fn read(&mut self, text: &str, ended: bool) -> Read {
        if let Some(met) = self.met.take() {
            return met;
        }
        let from = self.at;
        let read = self.run(Text { text, ended });
        work::count(self.at.saturating_sub(from));
        read
    }

    #[inline]
    fn run(&mut self, input: Text<'_>) -> Read {
        loop {
            let step = match self.inside {
                Inside::Nothing => match self.skip_blank(input) {
                    Ok(Some(next)) => self.step(next, input),
                    Ok(None) => continue,
                    Err(More) => Step::More,
                },
                _ => self.resume(input),
            };
            match step {
                Step::Next if self.pause => {
                    self.pause = false;
                    return Read::Member;
                }
                Step::Next => self.separator(input.text),
                Step::Done => return Read::Done,
                Step::Bad => return Read::Bad,
                Step::More if input.ended => return Read::Cut,
                Step::More => return Read::More,
            }
        }
    }

    /// Takes the colon or the comma that stands at once behind a key or a value, as it nearly always does.
    #[inline]
    fn separator(&mut self, text: &str) {
        if self.inside != Inside::Nothing {
            return;
        }
        match (self.want, text.as_bytes().get(self.at)) {
            (Want::Colon, Some(b':')) if self.dialect == Dialect::Json => {
                self.at += 1;
                self.begin_value();
            }
            (Want::Comma, Some(b',')) => {
                self.at += 1;
                self.want_next();
            }
            _ => return,
        }
        self.line_is_blank = false;
    }

    /// Reads one token.
    fn step(&mut self, next: char, input: Text<'_>) -> Step {
        if next == '"' && self.dialect == Dialect::Json && self.positional.is_none() {
            match self.want {
                Want::Key => {
                    self.open_key();
                    return self.plain_string(input);
                }
                Want::Value => {
                    if self.frames.last().is_some_and(|frame| !frame.object) {
                        self.open_slot();
                    }
                    return self.plain_string(input);
                }
                _ => {}
            }
        }
        if !matches!(next, '"' | ',' | ':' | '}' | ']' | '{') {
            match self.ends_here(input) {
                Ok(false) => {}
                Ok(true) => return self.close_all(),
                Err(More) => return Step::More,
            }
        }
        let step = match self.want {
            Want::Key => self.key(next, input),
            Want::Colon => self.colon(next),
            Want::Value => self.value(next, input),
            Want::Comma => self.comma(next, input),
        };
        if step == Step::Next {
            self.line_is_blank = false;
        }
        step
    }

    /// Reads a string as JSON writes it.
    fn plain_string(&mut self, input: Text<'_>) -> Step {
        self.at += 1;
        self.out.push('"');
        self.inside = Inside::Text('"');
        self.line_is_blank = false;
        self.string('"', input)
    }

    fn key(&mut self, next: char, input: Text<'_>) -> Step {
        match next {
            _ if self.closes_frame(next) => return self.close(next),
            ',' => {
                self.mended(RepairKind::Comma);
                self.skip(next);
                return Step::Next;
            }
            '{' if self.dialect == Dialect::Json => return self.double(),
            _ => {}
        }
        if let Dialect::Quoted(quote) = self.dialect {
            return self.quoted_key(quote, input);
        }
        let is_first = self.frames.len() == 1 && self.members.is_empty();
        if is_first && matches!(next, '"' | '\'' | '[' | '-' | '0'..='9') {
            if let Some(only) = self.positional.take() {
                let mut written = String::new();
                json_text::push(&mut written, &only);
                self.begin_member(&written);
                self.begin_value();
                return Step::Next;
            }
        }
        if !is_quote(next) {
            return self.bare_key(input);
        }
        self.open_key();
        self.open_string(next);
        self.resume(input)
    }

    /// Remembers the key that was written.
    pub(crate) fn end_key(&mut self) {
        let end = self.out.len();
        if let Some(member) = self.members.last_mut() {
            member.key.end = end;
        }
        self.want = Want::Colon;
        self.pause = self.bare && self.frames.len() == 1;
    }

    pub(crate) fn begin_member(&mut self, written: &str) {
        self.open_key();
        self.out.push('"');
        self.out.push_str(written);
        self.out.push('"');
        self.end_key();
    }

    /// Begins a member, whose key is written next.
    fn open_key(&mut self) {
        let start = self.open_slot();
        self.members.push(Member { start, key: start..start, value: 0..0 });
    }

    fn colon(&mut self, next: char) -> Step {
        let keyword = self.dialect == Dialect::Python && self.frames.len() == 1;
        match next {
            '=' if keyword => {}
            ':' if !keyword => {}
            '：' if !keyword => self.mended(RepairKind::Colon),
            // It is missing.
            _ if self.dialect == Dialect::Json && is_quote(next) => {
                self.mended(RepairKind::Colon);
                self.begin_value();
                return Step::Next;
            }
            _ => return Step::Bad,
        }
        self.skip(next);
        self.begin_value();
        Step::Next
    }

    /// Writes the colon. The value begins behind it.
    fn begin_value(&mut self) {
        self.out.push(':');
        let start = self.out.len();
        if let Some(member) = self.members.last_mut() {
            member.value = start..start;
        }
        self.want = Want::Value;
    }

    fn value(&mut self, next: char, input: Text<'_>) -> Step {
        let in_array = self.frames.last().is_some_and(|frame| !frame.object);
        match next {
            _ if in_array && self.closes_frame(next) => return self.close(next),
            ',' if in_array => {
                self.mended(RepairKind::Comma);
                self.skip(next);
                return Step::Next;
            }
            '{' | '[' => {
                if in_array && self.frames.len() < DEEPEST {
                    self.open_slot();
                }
                return self.open(next);
            }
            '(' if self.dialect == Dialect::Python => {
                if in_array {
                    self.open_slot();
                }
                return self.open(next);
            }
            _ => {}
        }
        if let Dialect::Quoted(quote) = self.dialect {
            match presence::of(self.rest(input), quote, input.ended) {
                presence::Presence::Yes => {
                    if in_array {
                        self.open_slot();
                    }
                    return self.quoted(quote, input);
                }
                presence::Presence::More => return Step::More,
                // The text ends in it.
                presence::Presence::No if quote.starts_with(self.rest(input)) => return Step::More,
                presence::Presence::No => {}
            }
        }
        if !is_quote(next) {
            return self.literal(in_array, input);
        }
        if in_array {
            self.open_slot();
        }
        self.open_string(next);
        self.resume(input)
    }

    fn comma(&mut self, next: char, input: Text<'_>) -> Step {
        match next {
            ',' => self.skip(next),
            _ if self.closes_frame(next) => return self.close(next),
            '}' | ']' => return self.extra_closer(next),
            '"' | '\'' if self.dialect == Dialect::Python && self.out.ends_with('"') => {
                return self.join_string(next, input);
            }
            _ => match self.label(input) {
                Ok(None) => self.mended(RepairKind::Comma),
                Ok(Some(_)) => return Step::Bad,
                Err(More) => return Step::More,
            },
        }
        self.want_next();
        Step::Next
    }

    /// Behind a comma: another key, or another item.
    fn want_next(&mut self) {
        let object = self.frames.last().is_some_and(|frame| frame.object);
        self.want = if object { Want::Key } else { Want::Value };
    }

    fn closes_frame(&self, letter: char) -> bool {
        self.frames.last().is_some_and(|frame| match letter {
            ')' => frame.round,
            '}' => frame.object && !frame.round,
            ']' => !frame.object && !frame.round,
            _ => false,
        })
    }

    fn open(&mut self, bracket: char) -> Step {
        if self.frames.len() >= DEEPEST {
            return Step::Bad;
        }
        let start = self.out.len();
        let object = bracket == '{' || bracket == '(' && self.frames.is_empty();
        self.skip(bracket);
        self.out.push(if object { '{' } else { '[' });
        let base = self.members.len();
        self.frames.push(Frame {
            object,
            round: bracket == '(',
            doubled: false,
            filled: false,
            start,
            base,
        });
        self.want = if object { Want::Key } else { Want::Value };
        Step::Next
    }

    /// A second brace behind the first: the model copied a template in which braces are doubled.
    fn double(&mut self) -> Step {
        match self.frames.last_mut() {
            Some(frame) if !frame.filled && !frame.doubled => frame.doubled = true,
            _ => return Step::Bad,
        }
        self.mended(RepairKind::Brace);
        self.skip('{');
        Step::Next
    }

    fn close(&mut self, bracket: char) -> Step {
        let (filled, doubled) =
            self.frames.last().map_or((false, false), |frame| (frame.filled, frame.doubled));
        if filled && self.want != Want::Comma && self.dialect == Dialect::Json {
            self.mended(RepairKind::Comma);
        }
        self.skip(bracket);
        let bracket = if self.frames.last().is_some_and(|frame| frame.object) { '}' } else { ']' };
        if doubled {
            self.inside = Inside::Doubled;
            return Step::Next;
        }
        self.pop(bracket)
    }

    /// Ends the innermost value. The outermost one stays, so that its members can be asked for.
    pub(crate) fn pop(&mut self, bracket: char) -> Step {
        if let Some(frame) = self.frames.last() {
            if frame.object {
                let (base, start) = (frame.base, frame.start);
                if members::keep_last(&mut self.out, &mut self.members, base, start) {
                    self.inner.clear();
                }
            }
        }
        self.out.push(bracket);
        if self.frames.len() <= 1 {
            return Step::Done;
        }
        if let Some(frame) = self.frames.pop() {
            if self.frames.len() == 1 && frame.object {
                self.inner.clear();
                self.inner.extend(self.members.drain(frame.base..));
                self.inner_at = frame.start;
            }
            self.members.truncate(frame.base);
        }
        self.end_value()
    }

    pub(crate) fn end_value(&mut self) -> Step {
        let end = self.out.len();
        let object = self.frames.last().is_some_and(|frame| frame.object);
        if let Some(member) = self.members.last_mut().filter(|_| object) {
            member.value.end = end;
        }
        self.want = Want::Comma;
        self.pause = self.bare && self.frames.len() == 1;
        Step::Next
    }

    /// `}` in an array or `]` in an object. One that closes nothing outside is one too many; any other one would leave
    /// out a closer in the middle, and where that belongs is anyone's guess.
    fn extra_closer(&mut self, bracket: char) -> Step {
        let object = bracket == '}';
        let is_open = self.frames.iter().any(|frame| frame.object == object && !frame.round);
        if is_open || self.dialect != Dialect::Json {
            return Step::Bad;
        }
        self.mended(RepairKind::Brace);
        self.skip(bracket);
        Step::Next
    }

    /// Writes the comma before a key or an item, if it is not the first. Trailing commas are so never written.
    pub(crate) fn open_slot(&mut self) -> usize {
        if let Some(frame) = self.frames.last_mut() {
            if frame.filled {
                self.out.push(',');
            }
            frame.filled = true;
        }
        self.out.len()
    }

    /// Whether the format's own end stands here, between two members.
    fn ends_here(&self, input: Text<'_>) -> Result<bool, More> {
        let object = self.frames.last().is_some_and(|frame| frame.object);
        let between = match self.want {
            Want::Comma => true,
            Want::Key => object,
            Want::Value => !object && !self.frames.is_empty(),
            Want::Colon => false,
        };
        if !between {
            return Ok(false);
        }
        let rest = self.rest(input);
        if !self.ends.tags.is_empty() && presence::any(rest, self.ends.tags, input.ended)?.is_some()
        {
            return Ok(true);
        }
        if rest.starts_with('<') && presence::any(rest, &STOPS, input.ended)?.is_some() {
            return Ok(true);
        }
        if self.ends.fence
            && rest.starts_with('`')
            && presence::any(rest, &["```"], input.ended)?.is_some()
        {
            return Ok(true);
        }
        Ok(self.want == Want::Comma && self.label(input)? == Some(LabelKind::Observation))
    }

    /// The label of the line, when this is where the line begins.
    fn label(&self, input: Text<'_>) -> Result<Option<LabelKind>, More> {
        let Some(line) = self.line.filter(|_| self.ends.labels && self.line_is_blank) else {
            return Ok(None);
        };
        match labels::at(input.text.get(line..).unwrap_or_default(), input.ended) {
            Line::Label(label) => Ok(Some(label.kind)),
            Line::Other => Ok(None),
            Line::More => Err(More),
        }
    }

    fn close_all(&mut self) -> Step {
        self.mended(RepairKind::Closer);
        loop {
            let object = self.frames.last().is_some_and(|frame| frame.object);
            if self.pop(if object { '}' } else { ']' }) == Step::Done {
                return Step::Done;
            }
        }
    }

    /// How many brackets are open.
    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn mended(&mut self, kind: RepairKind) {
        let native = matches!(kind, RepairKind::Quotes | RepairKind::Literal | RepairKind::Key);
        let is_native =
            self.dialect != Dialect::Json || self.native_words && kind == RepairKind::Literal;
        if native && is_native {
            return;
        }
        if self.repairs.len() < REPAIRS {
            self.repairs.push(Repair { kind, at: self.at });
        }
    }

    pub(crate) fn rest<'a>(&self, input: Text<'a>) -> &'a str {
        input.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn skip(&mut self, letter: char) {
        self.at += letter.len_utf8();
    }
}
