//! Calls as PythonCalls writes them: `[find(q="x", n=-1), other()]`.

use std::ops::Range;

use crate::{
    declared::CallKind,
    json::{
        fault::Repair,
        members::{Member, Members},
        scan::{Dialect, Ends, Read, Scan},
    },
    readers::{
        python_names,
        reader::{Next, Reader},
        recovery::Recovery,
        trailer::Trailer,
        walk::{Mode, Walk},
    },
    reply::{
        called::Called,
        error::{ErrorKind, Expected},
        input::Input,
        note::NoteKind,
    },
    text::{look::Look, names, presence::More},
};

/// The longest name.
const NAME: usize = 256;

#[derive(Debug, Clone)]
enum Stage {
    /// Before a name. How far was looked, and whether a call stood before.
    Between(usize, bool),
    Args(String, Box<Scan>),
    /// Behind a name and its bracket: is an object all that is given?
    First(String, usize, usize),
    /// In that object.
    Object(String, Box<Scan>),
    /// Behind it, before the bracket.
    Close(String, Box<Scan>, usize),
}

/// A list of calls that is being read.
#[derive(Debug, Clone)]
pub(crate) struct PythonCalls {
    stage: Stage,
    start: usize,
    /// Where the list, or this call of it, begins.
    at: usize,
    closes: &'static [&'static str],
    /// Nothing but a declared name says that these are calls.
    bare: bool,
    declared_name: Option<String>,
    /// The call stands in a tag: where it cannot be read, what follows is data up to the close mark.
    in_tag: bool,
    /// Code: only declared names are calls, and they may stand in `print(…)`.
    code: bool,
    /// Behind what was read last.
    behind: usize,
    /// Where the list begins, and the calls in it that wait for its end.
    list: usize,
    waiting: Vec<Waiting>,
}

/// A call of a list that no mark told.
#[derive(Debug, Clone)]
struct Waiting {
    name: String,
    span: Range<usize>,
    written: Range<usize>,
    json: String,
    members: Vec<Member>,
    repairs: Vec<Repair>,
}

impl PythonCalls {
    /// Calls from byte `at`, whose mark stands at `start`.
    pub(crate) fn marked(start: usize, at: usize, closes: &'static [&'static str]) -> Self {
        let (stage, declared_name, waiting) = (Stage::Between(at, false), None, Vec::new());
        Self {
            stage,
            start,
            at,
            closes,
            bare: false,
            declared_name,
            in_tag: false,
            code: false,
            behind: at,
            list: at,
            waiting,
        }
    }

    /// A list at byte `at` that no mark tells.
    pub(crate) fn bare(at: usize) -> Self {
        Self { bare: true, ..Self::marked(at, at, &[]) }
    }

    /// The same in a tag.
    pub(crate) fn in_tag(self, in_tag: bool) -> Self {
        Self { in_tag, ..self }
    }

    /// The same in code, where only declared names are calls.
    pub(crate) fn code(self) -> Self {
        Self { code: true, ..self }
    }

    /// Looks for the next call behind brackets, commas and line breaks.
    fn between(&mut self, walk: &mut Walk, look: Look<'_>, from: usize, after: bool) -> Step {
        let rest = look.rest(from);
        let tail = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace()
                || matches!(letter, '[' | ',' | ';')
                || after && (letter == ']' || self.code && letter == ')')
        });
        let mut ahead = from + rest.len() - tail.len();
        if self.code {
            match python_names::printed(look, ahead) {
                Ok(python_names::Print::Call(behind)) => ahead = behind,
                Ok(python_names::Print::Result(behind)) => {
                    self.behind = behind;
                    return Step::Stage(Stage::Between(behind, after));
                }
                Ok(python_names::Print::Nothing) => {}
                Err(More) => return Step::More(Stage::Between(ahead, after)),
            }
        }
        if tail.is_empty() && !look.ended {
            return Step::More(Stage::Between(ahead, after));
        }
        match self.next_name(look, ahead, after) {
            Ok(Some(name)) => {
                if after {
                    self.start = ahead;
                    self.at = ahead;
                }
                let from = ahead + name.len();
                let declared = &look.setup.declared;
                let written = python_names::without_call(look, name);
                self.declared_name = names::resolve(declared, CallKind::Tool, written).ok();
                Step::Stage(Stage::First(written.to_owned(), from, from + 1))
            }
            Ok(None) => self.end(walk, look, ahead, after),
            Err(More) => Step::More(Stage::Between(ahead, after)),
        }
    }

    /// The name at `ahead`. Behind a call that no mark told, only a declared name goes on with the list.
    fn next_name<'a>(
        &self,
        look: Look<'a>,
        ahead: usize,
        after: bool,
    ) -> Result<Option<&'a str>, More> {
        let in_list = !(after && look.slice(self.at, ahead).contains(']'));
        if !in_list {
            return Ok(None);
        }
        let Some(name) = python_names::name(look, ahead)? else { return Ok(None) };
        let declared = &look.setup.declared;
        // A name that is not declared is told, where it stands in a list that calls what is.
        let is_item = self.bare && after && python_names::is_name(name);
        let is_free = is_item || !(self.bare || self.code && after);
        let counts = is_free || names::resolve(declared, CallKind::Tool, name).is_ok();
        Ok(counts.then_some(name))
    }

    /// No other call stands at `ahead`.
    fn end(&mut self, walk: &mut Walk, look: Look<'_>, ahead: usize, after: bool) -> Step {
        let rest = look.rest(ahead);
        let in_list = !look.slice(self.at, ahead).contains(']');
        if after && look.ended && !rest.is_empty() && in_list && python_names::is_begun(look, rest)
        {
            return Step::Next(if self.make(walk, look) {
                Next::truncated(walk, look, ahead, None)
            } else {
                Next::Inline(self.behind)
            });
        }
        if after && self.bare {
            return self.end_bare(walk, look, ahead);
        }
        if after {
            let is_closer = |letter| letter == ']' || self.code && letter == ')';
            let closers = look.slice(self.behind, ahead).rfind(is_closer);
            let closers = closers.map_or(0, |last| last + 1);
            return self.trailer(walk, look, self.behind + closers);
        }
        if look.rest(ahead).is_empty() {
            return Step::Next(Next::truncated(walk, look, self.start, None));
        }
        if look.rest(ahead).starts_with(']') {
            return self.trailer(walk, look, ahead + 1);
        }
        let name = look.rest(ahead);
        if look.ended && name.len() < NAME && !name.contains(['\n', ' ', '(']) {
            return Step::Next(Next::truncated(walk, look, self.start, None));
        }
        walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, self.start..ahead);
        self.trailer(walk, look, ahead)
    }

    /// The list ends at byte `at`.
    fn trailer(&self, walk: &mut Walk, look: Look<'_>, at: usize) -> Step {
        Step::Next(Trailer::new(at, self.closes).begin(walk, look))
    }

    /// The list that no mark told ends before `ahead`.
    fn end_bare(&mut self, walk: &mut Walk, look: Look<'_>, ahead: usize) -> Step {
        let behind = self.at;
        let closer = look.slice(behind, ahead).find(']').map(|closer| behind + closer + 1);
        if closer.is_none() && look.cut && look.is_end(ahead) {
            self.waiting.clear();
            return Step::Next(Next::truncated(walk, look, self.list, None));
        }
        let Some(at) = closer.or_else(|| look.is_end(ahead).then_some(ahead)) else {
            return self.release(walk, look, behind);
        };
        // The words of a link, or code that goes on.
        if look.rest(at).starts_with(['(', ':']) {
            return self.release(walk, look, at);
        }
        // A line with several lists talks about them.
        match python_names::another_list(look, at) {
            Ok(false) => {}
            Ok(true) => {
                walk.show_from(at, "\n", true);
                return self.release(walk, look, at);
            }
            Err(More) => return Step::More(Stage::Between(ahead, true)),
        }
        if !self.make(walk, look) {
            return Step::Next(Next::Inline(self.behind));
        }
        self.trailer(walk, look, at)
    }

    /// Makes the calls that wait. `false` when the reply is over.
    fn make(&mut self, walk: &mut Walk, look: Look<'_>) -> bool {
        if self.bare && !walk.leave(look) {
            return false;
        }
        for call in std::mem::take(&mut self.waiting) {
            let Waiting { name, span, written, json, members, repairs } = call;
            self.behind = span.end;
            walk.draft.repaired(written.clone(), repairs);
            let members = Members { list: &members, at: 0 };
            let called = Called::tool(&name, span, written).members(Some(members));
            walk.call(look, called, Input::Object(json));
        }
        true
    }

    /// The list is text, up to `to`.
    fn release(&mut self, walk: &mut Walk, look: Look<'_>, to: usize) -> Step {
        walk.push(look, self.list, to);
        Step::Next(Next::Inline(to))
    }

    /// Looks behind the bracket at `from` for an object, which is all that is given then.
    fn first(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        name: String,
        from: usize,
        ahead: usize,
    ) -> Step {
        let ends = Ends { tags: self.closes, ..Ends::default() };
        let inner = look.behind_white(ahead);
        let rest = look.rest(inner);
        if rest.is_empty() && !look.ended {
            return Step::More(Stage::First(name, from, inner));
        }
        if rest.starts_with('{') {
            let mut scan = Scan::reusing(&mut walk.spare, inner, Ends::default());
            scan.native_words = true;
            return Step::Stage(Stage::Object(name, scan));
        }
        let only =
            self.declared_name.as_ref().and_then(|tool| look.setup.declared.only_param(tool));
        let mut scan = Scan::reusing(&mut walk.spare, from, ends);
        scan.dialect = Dialect::Python;
        scan.positional = only.map(str::to_owned);
        Step::Stage(Stage::Args(name, scan))
    }

    fn object(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        name: String,
        mut scan: Box<Scan>,
    ) -> Step {
        match scan.read(look.text, look.ended) {
            Read::More => {
                if let Some(declared_name) = self.declared_name.as_ref().filter(|_| !self.bare) {
                    walk.draft.tell_part(CallKind::Tool, declared_name, &scan.out, || None);
                }
                Step::More(Stage::Object(name, scan))
            }
            Read::Done | Read::Member => {
                let ahead = scan.at;
                Step::Stage(Stage::Close(name, scan, ahead))
            }
            fault => self.fault(walk, look, &name, &scan, fault),
        }
    }

    /// Reads the bracket behind the object.
    fn close(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        name: String,
        mut scan: Box<Scan>,
        ahead: usize,
    ) -> Step {
        let at = look.behind_white(ahead);
        let rest = look.rest(at);
        if rest.starts_with(')') {
            scan.at = at + 1;
            return self.done(walk, look, &name, scan);
        }
        if rest.is_empty() && !look.ended {
            return Step::More(Stage::Close(name, scan, at));
        }
        scan.at = at;
        let fault = if rest.is_empty() { Read::Cut } else { Read::Bad };
        self.fault(walk, look, &name, &scan, fault)
    }

    /// The arguments cannot be read, or break off.
    fn fault(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        name: &str,
        scan: &Scan,
        fault: Read,
    ) -> Step {
        if self.bare {
            return self.text(walk, look, scan.at);
        }
        if fault == Read::Cut {
            return Step::Next(Next::truncated(walk, look, self.start, Some(name)));
        }
        let span = self.start..scan.at;
        walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(name), span);
        if self.in_tag {
            let data = Recovery::new(scan.at, self.closes).over_marks();
            return Step::Next(data.begin(walk, look));
        }
        self.trailer(walk, look, scan.at)
    }

    fn args(&mut self, walk: &mut Walk, look: Look<'_>, name: String, mut scan: Box<Scan>) -> Step {
        match scan.read(look.text, look.ended) {
            Read::More => {
                if let Some(declared_name) = self.declared_name.as_ref().filter(|_| !self.bare) {
                    walk.draft.tell_part(CallKind::Tool, declared_name, &scan.out, || None);
                }
                Step::More(Stage::Args(name, scan))
            }
            Read::Done | Read::Member => self.done(walk, look, &name, scan),
            fault => self.fault(walk, look, &name, &scan, fault),
        }
    }

    fn done(&mut self, walk: &mut Walk, look: Look<'_>, name: &str, mut scan: Box<Scan>) -> Step {
        let written = look.text.len().min(self.at)..scan.at;
        let span = self.start..scan.at;
        self.at = scan.at;
        if self.bare {
            let (name, json) = (name.to_owned(), scan.take_out());
            let repairs = std::mem::take(&mut scan.repairs);
            let members = scan.members.clone();
            walk.spare = Some(scan);
            self.waiting.push(Waiting { name, span, written, json, members, repairs });
            return Step::Stage(Stage::Between(self.at, true));
        }
        self.behind = scan.at;
        walk.draft.repaired(written.clone(), std::mem::take(&mut scan.repairs));
        let json = Input::Object(scan.take_out());
        let called = Called::tool(name, span, written).members(Some(scan.all()));
        walk.call(look, called.resolved(self.declared_name.as_deref()), json);
        walk.spare = Some(scan);
        if walk.mode == Mode::Dead {
            return Step::Next(Next::Inline(self.behind));
        }
        Step::Stage(Stage::Between(self.behind, true))
    }

    /// It is no call, and nothing said that it was: a text that ended in the arguments of a declared tool is one.
    fn text(&mut self, walk: &mut Walk, look: Look<'_>, at: usize) -> Step {
        walk.draft.abandon();
        if look.ended && at >= look.text.len() {
            return Step::Next(if self.make(walk, look) {
                let name = self.declared_name.as_deref();
                Next::truncated(walk, look, self.start, name)
            } else {
                Next::Inline(self.behind)
            });
        }
        walk.draft.note(NoteKind::Unreadable, self.list..at);
        // Its arguments are data, read or not.
        walk.show_from(at, ")]", false);
        self.release(walk, look, at)
    }
}

impl Reader for PythonCalls {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Between(self.at, false));
            let step = match stage {
                Stage::Between(ahead, after) => self.between(walk, look, ahead, after),
                Stage::Args(name, scan) => self.args(walk, look, name, scan),
                Stage::First(name, from, ahead) => self.first(walk, look, name, from, ahead),
                Stage::Object(name, scan) => self.object(walk, look, name, scan),
                Stage::Close(name, scan, ahead) => self.close(walk, look, name, scan, ahead),
            };
            match step {
                Step::Stage(stage) => self.stage = stage,
                Step::Next(next) => return next,
                Step::More(stage) => {
                    self.stage = stage;
                    return Next::More;
                }
            }
        }
    }
}

enum Step {
    Stage(Stage),
    /// The same, when the text goes on.
    More(Stage),
    /// The list is read.
    Next(Next),
}
