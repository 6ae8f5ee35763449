//! Parameters in tags, whose strings are written as they are.
//!
//! A close tag ends a value where the format goes on behind it: with another parameter, or the end of the call.
//! Anywhere else it is part of the value.

use std::borrow::Cow;

use crate::{
    declared::{CallKind, ParamType},
    json::{
        fault::{Repair, RepairKind},
        json_text,
        members::{self, Member, Members},
        scan::Ends,
        tags,
    },
    readers::{
        json_arguments::JsonArguments,
        reader::{Next, Reader},
        tag_words::Words,
        walk::Walk,
    },
    reply::{
        called::Called,
        draft::Draft,
        error::{ErrorKind, Expected},
        event::Event,
        input::Input,
    },
    text::{
        look::Look,
        names,
        presence::{More, Presence},
    },
};

/// The longest key, with its tag.
const HEAD: usize = 1024;
/// How much white space may stand between two tags.
const GAP: usize = 256;

#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// Between parameters.
    Between,
    /// Behind the tag that opens a parameter.
    Head(usize),
    /// Behind a key. The type, where a tag says it.
    Key(String, Option<ParamType>),
    /// In a value that began at the first byte. Text up to the second one was read.
    Value { from: usize, key: String, kind: ParamType, member: usize },
    /// What follows is not of the format: up to the end of the call.
    Lost,
}

const CDATA: &str = "<![CDATA[";

/// The parameters of a call.
#[derive(Debug, Clone)]
pub(crate) struct Params {
    pub(crate) start: usize,
    pub(crate) from: usize,
    pub(crate) at: usize,
    pub(crate) ahead: usize,
    pub(crate) name: String,
    /// Its header names no tool: what it gives is read, and calls nothing.
    nameless: bool,
    /// The name as it is declared, once it is declared_name to be.
    pub(crate) declared_name: Option<String>,
    pub(crate) tags: Words,
    /// Closes the value at hand.
    pub(crate) close: Cow<'static, str>,
    pub(crate) stage: Stage,
    pub(crate) out: String,
    pub(crate) members: Vec<Member>,
    pub(crate) repairs: Vec<Repair>,
}

impl Params {
    /// The parameters from byte `at`, of the call whose mark stands at `start`.
    pub(crate) fn new(look: Look<'_>, start: usize, at: usize, name: String, tags: Words) -> Self {
        let declared_name = names::resolve(&look.setup.declared, CallKind::Tool, &name).ok();
        let close = tags.close.clone();
        Self {
            close,
            start,
            from: at,
            at,
            ahead: at,
            name,
            nameless: false,
            declared_name,
            tags,
            stage: Stage::Between,
            out: "{".to_owned(),
            members: Vec::new(),
            repairs: Vec::new(),
        }
    }

    /// The parameters of a call whose header names no tool.
    pub(crate) fn nameless(look: Look<'_>, start: usize, at: usize, tags: Words) -> Self {
        let own = Self::new(look, start, at, String::new(), tags);
        Self { nameless: true, declared_name: None, ..own }
    }

    fn between(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        self.at = self.behind_gap(look, self.at);
        let rest = look.rest(self.at);
        if rest.is_empty() && look.ended {
            return Ok(self.cut(walk, look));
        }
        if rest.is_empty() || rest == "\\" && !look.ended {
            return Err(More);
        }
        if let Some(len) = look.any(self.at, self.tags.skips)? {
            self.at += len;
            return Ok(None);
        }
        if rest.starts_with('{') && self.members.is_empty() && !self.nameless {
            return Ok(Some(self.json(walk, look)));
        }
        if let Some(end) = &self.tags.other_end {
            if look.any(self.at, &[&**end])?.is_some() {
                let end = self.at + end.len();
                return Ok(self.done(walk, look, end));
            }
        }
        match look.any(self.at, &[&*self.tags.open, &*self.tags.end])? {
            Some(_) if rest.starts_with(&*self.tags.end) => {
                let end = self.at + self.tags.end.len();
                return Ok(self.done(walk, look, end));
            }
            Some(len) => {
                self.at += len;
                self.stage = Stage::Head(self.at);
                return Ok(None);
            }
            None => {}
        }
        // The end of the call is missing, and that of its wrapper follows.
        if look.any(self.at, self.tags.behind)?.is_some() {
            self.repairs.push(Repair { kind: RepairKind::Closer, at: self.at });
            return Ok(self.done(walk, look, self.at));
        }
        let begun = |tag: &str| tag.starts_with(rest);
        let tags = &self.tags;
        let is_begun =
            begun(&tags.open) || begun(&tags.end) || tags.skips.iter().copied().any(begun);
        if look.ended && is_begun {
            return Ok(self.cut(walk, look));
        }
        self.malformed(walk)
    }

    fn cut(&self, walk: &mut Walk, look: Look<'_>) -> Option<Next> {
        Some(Next::truncated(walk, look, self.start, self.written()))
    }

    /// The name, where there is one.
    fn written(&self) -> Option<&str> {
        (!self.nameless).then(|| self.name.trim())
    }

    fn malformed(&mut self, walk: &mut Walk) -> Result<Option<Next>, More> {
        let span = self.start..self.at;
        walk.draft.fail(ErrorKind::Malformed, Expected::Object, self.written(), span);
        self.declared_name = None;
        self.stage = Stage::Lost;
        Ok(None)
    }

    /// Skips to behind the end of the call.
    fn lost(&mut self, look: Look<'_>) -> Result<Option<Next>, More> {
        let rest = look.rest(self.at);
        let end = rest.find(&*self.tags.end);
        if let Some(end) = end {
            return Ok(Some(Next::Done(self.at + end + self.tags.end.len())));
        }
        if look.ended {
            return Ok(Some(Next::Inline(look.text.len())));
        }
        self.at += rest.len() - json_text::overlap(rest, &self.tags.end);
        self.stage = Stage::Lost;
        Err(More)
    }

    /// JSON in place of parameters.
    fn json(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        let ends = Ends { tags: self.tags.json_ends, ..Ends::default() };
        let name = self.name.clone();
        JsonArguments::new(walk, look, CallKind::Tool, name, self.start, self.at, ends)
            .begin(walk, look)
    }

    fn head(&mut self, walk: &mut Walk, look: Look<'_>, from: usize) -> Result<Option<Next>, More> {
        let rest = look.rest(from);
        let Some(len) = look.near(from, &self.tags.head, HEAD) else {
            if rest.len() > HEAD + self.tags.head.len() {
                return self.malformed(walk);
            }
            if look.ended {
                return Ok(self.cut(walk, look));
            }
            self.stage = Stage::Head(from);
            return Err(More);
        };
        let head = rest.get(..len).unwrap_or_default();
        self.at = from + len + self.tags.head.len();
        let Some(attribute) = self.tags.key else {
            let key = head.trim().trim_matches(['"', '\'']).to_owned();
            self.stage = Stage::Key(key, None);
            return Ok(None);
        };
        let Some(key) = tags::attribute(head, attribute) else { return self.malformed(walk) };
        let kind = tags::attribute(head, "string").map(|string| string == "true");
        let kind = kind.or_else(|| Some(tags::attribute(head, "type")? == "string"));
        let kind = kind.map(|string| if string { ParamType::String } else { ParamType::Any });
        self.stage = Stage::Key(key, kind);
        Ok(None)
    }

    /// Reads up to where the value begins.
    fn key(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        key: String,
        kind: Option<ParamType>,
    ) -> Result<Option<Next>, More> {
        let Some(open) = self.tags.value.clone() else {
            let lines = if self.tags.lines { line_break(look, self.at) } else { Ok(0) };
            let Ok(len) = lines else {
                self.stage = Stage::Key(key, kind);
                return Err(More);
            };
            self.at += len;
            self.close = self.tags.close.clone();
            if let Some(close) = self.tags.cdata {
                match look.presence(self.at, CDATA) {
                    Presence::Yes => {
                        self.at += CDATA.len();
                        self.close = close.into();
                    }
                    Presence::No => {}
                    Presence::More => {
                        self.stage = Stage::Key(key, kind);
                        return Err(More);
                    }
                }
            }
            self.begin(look, key, kind);
            return Ok(None);
        };
        let at = self.behind_gap(look, self.at);
        if at > self.at + GAP {
            return self.malformed(walk);
        }
        let rest = look.rest(at);
        if rest == "\\" && !look.ended {
            self.stage = Stage::Key(key, kind);
            return Err(More);
        }
        if let Some((begin, end)) = self.tags.kind.filter(|(begin, _)| rest.starts_with(begin)) {
            if let Some(len) = look.near(at, end, HEAD) {
                let kind = rest.get(begin.len()..len).unwrap_or_default().trim();
                let is_string = kind.eq_ignore_ascii_case("string");
                let kind = if is_string { ParamType::String } else { ParamType::Any };
                self.at = at + len + end.len();
                self.stage = Stage::Key(key, Some(kind));
                return Ok(None);
            }
        }
        if rest.starts_with(&*open) {
            self.at = at + open.len();
            self.begin(look, key, kind);
            return Ok(None);
        }
        let may_follow = open.starts_with(rest)
            || self
                .tags
                .kind
                .is_some_and(|(begin, _)| begin.starts_with(rest) || rest.starts_with(begin));
        let longest = HEAD + self.tags.kind.map_or(0, |(_, end)| end.len());
        if !may_follow || rest.len() > longest {
            self.at = at;
            return self.malformed(walk);
        }
        if look.ended {
            return Ok(self.cut(walk, look));
        }
        self.stage = Stage::Key(key, kind);
        Err(More)
    }

    /// The value of `key` begins.
    fn begin(&mut self, look: Look<'_>, key: String, kind: Option<ParamType>) {
        let declared = &look.setup.declared;
        let declared_name =
            || self.declared_name.as_ref().and_then(|tool| declared.param(tool, &key));
        let kind = kind.or_else(declared_name).unwrap_or(ParamType::Any);
        if !self.members.is_empty() {
            self.out.push(',');
        }
        let start = self.out.len();
        self.out.push('"');
        json_text::push(&mut self.out, &key);
        self.out.push('"');
        let end = self.out.len();
        self.out.push(':');
        let value = self.out.len();
        self.members.push(Member { start, key: start..end, value: value..value });
        if kind == ParamType::String {
            self.out.push('"');
        }
        self.ahead = self.at;
        self.stage = Stage::Value { from: self.at, key, kind, member: value };
    }

    fn value(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        from: usize,
        key: String,
        kind: ParamType,
        member: usize,
    ) -> Result<Option<Next>, More> {
        match self.find_end(look, kind) {
            Ok(Some((end, behind))) => {
                self.end_value(look, from, end, kind, member);
                self.at = behind;
                self.stage = Stage::Between;
                Ok(None)
            }
            Ok(None) if look.rest(self.ahead).starts_with(&*self.tags.end) => {
                let span = self.start..self.ahead;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, self.written(), span);
                Ok(Some(Next::Done(self.ahead + self.tags.end.len())))
            }
            Ok(None) => Ok(self.cut(walk, look)),
            Err(More) => {
                if kind == ParamType::String {
                    self.write(look.text);
                }
                self.stage = Stage::Value { from, key, kind, member };
                Err(More)
            }
        }
    }

    /// Writes the string so far, but not a line break that may belong to the tag behind it.
    fn write(&mut self, text: &str) {
        let mut text = text.get(self.at..self.ahead).unwrap_or_default();
        if self.tags.lines {
            text = text.strip_suffix('\n').unwrap_or(text);
            text = text.strip_suffix('\r').unwrap_or(text);
        }
        json_text::push(&mut self.out, text);
        self.at += text.len();
    }

    fn end_value(
        &mut self,
        look: Look<'_>,
        from: usize,
        end: usize,
        kind: ParamType,
        member: usize,
    ) {
        let from = if kind == ParamType::String { self.at } else { from };
        let mut text = look.slice(from, end);
        if self.tags.lines {
            text = text
                .strip_suffix('\n')
                .map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        }
        if kind == ParamType::String {
            json_text::push(&mut self.out, text);
            self.out.push('"');
        } else {
            self.out.push_str(&tags::value(text, kind));
        }
        let end = self.out.len();
        if let Some(last) = self.members.last_mut() {
            last.value = member..end;
        }
    }

    fn done(&mut self, walk: &mut Walk, look: Look<'_>, end: usize) -> Option<Next> {
        if self.nameless {
            walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, self.start..end);
            return Some(Next::Done(end));
        }
        members::keep_last(&mut self.out, &mut self.members, 0, 0);
        self.out.push('}');
        walk.draft.repaired(self.from..end, std::mem::take(&mut self.repairs));
        let span = self.start..end;
        let called = Called::tool(&self.name, span, self.from..self.at);
        let members = Members { list: &self.members, at: 0 };
        let called = called.resolved(self.declared_name.as_deref()).members(Some(members));
        walk.call(look, called, Input::Object(std::mem::take(&mut self.out)));
        Some(Next::Done(end))
    }
}

impl Reader for Params {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Between);
            let done = match stage {
                Stage::Between => self.between(walk, look),
                Stage::Head(from) => self.head(walk, look, from),
                Stage::Key(key, kind) => self.key(walk, look, key, kind),
                Stage::Value { from, key, kind, member } => {
                    self.value(walk, look, from, key, kind, member)
                }
                Stage::Lost => self.lost(look),
            };
            match done {
                Ok(None) => {}
                Ok(Some(next)) => return next,
                Err(More) => {
                    if let Some(declared_name) = &self.declared_name {
                        let id = || names::index(&self.name);
                        walk.draft.tell_part(CallKind::Tool, declared_name, &self.out, id);
                    }
                    return Next::More;
                }
            }
        }
    }

    fn takes(&mut self, draft: &mut Draft, text: &str, out: &mut Vec<Event>) -> bool {
        let is_text = matches!(self.stage, Stage::Value { kind: ParamType::String, .. });
        let rest = text.get(self.ahead..).unwrap_or_default();
        let ends = |byte| matches!(byte, b'<' | b']');
        if !is_text || rest.bytes().any(ends) {
            return false;
        }
        self.ahead += rest.len();
        self.write(text);
        if self.declared_name.is_some() {
            draft.tell_more_to(out, &self.out);
        }
        true
    }
}

/// The line break at `at`, if one is there.
fn line_break(look: Look<'_>, at: usize) -> Result<usize, More> {
    let rest = look.rest(at);
    match rest.as_bytes() {
        [b'\n', ..] => Ok(1),
        [b'\r', b'\n', ..] => Ok(2),
        [] | [b'\r'] if !look.ended => Err(More),
        _ => Ok(0),
    }
}
