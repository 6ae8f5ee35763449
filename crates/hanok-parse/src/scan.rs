//! Finds where a JSON object ends, and writes it out as valid JSON.
//!
//! One pass with a stack of its own: it knows what is a string and what is not, so a `}` in a string is data, and no
//! input can overflow the program's stack. What models get wrong around strings is mended on the way; see
//! [`crate::repair`].

use std::{collections::HashMap, ops::Range};

use crate::{
    labels::{self, LabelKind},
    marks::STOPS,
};

/// `serde_json` reads 127 levels; what it could not decode is not handed on.
const DEEPEST: usize = 127;

/// What may close an object whose own closers are missing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ends {
    /// The format's end tag. A token that ends the turn closes every format.
    pub(crate) tag: Option<&'static str>,
    /// A line that begins with a label: `Observation:` closes, any other one breaks the object off.
    pub(crate) labels: bool,
    /// A code fence.
    pub(crate) fence: bool,
}

/// An object that was read whole.
#[derive(Debug)]
pub(crate) struct Object {
    /// Valid JSON without white space, duplicates removed.
    pub(crate) json: String,
    members: Vec<Member>,
    /// Where reading ended.
    pub(crate) end: usize,
    /// Whether anything was mended.
    pub(crate) repaired: bool,
}

/// Why an object could not be read.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The text ended inside the object.
    pub(crate) truncated: bool,
    /// Where reading failed.
    pub(crate) at: usize,
    /// The last start of a line that is not inside a string, where reading can go on. `None` on the first line.
    pub(crate) line: Option<usize>,
    /// How many brackets were open.
    depth: usize,
    /// The object may not go on behind the line: labels begin there.
    one_line: bool,
    /// What was read so far.
    pub(crate) partial: Partial,
}

impl Fault {
    /// Where the object ends that could not be read: where its brackets balance, strings left aside. `None` when a tag,
    /// a label's line or the end of the text comes first.
    pub(crate) fn end(&self, text: &str) -> Option<usize> {
        let mut depth = self.depth;
        let (mut in_string, mut escaped) = (false, false);
        for (at, byte) in (self.at..).zip(text.get(self.at..)?.bytes()) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = in_string,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'<' => return None,
                b'\n' if self.one_line => return None,
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return Some(at + 1),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}

/// The outermost members of an object that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    json: String,
    members: Vec<Member>,
}

#[derive(Debug, Clone)]
struct Member {
    key: String,
    /// The whole member, its key included.
    start: usize,
    value: Range<usize>,
}

impl Object {
    /// The JSON text of a member of the outermost object.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        value(&self.json, &self.members, key)
    }
}

impl Partial {
    /// The JSON text of a member that was read whole.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        value(&self.json, &self.members, key).filter(|value| !value.is_empty())
    }

    /// The keys so far, the last of which may have no value yet.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.key.as_str())
    }
}

fn value<'a>(json: &'a str, members: &[Member], key: &str) -> Option<&'a str> {
    let member = members.iter().rfind(|member| member.key == key)?;
    json.get(member.value.clone())
}

/// Reads the object that begins at byte `start` of `text`.
pub(crate) fn object(text: &str, start: usize, ends: Ends) -> Result<Object, Fault> {
    let scanner = Scanner {
        text,
        at: start,
        line: None,
        out: String::new(),
        frames: Vec::new(),
        want: Want::Value,
        repaired: false,
        ends,
    };
    let read = scanner.run();
    #[cfg(test)]
    work::count(read.as_ref().map_or_else(|fault| fault.at, |object| object.end) - start);
    read
}

/// Counts the bytes that are scanned, so that a test can see whether any are scanned too often.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static SCANNED: Cell<usize> = const { Cell::new(0) });

    pub(crate) fn count(bytes: usize) {
        SCANNED.set(SCANNED.get() + bytes);
    }

    pub(crate) fn take() -> usize {
        SCANNED.take()
    }
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Key,
    Colon,
    Value,
    Comma,
}

enum Step {
    Next,
    Done,
    Bad,
}

#[derive(Debug)]
struct Frame {
    object: bool,
    doubled: bool,
    start: usize,
    filled: bool,
    members: Vec<Member>,
}

/// The state of one pass. [`crate::repair`] has the methods that read single tokens.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    pub(crate) line: Option<usize>,
    pub(crate) out: String,
    frames: Vec<Frame>,
    want: Want,
    pub(crate) repaired: bool,
    ends: Ends,
}

impl Scanner<'_> {
    fn run(mut self) -> Result<Object, Fault> {
        loop {
            self.skip_blank();
            let step = self.peek().map(|next| self.step(next));
            match step {
                Some(Some(Step::Next)) => {}
                Some(Some(Step::Done)) => return Ok(self.into_object()),
                Some(Some(Step::Bad)) => return Err(self.into_fault(false)),
                // The text ended before a token, or inside one.
                None | Some(None) => return Err(self.into_fault(true)),
            }
        }
    }

    /// Reads one token. `None` when the text ends inside it.
    fn step(&mut self, next: char) -> Option<Step> {
        if self.ends_here() {
            return Some(self.close_all());
        }
        match self.want {
            Want::Key => self.key(next),
            Want::Colon => Some(self.colon(next)),
            Want::Value => self.value(next),
            Want::Comma => Some(self.comma(next)),
        }
    }

    fn key(&mut self, next: char) -> Option<Step> {
        match next {
            '}' => return Some(self.close()),
            ',' => {
                self.repaired = true;
                self.skip(next);
                return Some(Step::Next);
            }
            '{' => return Some(self.double()),
            _ => {}
        }
        let start = self.open_slot();
        let written = self.out.len();
        match next {
            quote if is_quote(quote) => self.string(quote)?,
            _ if !self.bare_key() => return Some(Step::Bad),
            _ => {}
        }
        let key = unquoted(self.out.get(written..).unwrap_or_default());
        let frame = self.frames.last_mut()?;
        frame.members.push(Member { key, start, value: 0..0 });
        self.want = Want::Colon;
        Some(Step::Next)
    }

    fn colon(&mut self, next: char) -> Step {
        if !matches!(next, ':' | '：') {
            return Step::Bad;
        }
        self.skip(next);
        self.out.push(':');
        let start = self.out.len();
        if let Some(member) = self.frames.last_mut().and_then(|frame| frame.members.last_mut()) {
            member.value = start..start;
        }
        self.want = Want::Value;
        Step::Next
    }

    fn value(&mut self, next: char) -> Option<Step> {
        let in_array = self.frames.last().is_some_and(|frame| !frame.object);
        match next {
            ']' if in_array => return Some(self.close()),
            ',' if in_array => {
                self.repaired = true;
                self.skip(next);
                return Some(Step::Next);
            }
            _ if in_array => {
                self.open_slot();
            }
            _ => {}
        }
        match next {
            '{' | '[' => return Some(self.open(next)),
            quote if is_quote(quote) => self.string(quote)?,
            _ if !self.literal() => return Some(Step::Bad),
            _ => {}
        }
        Some(self.end_value())
    }

    fn comma(&mut self, next: char) -> Step {
        let object = self.frames.last().is_some_and(|frame| frame.object);
        match next {
            ',' => self.skip(next),
            '}' if object => return self.close(),
            ']' if !object => return self.close(),
            '}' | ']' => return self.extra_closer(next),
            _ if self.label().is_some() => return Step::Bad,
            _ => self.repaired = true,
        }
        self.want = if object { Want::Key } else { Want::Value };
        Step::Next
    }

    fn open(&mut self, bracket: char) -> Step {
        if self.frames.len() >= DEEPEST {
            return Step::Bad;
        }
        let (object, start) = (bracket == '{', self.out.len());
        self.skip(bracket);
        self.out.push(bracket);
        self.frames.push(Frame {
            object,
            doubled: false,
            start,
            filled: false,
            members: Vec::new(),
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
        self.repaired = true;
        self.skip('{');
        Step::Next
    }

    fn close(&mut self) -> Step {
        let bracket = if self.frames.last().is_some_and(|frame| frame.object) { '}' } else { ']' };
        self.skip(bracket);
        if self.frames.last().is_some_and(|frame| frame.doubled) {
            self.skip_blank();
            if self.peek() == Some('}') {
                self.skip('}');
            }
        }
        self.repaired |=
            self.frames.last().is_some_and(|frame| frame.filled) && self.want != Want::Comma;
        self.pop(bracket)
    }

    /// Ends the innermost value. The outermost one stays, so that its members can be asked for.
    fn pop(&mut self, bracket: char) -> Step {
        self.remove_duplicates();
        self.out.push(bracket);
        if self.frames.len() <= 1 {
            return Step::Done;
        }
        self.frames.pop();
        self.end_value()
    }

    fn end_value(&mut self) -> Step {
        let end = self.out.len();
        if let Some(member) = self.frames.last_mut().and_then(|frame| frame.members.last_mut()) {
            member.value.end = end;
        }
        self.want = Want::Comma;
        Step::Next
    }

    /// `}` in an array or `]` in an object. One that closes nothing outside is one too many; any other one would leave
    /// out a closer in the middle, and where that belongs is anyone's guess.
    fn extra_closer(&mut self, bracket: char) -> Step {
        let object = bracket == '}';
        if self.frames.iter().any(|frame| frame.object == object) {
            return Step::Bad;
        }
        self.repaired = true;
        self.skip(bracket);
        Step::Next
    }

    /// Writes the comma before a key or an item, if it is not the first. Trailing commas are so never written.
    fn open_slot(&mut self) -> usize {
        if let Some(frame) = self.frames.last_mut() {
            if frame.filled {
                self.out.push(',');
            }
            frame.filled = true;
        }
        self.out.len()
    }

    /// Whether the format's own end stands here, between two members.
    fn ends_here(&self) -> bool {
        let object = self.frames.last().is_some_and(|frame| frame.object);
        let between = match self.want {
            Want::Comma => true,
            Want::Key => object,
            Want::Value => !object && !self.frames.is_empty(),
            Want::Colon => false,
        };
        let rest = self.rest();
        between
            && (self.ends.tag.is_some_and(|tag| rest.starts_with(tag))
                || rest.starts_with('<') && STOPS.iter().any(|stop| rest.starts_with(stop))
                || self.ends.fence && rest.starts_with("```")
                || self.want == Want::Comma && self.label() == Some(LabelKind::Observation))
    }

    /// The label of the line, when this is where the line begins.
    fn label(&self) -> Option<LabelKind> {
        let line = self.line.filter(|_| self.ends.labels)?;
        let before = self.text.get(line..self.at)?;
        if !before.chars().all(labels::is_blank) {
            return None;
        }
        labels::at(self.text.get(line..)?).map(|label| label.kind)
    }

    fn close_all(&mut self) -> Step {
        self.repaired = true;
        loop {
            let object = self.frames.last().is_some_and(|frame| frame.object);
            if let Step::Done = self.pop(if object { '}' } else { ']' }) {
                return Step::Done;
            }
        }
    }

    /// Keeps the last of the members with one key.
    fn remove_duplicates(&mut self) {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.members.len() > 1) else {
            return;
        };
        let last: HashMap<&str, usize> = frame
            .members
            .iter()
            .enumerate()
            .map(|(at, member)| (member.key.as_str(), at))
            .collect();
        if last.len() == frame.members.len() {
            return;
        }
        let keep: Vec<bool> = frame
            .members
            .iter()
            .enumerate()
            .map(|(at, member)| last.get(member.key.as_str()) == Some(&at))
            .collect();
        let old = self.out.split_off((frame.start + 1).min(self.out.len()));
        let base = frame.start + 1;
        let mut kept = keep.into_iter();
        frame.members.retain(|_| kept.next().unwrap_or(true));
        for (at, member) in frame.members.iter_mut().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            let moved = self.out.len();
            let text = old.get(member.start - base..member.value.end - base).unwrap_or_default();
            self.out.push_str(text);
            member.value = moved + (member.value.start - member.start)..self.out.len();
            member.start = moved;
        }
    }

    pub(crate) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn skip(&mut self, letter: char) {
        self.at += letter.len_utf8();
    }

    fn into_object(mut self) -> Object {
        let members = self.frames.pop().map_or_else(Vec::new, |root| root.members);
        Object { json: self.out, members, end: self.at, repaired: self.repaired }
    }

    fn into_fault(self, truncated: bool) -> Fault {
        let depth = self.frames.len();
        let members = self.frames.into_iter().next().map_or_else(Vec::new, |root| root.members);
        let partial = Partial { json: self.out, members };
        Fault {
            truncated,
            at: self.at.min(self.text.len()),
            line: self.line,
            depth,
            one_line: self.ends.labels,
            partial,
        }
    }
}

pub(crate) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '“' | '”' | '„' | '‘' | '’')
}

/// The text of a JSON string.
pub(crate) fn unquoted(json: &str) -> String {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(json);
    if inner.contains('\\') {
        return serde_json::from_str(json).unwrap_or_else(|_not_a_string| inner.to_owned());
    }
    inner.to_owned()
}
