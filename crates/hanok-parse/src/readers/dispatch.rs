//! What a mark opens, until it is clear how it goes on.

use crate::{
    declared::CallKind,
    json::{json_text, scan::Ends, tags},
    policy::Mark,
    readers::{
        calls::{self, Calls},
        fence,
        params::Params,
        python_calls::PythonCalls,
        python_names,
        reader::{Next, Reader},
        recovery::Recovery,
        separator::Separator,
        tag_words::Words,
        tool_input::ToolInput,
        walk::Walk,
    },
    reply::error::{ErrorKind, Expected},
    text::{
        formats::Behind,
        labels,
        look::{Look, Until},
        marks::{self, Lookup},
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
    /// How far white space stands behind a fence.
    fenced: usize,
    /// How far white space stands behind the name.
    named: usize,
    rule: &'static Rule,
}

/// A mark that is closed.
#[derive(Debug, Clone, Copy)]
struct Closed {
    /// Where the close begins.
    inner: usize,
    /// Where it ends.
    end: usize,
}

impl Dispatch {
    /// What the mark from `start` to `body` opens.
    pub(crate) fn new(start: usize, body: usize, rule: &'static Rule) -> Self {
        Self { start, body, white: body, fenced: body, named: body, rule }
    }

    fn decide(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Next, More> {
        let rule = self.rule;
        if let Some(attribute) = &rule.attribute {
            return self.attribute(walk, look, attribute);
        }
        self.skip(look)?;
        let at = self.white;
        if look.rest(at).is_empty() {
            return Ok(self.ended(walk, look));
        }
        if look.any(at, rule.wraps)?.is_some() {
            walk.draft.lock.wraps(at);
            return Ok(Next::Done(at));
        }
        // Another mark follows: this one opened nothing.
        match look.setup.marks.at(look.rest(at)) {
            Lookup::Mark(mark, _) if mark.opens() => return Ok(Next::Done(at)),
            Lookup::Prefix if !look.ended => return Err(More),
            _ => {}
        }
        // Beside names, only what no name can be is a call of Python's.
        let in_tag = rule.python && !rule.name.is_empty();
        if in_tag && !look.rest(at).starts_with('{') && python_names::is_call(look, at)? {
            if let Some(next) = self.python(walk, look)? {
                return Ok(next);
            }
        }
        if let Some(shape) = rule.json {
            if let Some(len) = fence::opening(look, at)? {
                self.fenced = look.behind_white(self.fenced.max(at + len));
                if calls::begins(look, self.fenced)? {
                    walk.fence.open();
                    return Ok(self.calls(walk, look, self.fenced, shape));
                }
            }
        }
        if let Some(shape) = rule.json {
            let is_json = !rule.python || in_tag || self.is_json(look, at)?;
            if look.rest(at).starts_with(['{', '[']) && is_json {
                return Ok(self.calls(walk, look, at, shape));
            }
        }
        if !rule.name.is_empty() {
            if let Some(next) = self.named(walk, look)? {
                return Ok(next);
            }
        }
        if in_tag && python_names::is_faulty_call(look, at)? {
            walk.leave(look);
            walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, self.start..at);
            return Ok(Recovery::new(at, rule.closes).over_marks().begin(walk, look));
        }
        if rule.python && !in_tag {
            if let Some(next) = self.python(walk, look)? {
                return Ok(next);
            }
        }
        if look.ended && self.is_begun(look) {
            return Ok(self.ended(walk, look));
        }
        if self.wraps_later(look)? {
            return Ok(Next::Inline(self.body));
        }
        if rule.otherwise == Otherwise::Prose && !rule.closes.is_empty() {
            if let Some(inner) = self.closed(look)? {
                return Ok(self.nonsense(walk, look, inner));
            }
        }
        Ok(self.nothing(walk, look))
    }

    /// What stands between this mark and its own close near it, where no other mark comes first.
    fn closed(&self, look: Look<'_>) -> Result<Option<Closed>, More> {
        let mut at = self.body;
        loop {
            let most = (self.body + NAME).saturating_sub(at);
            at += match look
                .until(at, most, |letter| u8::try_from(letter).is_ok_and(marks::may_begin))
            {
                Until::At(len) => len,
                Until::More => return Err(More),
                Until::Ended | Until::Beyond => return Ok(None),
            };
            if let Some(len) = look.any(at, self.rule.closes)? {
                return Ok(Some(Closed { inner: at, end: at + len }));
            }
            match look.setup.marks.at(look.rest(at)) {
                Lookup::Mark(mark, _) if mark.opens() || mark.guards() => return Ok(None),
                Lookup::Prefix if !look.ended => return Err(More),
                _ => at += json_text::letter(look.rest(at)),
            }
        }
    }

    /// Neither a call nor prose stands between the mark and its close. Prose that mentions both has blanks around what is between.
    fn nonsense(&self, walk: &mut Walk, look: Look<'_>, closed: Closed) -> Next {
        let inner = look.slice(self.body, closed.inner);
        let is_mention = inner.starts_with(labels::is_blank) && !inner.contains('\n');
        if is_mention && !walk.begins_line(look) {
            walk.push(look, self.start, closed.end);
            return Next::Inline(closed.end);
        }
        walk.leave(look);
        walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, self.start..closed.end);
        Next::Done(closed.end)
    }

    /// Whether what this mark is the wrapper of follows behind words: `<tool_call>Let me see. <function=find>`.
    fn wraps_later(&self, look: Look<'_>) -> Result<bool, More> {
        if self.rule.wraps.is_empty() || self.rule.otherwise != Otherwise::Prose {
            return Ok(false);
        }
        match look.until(self.body, NAME, |letter| letter == '<') {
            Until::At(len) => {
                let quoted = look.slice(self.body, self.body + len).ends_with(['`', '"', '\'']);
                Ok(!quoted && look.any(self.body + len, self.rule.wraps)?.is_some())
            }
            Until::More => Err(More),
            Until::Ended | Until::Beyond => Ok(false),
        }
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
    fn ended(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        if self.rule.otherwise == Otherwise::Drop && look.rest(self.white).is_empty() {
            return Next::Done(self.white);
        }
        walk.leave(look);
        Next::truncated(walk, look, self.start, None)
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

    fn calls(&self, walk: &mut Walk, look: Look<'_>, at: usize, shape: Shape) -> Next {
        if !walk.leave(look) {
            return Next::Done(at);
        }
        walk.draft.lock.goes_on(Behind::Json);
        Calls::marked(self.start, at, self.ends(), shape).begin(walk, look)
    }

    fn ends(&self) -> Ends {
        Ends { tags: self.rule.closes, ..Ends::default() }
    }

    /// Reads the attributes of the mark itself. Its token may end in the middle of the first one. Where they name no tool it is
    /// malformed, and where words stand in their place it is prose.
    fn attribute(
        &self,
        walk: &mut Walk,
        look: Look<'_>,
        attribute: &'static Attribute,
    ) -> Result<Next, More> {
        let rest = look.rest(self.body);
        let Some(end) = look.near(self.body, attribute.end, NAME) else {
            if !look.ended && rest.len() <= NAME + attribute.end.len() {
                return Err(More);
            }
            let attributes = self.attributes(look, look.text.len());
            let is_begun = self.is_special(look) || tags::may_begin_with_attribute(attributes);
            if look.ended && rest.len() <= NAME && is_begun {
                walk.leave(look);
                return Ok(Next::truncated(walk, look, self.start, None));
            }
            return Ok(self.nothing(walk, look));
        };
        let head = look.slice(self.start, self.body + end);
        let at = self.body + end + attribute.end.len();
        let name = tags::attribute(head, attribute.key);
        if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
            return Ok(self.then(walk, look, &name, at, Then::Tags(attribute.tags)));
        }
        let attributes = self.attributes(look, self.body + end);
        if !attributes.trim().is_empty() && !tags::begins_with_attribute(attributes) {
            return Ok(self.nothing(walk, look));
        }
        if !walk.leave(look) {
            return Ok(Next::Done(at));
        }
        Ok(Params::nameless(look, self.start, at, Words::new(attribute.tags)).begin(walk, look))
    }

    /// The attributes up to byte `end`. The mark may have the beginning of the first one.
    fn attributes<'a>(&self, look: Look<'a>, end: usize) -> &'a str {
        let mark = look.slice(self.start, self.body);
        let len = mark.rfind(' ').map_or(mark.len(), |at| at + 1);
        if mark.ends_with('>') { "" } else { look.slice(self.start + len, end) }
    }

    /// Whether no prose has the mark.
    fn is_special(&self, look: Look<'_>) -> bool {
        marks::trust(look.slice(self.start, self.body)) == Mark::Special
    }

    /// Reads a name and the mark behind it, if there is one.
    fn named(&mut self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        let rest = look.rest(self.white);
        let is_end = |letter: char| {
            let names = self.rule.name.iter().map(|(token, _)| token);
            letter == '\n' || names.chain(self.rule.closes).any(|token| token.starts_with(letter))
        };
        let len = match look.until(self.white, NAME + 1, is_end) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended if self.is_everybody(look, rest) => rest.len(),
            Until::Ended => return Ok(self.cut(walk, look, rest, "")),
            Until::Beyond => return Ok(None),
        };
        let name = rest.get(..len).unwrap_or_default();
        if self.is_everybody(look, name) {
            return Ok(Some(Next::Done(self.white + len)));
        }
        self.named = look.behind_white(self.named.max(self.white + len));
        let close = self.named;
        let tail = look.rest(close);
        if tail.is_empty() && !look.ended {
            return Err(More);
        }
        let words = look.slice(self.body, self.white + len);
        let mut more = false;
        for (token, then) in self.rule.name {
            match look.presence(close, token) {
                Presence::Yes if !self.may_be_json(look, name, token, *then) => {}
                Presence::Yes if matches!(then, Then::Input(_)) && !is_name(look, words) => {}
                Presence::Yes => {
                    let here = matches!(
                        then,
                        Then::FromToken | Then::TagsHere(_) | Then::Quoted(_) | Then::Python
                    );
                    let at = if here { close } else { close + token.len() };
                    let name = name.trim().trim_end_matches("\\n").trim_end();
                    walk.draft.lock.goes_on(Behind::Name(token));
                    let name = if *token == DISPLAYED { displayed(look, name) } else { name };
                    return Ok(Some(self.then(walk, look, name, at, *then)));
                }
                Presence::More => more = true,
                Presence::No => {}
            }
        }
        if more {
            return Err(More);
        }
        Ok(if look.ended { self.cut(walk, look, name, tail) } else { None })
    }

    /// Whether the name addresses everybody. Where prose may have the mark, it stands directly behind it.
    fn is_everybody(&self, look: Look<'_>, name: &str) -> bool {
        self.rule.everybody.is_some_and(|all| name.trim_end() == all)
            && (!self.rule.declared || self.white == self.body)
            && names::resolve(&look.setup.declared, CallKind::Tool, name).is_err()
    }

    /// Whether JSON behind a name belongs to a call. Behind a mark that prose has, too, the name has to be declared, or to look like
    /// one.
    fn may_be_json(&self, look: Look<'_>, name: &str, token: &str, then: Then) -> bool {
        if !matches!(then, Then::FromToken) || self.rule.otherwise != Otherwise::Prose {
            return true;
        }
        let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
        is_declared || token == DISPLAYED && python_names::is_name(displayed(look, name.trim()))
    }

    /// The text ended behind a name, or in the mark behind it.
    fn cut(&self, walk: &mut Walk, look: Look<'_>, name: &str, tail: &str) -> Option<Next> {
        let begins = self.rule.name.iter().any(|(token, _)| token.starts_with(tail));
        let is_mark = self.rule.otherwise == Otherwise::Malformed;
        let cut = begins && (is_mark || names::begins_tool(&look.setup.declared, name));
        cut.then(|| {
            walk.leave(look);
            Next::truncated(walk, look, self.start, None)
        })
    }

    /// Reads on behind a name, from byte `at`.
    fn then(&self, walk: &mut Walk, look: Look<'_>, name: &str, at: usize, then: Then) -> Next {
        let declared = &look.setup.declared;
        let is_declared = names::resolve(declared, CallKind::Tool, name).is_ok();
        if self.rule.declared && !is_declared {
            return self.nothing(walk, look);
        }
        if !walk.leave(look) {
            return Next::Done(at);
        }
        // A header that names a tool twice addresses it.
        let is_addressed = walk.addressee.as_deref() == Some(name);
        let name = names::doubled(name).filter(|_| is_addressed).unwrap_or(name);
        let (start, name) = (self.start, name.to_owned());
        let closes = self.rule.closes;
        let separator = |name| Separator::new(start, at, name, closes).between(self.rule.between);
        match then {
            Then::Input(tags) => ToolInput::new(start, at, name, tags).begin(walk, look),
            Then::Words(tags) => {
                ToolInput::new(start, at, name, tags).needs_input().begin(walk, look)
            }
            Then::Named => separator(String::new()).named(name).begin(walk, look),
            Then::Json | Then::FromToken => separator(name).begin(walk, look),
            Then::Id => separator(name).with_id().begin(walk, look),
            Then::Typed => separator(name).typed().begin(walk, look),
            Then::Quoted(quote) => separator(name).quoted(quote).begin(walk, look),
            Then::Tags(tags) | Then::TagsHere(tags) => {
                Params::new(look, start, at, name, Words::new(tags)).begin(walk, look)
            }
            Then::Python => PythonCalls::marked(start, self.white, closes).begin(walk, look),
            Then::Calls => Self::new(start, at, &INVOKED).begin(walk, look),
        }
    }

    fn python(&self, walk: &mut Walk, look: Look<'_>) -> Result<Option<Next>, More> {
        let Some(name) = python_names::first_name(look, self.white)? else { return Ok(None) };
        let declared = &look.setup.declared;
        if self.rule.declared && names::resolve(declared, CallKind::Tool, name).is_err() {
            return Ok(None);
        }
        if !walk.leave(look) {
            return Ok(Some(Next::Done(self.white)));
        }
        walk.draft.lock.goes_on(Behind::Python);
        let python = PythonCalls::marked(self.start, self.white, self.rule.closes);
        let python = python.in_tag(!self.rule.name.is_empty());
        Ok(Some((if self.rule.declared { python.code() } else { python }).begin(walk, look)))
    }

    /// Nothing of the format follows the mark.
    fn nothing(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        match self.rule.otherwise {
            Otherwise::Drop => Next::Done(self.body),
            Otherwise::Malformed => {
                walk.leave(look);
                let span = self.start..self.white;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, span);
                if self.rule.closes.is_empty() {
                    return Next::Done(self.white);
                }
                Recovery::new(self.white, self.rule.closes).one_line().begin(walk, look)
            }
            Otherwise::Prose => {
                walk.push(look, self.start, self.body);
                Next::Inline(self.body)
            }
        }
    }
}

impl Reader for Dispatch {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        match self.decide(walk, look) {
            Ok(next) => next,
            Err(More) => Next::More,
        }
    }
}

/// Whether words between a mark and its close may name a tool: one that is declared, or a word without a blank before it.
fn is_name(look: Look<'_>, words: &str) -> bool {
    let part =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '/');
    let name = words.trim();
    let is_word =
        !name.is_empty() && name.chars().all(part) && !words.starts_with(labels::is_blank);
    is_word || names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok()
}

/// What stands between a name and its JSON in GLM 5.3's calls, where the name as it is displayed may stand before.
const DISPLAYED: &str = ">{";

/// `name` without what it is displayed as, which is no part of a declared one: `Weather/get_weather`.
fn displayed<'a>(look: Look<'_>, name: &'a str) -> &'a str {
    let is_declared = names::resolve(&look.setup.declared, CallKind::Tool, name).is_ok();
    let short = name.rsplit_once('/').map(|(_, name)| name).filter(|_| !is_declared);
    short.unwrap_or(name)
}

/// JSON behind a header that named the tool.
const INVOKED: Rule = Rule {
    json: Some(Shape::Members),
    closes: &["<|end_message|>"],
    otherwise: Otherwise::Malformed,
    ..Rule::NEW
};
