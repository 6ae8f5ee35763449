//! What a mark opens, until it is clear how it goes on.

use crate::{
    declared::CallKind,
    json::{scan::Ends, tags},
    readers::{
        calls::{self, Calls},
        fence,
        params::Params,
        python_calls::PythonCalls,
        python_names,
        reader::{Progress, Reader},
        recovery::Recovery,
        separator::Separator,
        tool_input::ToolInput,
        walk::Walk,
    },
    reply::error::{ErrorKind, Expected},
    text::{
        look::{Look, Until},
        marks::Lookup,
        names,
        presence::{More, Presence},
        rule::{Attribute, Otherwise, Rule, Shape, Then},
    },
};

/// The longest name, blanks and attributes included.
const NAME: usize = 256;

/// Behind a mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dispatch {
    start: usize,
    body: usize,
    /// How far the text means nothing.
    white: usize,
    rule: &'static Rule,
}

impl Dispatch {
    /// What the mark from `start` to `body` opens.
    pub(crate) fn new(start: usize, body: usize, rule: &'static Rule) -> Self {
        Self { start, body, white: body, rule }
    }

    fn decide(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<(), More> {
        let rule = self.rule;
        if let Some(attribute) = &rule.attribute {
            return self.attribute(walk, look, attribute);
        }
        self.skip(look)?;
        let at = self.white;
        if look.rest(at).is_empty() {
            self.ended(walk, look);
            return Ok(());
        }
        if look.any(at, rule.wraps)?.is_some() {
            walk.go(at);
            return Ok(());
        }
        // Another mark follows: this one opened nothing.
        match look.setup.marks.at(look.rest(at)) {
            Lookup::Mark(mark, _) if mark.opens() => {
                walk.go(at);
                return Ok(());
            }
            Lookup::Prefix if !look.ended => return Err(More),
            _ => {}
        }
        if let Some(shape) = rule.json {
            if let Some(len) = fence::opening(look, at)? {
                if calls::begins(look, look.behind_white(at + len))? {
                    walk.fence.open();
                    self.calls(walk, look, look.behind_white(at + len), shape);
                    return Ok(());
                }
            }
        }
        if let Some(shape) = rule.json {
            if look.rest(at).starts_with(['{', '[']) && (!rule.python || self.is_json(look, at)?) {
                self.calls(walk, look, at, shape);
                return Ok(());
            }
        }
        if !rule.name.is_empty() && self.named(walk, look)? {
            return Ok(());
        }
        if rule.python && self.python(walk, look)? {
            return Ok(());
        }
        if look.ended && self.is_begun(look) {
            self.ended(walk, look);
            return Ok(());
        }
        self.nothing(walk, look);
        Ok(())
    }

    /// The text ends in what may follow the mark.
    fn is_begun(&self, look: Look<'_>) -> bool {
        let rest = look.rest(self.white);
        let mut words = self.rule.wraps.iter().chain(self.rule.skips).chain(self.rule.closes);
        if words.any(|word| word.starts_with(rest)) {
            return true;
        }
        let name = rest.strip_prefix('[').unwrap_or(rest).trim_start();
        let strict = self.rule.otherwise == Otherwise::Malformed;
        self.rule.python
            && (python_names::is_begun(look, name) || strict && python_names::is_name(name))
    }

    /// Skips white space, and what means nothing.
    fn skip(&mut self, look: Look<'_>) -> Result<(), More> {
        loop {
            self.white = look.behind_white(self.white);
            match look.any(self.white, self.rule.skips)? {
                Some(len) => self.white += len,
                None if look.rest(self.white).is_empty() && !look.ended => return Err(More),
                None => return Ok(()),
            }
        }
    }

    /// The text ended behind the mark.
    fn ended(&self, walk: &mut Walk, look: Look<'_>) {
        if self.rule.otherwise == Otherwise::Drop && look.rest(self.white).is_empty() {
            return walk.go(self.white);
        }
        walk.leave(look);
        walk.truncated(look, self.start, None, Expected::Rest);
    }

    /// A list of objects, and not of PythonCalls's calls.
    fn is_json(&self, look: Look<'_>, at: usize) -> Result<bool, More> {
        let rest = look.rest(at);
        if rest.starts_with('{') {
            return Ok(true);
        }
        let inner = look.behind_white(at + 1);
        if inner >= at + NAME {
            return Ok(false);
        }
        match look.rest(inner).bytes().next() {
            None if !look.ended => Err(More),
            first => Ok(matches!(first, Some(b'{' | b']'))),
        }
    }

    fn calls(&self, walk: &mut Walk, look: Look<'_>, at: usize, shape: Shape) {
        if !walk.leave(look) {
            return walk.go(at);
        }
        walk.at = at;
        let calls = Calls::marked(self.start, at, self.ends(), shape);
        walk.reading = Some(Box::new(calls));
    }

    fn ends(&self) -> Ends {
        Ends { tags: self.rule.closes, ..Ends::default() }
    }

    /// Reads the attributes of the mark itself. Its token may end in the middle of the first one.
    fn attribute(
        &self,
        walk: &mut Walk,
        look: Look<'_>,
        attribute: &'static Attribute,
    ) -> Result<(), More> {
        let rest = look.rest(self.body);
        let end = rest.find(attribute.end).filter(|end| *end <= NAME);
        let Some(end) = end else {
            if !look.ended && rest.len() <= NAME + attribute.end.len() {
                return Err(More);
            }
            if look.ended && rest.len() <= NAME {
                walk.leave(look);
                walk.truncated(look, self.start, None, Expected::Rest);
            } else {
                self.nothing(walk, look);
            }
            return Ok(());
        };
        let head = look.slice(self.start, self.body + end);
        let Some(name) = tags::attribute(head, attribute.key).filter(|name| !name.is_empty())
        else {
            self.nothing(walk, look);
            return Ok(());
        };
        let at = self.body + end + attribute.end.len();
        self.then(walk, look, &name, at, Then::Tags(attribute.tags));
        Ok(())
    }

    /// Reads a name and the mark behind it. `false` when there is none.
    fn named(&self, walk: &mut Walk, look: Look<'_>) -> Result<bool, More> {
        let rest = look.rest(self.white);
        let is_end = |letter: char| {
            let names = self.rule.name.iter().map(|(token, _)| token);
            letter == '\n' || names.chain(self.rule.closes).any(|token| token.starts_with(letter))
        };
        let len = match look.until(self.white, NAME + 1, is_end) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended => return Ok(self.cut(walk, look, rest, "")),
            Until::Beyond => return Ok(false),
        };
        let name = rest.get(..len).unwrap_or_default();
        let close = look.behind_white(self.white + len);
        let tail = look.rest(close);
        if tail.is_empty() && !look.ended && close < self.white + 2 * NAME {
            return Err(More);
        }
        let mut more = false;
        for (token, then) in self.rule.name {
            match look.presence(close, token) {
                Presence::Yes => {
                    let here = matches!(
                        then,
                        Then::FromToken | Then::TagsHere(_) | Then::Quoted(_) | Then::Python
                    );
                    let at = if here { close } else { close + token.len() };
                    let name = name.trim().trim_end_matches("\\n").trim_end();
                    self.then(walk, look, name, at, *then);
                    return Ok(true);
                }
                Presence::More => more = true,
                Presence::No => {}
            }
        }
        if more { Err(More) } else { Ok(look.ended && self.cut(walk, look, name, tail)) }
    }

    /// The text ended behind a name, or in the mark behind it.
    fn cut(&self, walk: &mut Walk, look: Look<'_>, name: &str, tail: &str) -> bool {
        let begins = self.rule.name.iter().any(|(token, _)| token.starts_with(tail));
        let is_mark = self.rule.otherwise == Otherwise::Malformed;
        let cut = begins && (is_mark || names::begins_tool(&look.setup.declared, name));
        if cut {
            walk.leave(look);
            walk.truncated(look, self.start, None, Expected::Rest);
        }
        cut
    }

    /// Reads on behind a name, from byte `at`.
    fn then(&self, walk: &mut Walk, look: Look<'_>, name: &str, at: usize, then: Then) {
        let declared = &look.setup.declared;
        let is_declared = names::resolve(declared, CallKind::Tool, name).is_ok();
        if self.rule.declared && !is_declared {
            return self.nothing(walk, look);
        }
        // Functionary addresses everybody.
        if !is_declared && self.rule.otherwise == Otherwise::Drop && name == "all" {
            return walk.go(at);
        }
        if !walk.leave(look) {
            return walk.go(at);
        }
        walk.at = at;
        // A header that names a tool twice addresses it.
        let is_addressed = walk.addressee.as_deref() == Some(name);
        let name = names::doubled(name).filter(|_| is_addressed).unwrap_or(name);
        let (start, name) = (self.start, name.to_owned());
        walk.reading = match then {
            Then::Input => Some(Box::new(ToolInput::new(start, at, name))),
            Then::Words => Some(Box::new(ToolInput::new(start, at, name).needs_input())),
            Then::Named => {
                let separator = Separator::new(start, at, String::new(), self.rule.closes);
                Some(Box::new(separator.named(name)))
            }
            Then::Json | Then::FromToken => {
                Some(Box::new(Separator::new(start, at, name, self.rule.closes)))
            }
            Then::Id => Some(Box::new(Separator::new(start, at, name, self.rule.closes).with_id())),
            Then::Typed => {
                Some(Box::new(Separator::new(start, at, name, self.rule.closes).typed()))
            }
            Then::Quoted(quote) => {
                let lead = Separator::new(start, at, name, self.rule.closes);
                Some(Box::new(lead.quoted(quote)))
            }
            Then::Tags(tags) | Then::TagsHere(tags) => {
                Some(Box::new(Params::new(look, start, at, name, tags)))
            }
            Then::Python => {
                Some(Box::new(PythonCalls::marked(start, self.white, self.rule.closes)))
            }
            Then::Calls => Some(Box::new(Self::new(start, at, &INVOKED))),
        };
    }

    fn python(&self, walk: &mut Walk, look: Look<'_>) -> Result<bool, More> {
        let Some(name) = python_names::first_name(look, self.white)? else { return Ok(false) };
        let declared = &look.setup.declared;
        if self.rule.declared && names::resolve(declared, CallKind::Tool, name).is_err() {
            return Ok(false);
        }
        if !walk.leave(look) {
            walk.go(self.white);
            return Ok(true);
        }
        walk.at = self.white;
        let python = PythonCalls::marked(self.start, self.white, self.rule.closes);
        let python = if self.rule.declared { python.code() } else { python };
        walk.reading = Some(Box::new(python));
        Ok(true)
    }

    /// Nothing of the format follows the mark.
    fn nothing(&self, walk: &mut Walk, look: Look<'_>) {
        match self.rule.otherwise {
            Otherwise::Drop => walk.go(self.body),
            Otherwise::Malformed => {
                walk.leave(look);
                let span = self.start..self.white;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, span);
                walk.go(self.white);
                if !self.rule.closes.is_empty() {
                    let lost = Recovery::new(self.white, self.rule.closes);
                    walk.reading = Some(Box::new(lost.one_line()));
                }
            }
            Otherwise::Prose => {
                walk.push(look, self.start, self.body);
                walk.at = self.body;
                walk.fresh = false;
            }
        }
    }
}

impl Reader for Dispatch {
    fn read(mut self: Box<Self>, walk: &mut Walk, look: Look<'_>) -> Progress {
        match self.decide(walk, look) {
            Ok(()) => Progress::Moved,
            Err(More) => {
                walk.reading = Some(self);
                Progress::More
            }
        }
    }
}

/// JSON behind a header that named the tool.
const INVOKED: Rule = Rule {
    json: Some(Shape::Members),
    closes: &["<|end_message|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
