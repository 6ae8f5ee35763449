//! MiniMax M3's values: nested elements, each tag with a prefix. An element of elements is an object, or an array where
//! the first one is called `item`. A table says the words.

use crate::{
    declared::{CallKind, ParamType},
    json::{
        json_text,
        members::{self, Member},
        tags,
    },
    readers::{
        reader::{Next, Reader},
        walk::Walk,
    },
    reply::{
        called::Called,
        error::{ErrorKind, Expected},
        input::Input,
    },
    text::{grammar::Elements, look::Look, names, presence::More},
};

/// The longest tag.
const TAG: usize = 1024;
/// How much white space may stand between the prefix and its tag.
const GAP: usize = 64;
/// `serde_json` reads 127 levels.
const DEEPEST: usize = 126;

/// An element that is open.
#[derive(Debug, Clone)]
struct Frame {
    name: String,
    /// Where its text begins.
    text: usize,
    /// Where its value begins in what is written.
    out: usize,
    /// Its first member.
    base: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing but text so far.
    Text,
    Object,
    Array,
}

/// A call of nested elements.
#[derive(Debug, Clone)]
pub(crate) struct NestedXml {
    words: &'static Elements,
    start: usize,
    ahead: usize,
    name: Option<String>,
    declared_name: Option<String>,
    frames: Vec<Frame>,
    members: Vec<Member>,
    out: String,
}

impl NestedXml {
    /// A call whose mark stands at `start`, and whose name at `at`.
    pub(crate) fn new(start: usize, at: usize, words: &'static Elements) -> Self {
        let (name, declared_name) = (None, None);
        let (frames, members) = (Vec::new(), Vec::new());
        Self { words, start, ahead: at, name, declared_name, frames, members, out: String::new() }
    }

    fn head(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        let rest = look.rest(self.ahead);
        let Some(end) = look.near(self.ahead, ">", TAG) else {
            if rest.len() <= TAG {
                return Err(More);
            }
            return Ok(Some(self.malformed(walk, Expected::Tool)));
        };
        if !walk.leave(look) {
            return Ok(Some(Next::Done(self.ahead + end)));
        }
        let name = tags::attribute(look.slice(self.start, self.ahead + end), self.words.key);
        let name = name.unwrap_or_default();
        self.declared_name = names::resolve(&look.setup.declared, CallKind::Tool, &name).ok();
        self.name = Some(name);
        self.ahead += end + 1;
        self.out.push('{');
        let text = self.ahead;
        self.frames.push(Frame { name: String::new(), text, out: 0, base: 0, kind: Kind::Object });
        Ok(None)
    }

    /// Reads up to behind the next tag.
    fn tag(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        let (rest, prefix) = (look.rest(self.ahead), self.words.prefix);
        let Some(len) = rest.find(prefix) else {
            self.ahead += rest.len() - json_text::overlap(rest, prefix);
            return Err(More);
        };
        let text_end = self.ahead + len;
        let open = look.behind_white(text_end + prefix.len());
        if open > text_end + prefix.len() + GAP {
            self.ahead = text_end;
            return Ok(Some(self.malformed(walk, Expected::Object)));
        }
        let rest = look.rest(open);
        let Some(end) = look.near(open, ">", TAG) else {
            self.ahead = text_end;
            if rest.len() <= TAG {
                return Err(More);
            }
            return Ok(Some(self.malformed(walk, Expected::Object)));
        };
        let tag = rest.get(..end).unwrap_or_default();
        self.ahead = open + end + 1;
        match (tag.strip_prefix("</"), tag.strip_prefix('<')) {
            (Some(name), _) => Ok(self.close(walk, look, name.trim(), text_end)),
            (None, Some(name)) => Ok(self.open(walk, name.trim())),
            (None, None) => Ok(Some(self.malformed(walk, Expected::Object))),
        }
    }

    fn open(&mut self, walk: &mut Walk, name: &str) -> Option<Next> {
        if self.frames.len() >= DEEPEST || name.is_empty() {
            return Some(self.malformed(walk, Expected::Object));
        }
        let root = self.frames.len() == 1;
        let members = self.members.len();
        let parent = self.frames.last_mut()?;
        if parent.kind == Kind::Text {
            parent.kind = if name == self.words.item { Kind::Array } else { Kind::Object };
            self.out.push(if parent.kind == Kind::Array { '[' } else { '{' });
        } else if self.out.len() > parent.out + 1 && (root || !self.out.ends_with(['{', '['])) {
            self.out.push(',');
        }
        let start = self.out.len();
        if parent.kind == Kind::Object {
            self.out.push('"');
            json_text::push(&mut self.out, name);
            self.out.push('"');
            let key = start..self.out.len();
            self.out.push(':');
            let value = self.out.len();
            self.members.push(Member { start, key, value: value..value });
        }
        let base = members + usize::from(parent.kind == Kind::Object);
        let (text, out) = (self.ahead, self.out.len());
        self.frames.push(Frame { name: name.to_owned(), text, out, base, kind: Kind::Text });
        None
    }

    fn close(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        name: &str,
        text_end: usize,
    ) -> Option<Next> {
        let frame = self.frames.pop()?;
        if self.frames.is_empty() {
            let is_whole = name == self.words.end;
            return Some(if is_whole {
                self.done(walk, look)
            } else {
                self.malformed(walk, Expected::Object)
            });
        }
        if name != frame.name {
            return Some(self.malformed(walk, Expected::Object));
        }
        match frame.kind {
            Kind::Text => {
                let text = look.slice(frame.text, text_end);
                let parents = self.frames.iter();
                let elements = self.frames.iter().skip(1).chain([&frame]);
                let path = parents.zip(elements).map(|(parent, element)| {
                    (parent.kind == Kind::Object).then_some(element.name.as_str())
                });
                let kind = self.declared_name.as_ref();
                let kind = kind.and_then(|tool| look.setup.declared.at(tool, path));
                self.out.push_str(&tags::value(text, kind.unwrap_or(ParamType::Any)));
            }
            Kind::Object => {
                members::keep_last(&mut self.out, &mut self.members, frame.base, frame.out);
                self.out.push('}');
            }
            Kind::Array => self.out.push(']'),
        }
        self.members.truncate(frame.base);
        let end = self.out.len();
        if self.frames.last().is_some_and(|parent| parent.kind == Kind::Object) {
            if let Some(member) = self.members.last_mut() {
                member.value = frame.out..end;
            }
        }
        None
    }

    fn done(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let name = self.name.clone().unwrap_or_default();
        if name.trim().is_empty() {
            walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, self.start..self.ahead);
            return Next::Done(self.ahead);
        }
        members::keep_last(&mut self.out, &mut self.members, 0, 0);
        self.out.push('}');
        let span = self.start..self.ahead;
        let called = Called::tool(&name, span.clone(), span);
        walk.call(look, called, Input::Object(std::mem::take(&mut self.out)));
        Next::Done(self.ahead)
    }

    fn malformed(&self, walk: &mut Walk, expected: Expected) -> Next {
        let name = self.name.as_deref().map(str::trim);
        walk.draft.fail(ErrorKind::Malformed, expected, name, self.start..self.ahead);
        Next::Done(self.ahead)
    }
}

impl Reader for NestedXml {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let step =
                if self.name.is_none() { self.head(walk, look) } else { self.tag(walk, look) };
            match step {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(More) if look.ended => {
                    let name = self.name.as_deref().map(str::trim);
                    return Next::truncated(walk, look, self.start, name);
                }
                Err(More) => {
                    if let Some(declared_name) = &self.declared_name {
                        let id = || self.name.as_deref().and_then(names::index);
                        walk.draft.tell_part(CallKind::Tool, declared_name, &self.out, id);
                    }
                    return Next::More;
                }
            }
        }
    }
}
