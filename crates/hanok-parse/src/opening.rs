//! What a mark opens, until it is clear how it goes on.

use crate::{
    CallKind, ErrorKind, Expected,
    calls::Calls,
    formats::{Rule, Shape, Then},
    given::Given,
    input::Input,
    look::{Look, More},
    names,
    reading::{Flow, Reading},
    scan::Ends,
    tool_input::ToolInput,
    walk::{Called, Walk},
};

/// The longest name, blanks included.
const NAME: usize = 256;

/// Behind a mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    start: usize,
    body: usize,
    /// How far the text is white space.
    white: usize,
    rule: &'static Rule,
}

impl Opening {
    /// What the mark from `start` to `body` opens.
    pub(crate) fn new(start: usize, body: usize, rule: &'static Rule) -> Self {
        Self { start, body, white: body, rule }
    }

    pub(crate) fn read(mut self, walk: &mut Walk, look: Look<'_>) -> Flow {
        match self.decide(walk, look) {
            Ok(()) => Flow::Moved,
            Err(More) => {
                walk.reading = Reading::Opening(self);
                Flow::More
            }
        }
    }

    fn decide(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<(), More> {
        self.white = look.behind_white(self.white);
        let (at, rule) = (self.white, self.rule);
        if look.rest(at).is_empty() {
            if !look.ended {
                return Err(More);
            }
            walk.leave(look);
            walk.truncated(look, self.start, None, Expected::Rest);
            return Ok(());
        }
        if look.any(at, rule.wraps)?.is_some() {
            walk.go(at);
            return Ok(());
        }
        if let Some(shape) = rule.json
            && look.rest(at).starts_with(['{', '['])
        {
            self.calls(walk, look, shape);
            return Ok(());
        }
        if !rule.name.is_empty() && self.named(walk, look)? {
            return Ok(());
        }
        self.nothing(walk, look);
        Ok(())
    }

    fn calls(&self, walk: &mut Walk, look: Look<'_>, shape: Shape) {
        if !walk.leave(look) {
            return walk.go(self.white);
        }
        walk.at = self.white;
        let calls = Calls::marked(self.start, self.white, self.ends(), shape);
        walk.reading = Reading::Calls(Box::new(calls));
    }

    fn ends(&self) -> Ends {
        Ends { tags: self.rule.closes, ..Ends::default() }
    }

    /// Reads a name and the mark behind it. `false` when there is none.
    fn named(&self, walk: &mut Walk, look: Look<'_>) -> Result<bool, More> {
        let rest = look.rest(self.white);
        let first = |byte: u8| {
            byte == b'\n'
                || self.rule.name.iter().any(|(token, _)| token.as_bytes().first() == Some(&byte))
        };
        let name = rest.bytes().take(NAME + 1).position(first);
        let Some(name) = name.and_then(|end| rest.get(..end)) else {
            return match rest.len() {
                len if len > NAME => Ok(false),
                _ if look.ended => Ok(self.cut(walk, look, rest, "")),
                _ => Err(More),
            };
        };
        let close = look.behind_white(self.white + name.len());
        let tail = look.rest(close);
        if tail.is_empty() && !look.ended && close < self.white + 2 * NAME {
            return Err(More);
        }
        let tokens: Vec<&str> = self.rule.name.iter().map(|(token, _)| *token).collect();
        if look.any(close, &tokens)?.is_none() {
            return Ok(look.ended && self.cut(walk, look, name, tail));
        }
        let found = self.rule.name.iter().find(|(token, _)| tail.starts_with(token));
        if let Some((token, then)) = found {
            self.then(walk, look, name.trim(), close + token.len(), *then);
        }
        Ok(found.is_some())
    }

    /// The text ended behind a name, or in the mark behind it.
    fn cut(&self, walk: &mut Walk, look: Look<'_>, name: &str, tail: &str) -> bool {
        let begins = self.rule.name.iter().any(|(token, _)| token.starts_with(tail));
        let cut = begins && names::begins_tool(&look.setup.declared, name);
        if cut {
            walk.leave(look);
            walk.truncated(look, self.start, None, Expected::Rest);
        }
        cut
    }

    fn then(&self, walk: &mut Walk, look: Look<'_>, name: &str, at: usize, then: Then) {
        if !walk.leave(look) {
            return walk.go(at);
        }
        walk.at = at;
        let name = name.to_owned();
        walk.reading = match then {
            Then::Input => Reading::Input(ToolInput::new(self.start, at, name)),
            Then::Json => Reading::Given(Box::new(Given::new(
                look,
                CallKind::Tool,
                name,
                self.start,
                at,
                self.ends(),
            ))),
        };
    }

    /// Prose that mentions the mark, or a mark that nothing of the format follows.
    fn nothing(&self, walk: &mut Walk, look: Look<'_>) {
        if self.rule.strict {
            walk.leave(look);
            let span = self.start..self.white;
            walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, span);
            return walk.go(self.white);
        }
        walk.push(look, self.start, self.body);
        walk.at = self.body;
        walk.fresh = false;
    }
}

/// A name that a mark closed, with nothing behind it.
pub(crate) fn alone(walk: &mut Walk, look: Look<'_>, name: &str, start: usize, end: usize) {
    let called = Called { kind: CallKind::Tool, name, span: start..end, given: end..end };
    walk.call(look, called, Input::Empty);
    walk.go(end);
}
