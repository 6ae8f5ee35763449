//! What has a name and an end: elements that no format has, `<search_results>…</search_results>` and `<|note|>…<|/note|>`, here
//! documents, and LaTeX's environments. What stands in one is data, whatever its name.

use std::{collections::HashMap, ops::Range};

use crate::{
    json::tags,
    text::{
        eights,
        look::{Look, Until},
        marks::{Lookup, Meaning},
        presence::More,
    },
    work,
};

/// The longest tag, attributes included.
const TAG: usize = 512;
/// The longest name of a document or an environment.
const NAME: usize = 64;
/// So many elements are kept open; of more, the outer ones are forgotten.
const DEPTH: usize = 64;

/// The elements that are open.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    /// Read up to this byte.
    at: usize,
    open: Vec<Element>,
    /// Behind the mark at the first byte, nothing of them ends before the second one.
    searched: (usize, usize),
    /// Where the last end of each stands, once the text has ended.
    ends: Option<HashMap<(Kind, String), usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// `<name>` and `</name>`, or the same with bars.
    Tag,
    /// `\begin{name}` and `\end{name}`.
    Environment,
    /// `<<name` at the end of a line, and `name` on a line of its own.
    Document,
}

#[derive(Debug, Clone)]
struct Element {
    kind: Kind,
    /// Where its name stands.
    name: Range<usize>,
}

/// The beginning or the end of an element.
struct Sign {
    of: Element,
    /// Where it ends.
    end: usize,
    closes: bool,
}

impl Elements {
    /// Goes on at byte `at`: what stands before it and is not read yet is no prose.
    pub(super) fn jump(&mut self, at: usize) {
        self.at = self.at.max(at);
    }

    /// Where the element ends in which byte `at` stands.
    pub(super) fn end(&mut self, look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
        self.read(look, at);
        if self.open.is_empty() {
            return Ok(None);
        }
        // What has no end encloses nothing.
        if look.ended && !self.may_end(look, at) {
            self.open.clear();
            return Ok(None);
        }
        let mut from = if self.searched.0 == at { self.searched.1.max(at) } else { at };
        let before = from;
        let found = loop {
            let Some(len) = look.rest(from).find(['<', '\\', '\n']) else {
                from = look.text.len();
                break Ok(None);
            };
            from += len;
            match sign(look, from) {
                Ok(Some(sign)) if sign.closes && self.place(look, &sign.of).is_some() => {
                    break Ok(Some(sign.end));
                }
                Ok(Some(sign)) if !matches!(sign.of.kind, Kind::Document) => from = sign.end,
                Ok(_) => from += 1,
                Err(More) => break Err(More),
            }
        };
        work::count(from - before);
        self.searched = (at, from);
        match found {
            Ok(None) if !look.ended => Err(More),
            found => found,
        }
    }

    /// Whether one of those that are open has an end behind byte `at`, in a text that has ended.
    fn may_end(&mut self, look: Look<'_>, at: usize) -> bool {
        let ends = self.ends.get_or_insert_with(|| last_ends(look, at));
        let mut last = self.open.iter().filter_map(|open| ends.get(&key(look, open)));
        last.any(|last| *last >= at)
    }

    /// The place of the innermost element of the same name.
    fn place(&self, look: Look<'_>, of: &Element) -> Option<usize> {
        let name = |of: &Element| look.slice(of.name.start, of.name.end);
        let is_same =
            |own: &Element| own.kind == of.kind && name(own).eq_ignore_ascii_case(name(of));
        self.open.iter().rposition(is_same)
    }

    /// Reads on to byte `to`.
    pub(super) fn read(&mut self, look: Look<'_>, to: usize) {
        while self.at < to {
            let rest = look.slice(self.at, to).as_bytes();
            // Only a document ends with a line. A mark may begin with a bracket, and have a tag in it.
            let in_document = self.open.iter().any(|open| open.kind == Kind::Document);
            let len = match in_document {
                // Between two calls stands little.
                false if rest.len() < 8 => {
                    rest.iter().position(|byte| may_begin(*byte)).unwrap_or(rest.len())
                }
                true => eights::before_any(rest, [b'<', b'\\', b'[', b']', b'\n']),
                false => eights::before_any(rest, [b'<', b'\\', b'[', b']']),
            };
            if len == rest.len() {
                break;
            }
            work::count(len);
            self.at += len;
            let mark = look.setup.marks.at(look.rest(self.at));
            if let Lookup::Mark(mark, len) = mark {
                if !has_words(mark, look.rest(self.at + len)) {
                    self.at += len;
                    continue;
                }
            }
            let sign = match sign(look, self.at) {
                // It goes on behind that byte, and is read the next time.
                Err(More) => return,
                Ok(Some(sign)) if sign.end > to => return,
                Ok(None) => {
                    self.at += 1;
                    continue;
                }
                Ok(Some(sign)) => sign,
            };
            let place = self.place(look, &sign.of);
            let is_document = sign.of.kind == Kind::Document;
            match place {
                Some(place) if sign.closes => self.open.truncate(place),
                _ if sign.closes => {}
                _ => {
                    if self.open.len() == DEPTH {
                        self.open.remove(0);
                    }
                    self.open.push(sign.of);
                }
            }
            // The end of the line may be that of a document.
            self.at = if is_document { self.at + 1 } else { sign.end };
        }
        self.at = self.at.max(to);
    }
}

/// Whether an element, an environment, a document or a mark may begin with `byte`.
fn may_begin(byte: u8) -> bool {
    matches!(byte, b'<' | b'\\' | b'[' | b']')
}

/// Whether `mark` wants attributes, and words stand in their place: its tag is one of nobody.
fn has_words(mark: Meaning, rest: &str) -> bool {
    let wants = matches!(mark, Meaning::Open(rule) if rule.attribute.is_some());
    wants && !tags::begins_with_attribute(rest)
}

/// What begins or ends at byte `at`.
fn sign(look: Look<'_>, at: usize) -> Result<Option<Sign>, More> {
    match look.rest(at).as_bytes() {
        [b'<', b'<', ..] => document(look, at),
        [b'<', ..] => tag(look, at),
        [b'\\', ..] => environment(look, at),
        [b'\n', ..] => line(look, at),
        _ => Ok(None),
    }
}

/// A tag. One that closes itself is none, and neither is a type behind a word: `List<String>`.
fn tag(look: Look<'_>, at: usize) -> Result<Option<Sign>, More> {
    let is_bar = |letter: char| matches!(letter, '|' | '｜');
    let ends = |letter: char| matches!(letter, '<' | '>' | '\n');
    let len = match look.until(at + 1, TAG, ends) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(None),
    };
    let inner = look.slice(at + 1, at + 1 + len);
    let end = at + 1 + len + 1;
    let tag = inner.trim_start_matches(is_bar);
    let (tag, closes) = match tag.strip_prefix('/') {
        Some(tag) => (tag.trim_start_matches(is_bar), true),
        None => (tag, false),
    };
    let is_type = || look.slice(0, at).ends_with(char::is_alphanumeric);
    if !look.rest(end - 1).starts_with('>') || inner.ends_with('/') || !closes && is_type() {
        return Ok(None);
    }
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    let name = tag.len() - tag.trim_start_matches(part).len();
    let behind = tag.get(name..).unwrap_or_default();
    let is_name = tag.starts_with(char::is_alphabetic)
        && (behind.chars().all(is_bar) || behind.starts_with(char::is_whitespace));
    let start = end - 1 - tag.len();
    Ok(is_name.then(|| Sign {
        of: Element { kind: Kind::Tag, name: start..start + name },
        end,
        closes,
    }))
}

fn environment(look: Look<'_>, at: usize) -> Result<Option<Sign>, More> {
    for (word, closes) in [("\\begin{", false), ("\\end{", true)] {
        if look.any(at, &[word])?.is_none() {
            continue;
        }
        let start = at + word.len();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '*';
        return match look.until(start, NAME, |letter| !is_part(letter)) {
            Until::At(len) if look.rest(start + len).starts_with('}') => {
                let of = Element { kind: Kind::Environment, name: start..start + len };
                Ok(Some(Sign { of, end: start + len + 1, closes }))
            }
            Until::More => Err(More),
            _ => Ok(None),
        };
    }
    Ok(None)
}

/// A word behind `<<` at the end of a line.
fn document(look: Look<'_>, at: usize) -> Result<Option<Sign>, More> {
    let len = match look.until(at + 2, NAME, |letter| letter == '\n') {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(None),
    };
    let word = look.slice(at + 2, at + 2 + len);
    let name = word.trim_matches(|letter: char| matches!(letter, '-' | '~' | '\'' | '"' | ' '));
    let start = at + 2 + (word.len() - word.trim_start_matches(['-', '~', '\'', '"', ' ']).len());
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    Ok(is_name.then(|| Sign {
        of: Element { kind: Kind::Document, name: start..start + name.len() },
        end: at + 2 + len,
        closes: false,
    }))
}

/// A line that is one word: the end of a document, if it is its name.
fn line(look: Look<'_>, at: usize) -> Result<Option<Sign>, More> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let len = match look.until(at + 1, NAME, |letter| !is_word(letter)) {
        Until::At(len) => len,
        Until::Ended => look.rest(at + 1).len(),
        Until::More => return Err(More),
        Until::Beyond => return Ok(None),
    };
    let end = at + 1 + len;
    let is_line = look.rest(end).is_empty() || look.rest(end).starts_with(['\n', '\r']);
    let of = Element { kind: Kind::Document, name: at + 1..end };
    Ok((len > 0 && is_line).then_some(Sign { of, end, closes: true }))
}

fn key(look: Look<'_>, of: &Element) -> (Kind, String) {
    (of.kind, look.slice(of.name.start, of.name.end).to_lowercase())
}

/// Where the last end of each element stands behind byte `at`.
fn last_ends(look: Look<'_>, mut at: usize) -> HashMap<(Kind, String), usize> {
    let mut ends = HashMap::new();
    while let Some(len) = look.rest(at).find(['<', '\\', '\n']) {
        work::count(len + 1);
        at += len;
        if let Ok(Some(sign)) = sign(look, at) {
            if sign.closes {
                ends.insert(key(look, &sign.of), at);
            }
        }
        at += 1;
    }
    ends
}
