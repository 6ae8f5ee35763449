//! Calls as JSON objects, one after the other, in a list or separated by `;`.

use std::ops::Range;

use crate::{
    declared::CallKind,
    json::scan::{Ends, Read, Scan},
    readers::{
        data_list::DataList,
        reader::{Next, Reader},
        skip::{Skip, Then},
        trailer::Trailer,
        walk::{Mode, Walk},
    },
    reply::{
        called::Called,
        draft::Draft,
        error::{ErrorKind, Expected},
        event::Event,
        input::Input,
        json_calls::{self, Pair},
    },
    text::{look::Look, presence::More, rule::Shape},
};

/// A fault this near to the start of its line sends reading back there.
const NEAR: usize = 256;
/// How much white space may stand between the brackets that begin a list.
const GAP: usize = 64;

#[derive(Debug, Clone)]
enum Stage {
    /// Before the first object.
    Lead,
    Object(Box<Scan>),
    /// Behind an object that ends here. The second value is behind the last separator, the third how far was looked.
    Between(usize, usize, usize),
}

/// A list of calls that is being read. One that breaks off keeps the calls before.
#[derive(Debug, Clone)]
pub(crate) struct Calls {
    stage: Stage,
    /// Where the marker stands.
    start: usize,
    /// Where the list, or this object of it, begins.
    opening: usize,
    at: usize,
    ends: Ends,
    shape: Shape,
    /// Nothing but a declared name says that these are calls.
    bare: bool,
    /// Up to here the object went to the content.
    released: Option<usize>,
    /// Where the arguments of the object at hand begin in what is written, once its name was told.
    arguments: Option<usize>,
    /// The word in whose round brackets they stand.
    word: Option<Range<usize>>,
}

/// Whether an object begins at `at`, or a list of objects.
pub(crate) fn begins(look: Look<'_>, at: usize) -> Result<bool, More> {
    let rest = look.rest(at);
    let Some(list) = rest.strip_prefix('[') else {
        return if rest.is_empty() && !look.ended { Err(More) } else { Ok(rest.starts_with('{')) };
    };
    let value = list.trim_start();
    match value.bytes().next() {
        None if !look.ended && list.len() <= GAP => Err(More),
        Some(b'{') => Ok(list.len() - value.len() <= GAP),
        _ => Ok(false),
    }
}

impl Calls {
    /// Calls from byte `at`, whose marker stands at `start`.
    pub(crate) fn marked(start: usize, at: usize, ends: Ends, shape: Shape) -> Self {
        Self {
            stage: Stage::Lead,
            start,
            opening: at,
            at,
            ends,
            shape,
            bare: false,
            released: None,
            arguments: None,
            word: None,
        }
    }

    /// The same in round brackets behind `word`, which an object calls that names nothing itself.
    pub(crate) fn in_brackets_of(self, word: Option<Range<usize>>) -> Self {
        Self { word, ..self }
    }

    /// Calls at byte `at` that no marker tells.
    pub(crate) fn bare(at: usize) -> Self {
        let ends = Ends { fence: true, ..Ends::default() };
        Self { bare: true, ..Self::marked(at, at, ends, Shape::Members) }
    }

    /// Reading goes on behind an object that could not be read.
    pub(crate) fn behind(&mut self, at: usize) {
        self.at = at;
        self.stage = Stage::Between(at, at, at);
    }

    pub(crate) fn closes(&self) -> &'static [&'static str] {
        self.ends.tags
    }

    fn lead(&mut self, walk: &mut Walk, look: Look<'_>) -> Step {
        let rest = look.rest(self.at);
        let list = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '[');
        self.at += rest.len() - list.len();
        if list.is_empty() && !look.ended {
            return Step::More(Stage::Lead);
        }
        if list.is_empty() {
            return Step::Next(Next::truncated(walk, look, self.start, None));
        }
        if list.starts_with('{') {
            return Step::Stage(self.next_object(walk));
        }
        if !list.starts_with(']') {
            let span = self.start..self.at;
            walk.draft.fail(ErrorKind::Malformed, Expected::Object, None, span);
        }
        // An empty list calls nothing.
        Step::Stage(Stage::Between(self.at, self.at, self.at))
    }

    fn next_object(&mut self, walk: &mut Walk) -> Stage {
        self.arguments = None;
        let mut scan = Scan::reusing(&mut walk.spare, self.at, self.ends);
        scan.bare = self.bare;
        Stage::Object(scan)
    }

    fn object(&mut self, walk: &mut Walk, look: Look<'_>, mut scan: Box<Scan>) -> Step {
        match scan.read(look.text, look.ended) {
            Read::More => {
                self.tell(walk, look, &scan);
                Step::More(Stage::Object(scan))
            }
            Read::Member => {
                if !scan.has_many() && json_calls::is_text(&scan, &look.setup.declared) {
                    walk.draft.abandon();
                    self.released = Some(self.opening);
                    scan.released = true;
                    scan.bare = false;
                }
                Step::Stage(Stage::Object(scan))
            }
            Read::Done => self.done(walk, look, scan),
            fault @ (Read::Bad | Read::Cut) if self.bare => {
                Step::Next(self.bare_fault(walk, look, &scan, fault == Read::Cut))
            }
            Read::Cut => {
                let name = json_calls::name(&scan);
                Step::Next(Next::truncated(walk, look, self.start, name.as_deref()))
            }
            Read::Bad => {
                let name = json_calls::name(&scan);
                let span = self.start..scan.at;
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, name.as_deref(), span);
                Step::Skip(Box::new(Skip::new(&scan, self.at, Then::Close(&[]))))
            }
        }
    }

    /// Tells what is known of the object at hand, or gives it to the content.
    fn tell(&mut self, walk: &mut Walk, look: Look<'_>, scan: &Scan) {
        if let Some(from) = self.released {
            let to = near_line(scan, self.at).max(from);
            walk.push(look, from, to);
            self.released = Some(to);
            return;
        }
        // The arguments are the second bracket.
        if self.shape != Shape::Members || scan.depth() < 2 {
            return;
        }
        if self.arguments.is_none() {
            if let Some((name, from)) = json_calls::open_call(scan, &look.setup.declared) {
                walk.draft.announce(CallKind::Tool, &name, || None);
                self.arguments = Some(from);
            }
        }
        if let Some(from) = self.arguments {
            walk.draft.tell_more(scan.out.get(from..).unwrap_or_default());
        }
    }

    fn done(&mut self, walk: &mut Walk, look: Look<'_>, mut scan: Box<Scan>) -> Step {
        let from = self.at;
        let declared = &look.setup.declared;
        let is_text = self.released.is_some();
        let is_list = self.bare && look.rest(self.opening).starts_with('[');
        let mut calls = if is_text && !is_list {
            Vec::new()
        } else {
            json_calls::calls(&scan, self.shape, self.bare)
        };
        if self.bare {
            calls.retain(|call| !json_calls::is_definition(&scan, declared, &call.name));
        }
        let is_data = is_list && calls.is_empty();
        if self.bare {
            calls.retain(|call| !is_text && json_calls::is_known(declared, &call.name));
        }
        self.at = scan.at;
        if let Some(word) = self.word.as_ref().filter(|_| calls.is_empty()) {
            let name = look.slice(word.start, word.end).to_owned();
            let whole = Input::Object(scan.out.clone());
            calls.push(Pair { name, input: whole, id: None, whole: true });
        }
        if calls.is_empty() {
            return self.nothing(walk, look, is_data);
        }
        if self.bare && !walk.leave(look) {
            return Step::Next(Next::Inline(self.at));
        }
        walk.draft.spelled(from..scan.at, scan.escaped);
        walk.draft.repaired(from..scan.at, std::mem::take(&mut scan.repairs));
        self.make(walk, look, &scan, calls, from);
        walk.spare = Some(scan);
        if walk.mode == Mode::Dead {
            return Step::Next(Next::Inline(self.at));
        }
        Step::Stage(Stage::Between(self.at, self.at, self.at))
    }

    fn make(&self, walk: &mut Walk, look: Look<'_>, scan: &Scan, calls: Vec<Pair>, from: usize) {
        for Pair { name, input, id, whole } in calls {
            let span = self.start..self.at;
            let called = Called::tool(&name, span, from..self.at).id(id).untold(!whole);
            let members = match &input {
                Input::Object(json) => scan.last_object(json),
                _ => None,
            };
            walk.call(look, called.members(members), input);
        }
    }

    /// An object that is no call, or calls what is not declared. What stands behind it in a list of data `is_data`, too.
    fn nothing(&mut self, walk: &mut Walk, look: Look<'_>, is_data: bool) -> Step {
        walk.draft.abandon();
        if self.bare {
            walk.push(look, self.released.unwrap_or(self.opening), self.at);
            if is_data {
                return Step::Next(DataList::behind_item(self.at).begin(walk, look));
            }
            return Step::Next(Next::Inline(self.at));
        }
        let span = self.start..self.at;
        walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, span);
        Step::Stage(Stage::Between(self.at, self.at, self.at))
    }

    /// Without a marker it is text, unless it began like a call and the text ended.
    fn bare_fault(&mut self, walk: &mut Walk, look: Look<'_>, scan: &Scan, cut: bool) -> Next {
        walk.draft.abandon();
        let from = self.released.unwrap_or(self.opening);
        let to = match self.released {
            None if cut && json_calls::began_as_call(scan) => {
                walk.leave(look);
                let name = json_calls::name(scan);
                return Next::truncated(walk, look, self.opening, name.as_deref());
            }
            None if cut => self.first_line(walk, look),
            Some(_) if cut => look.text.len(),
            _ => near_line(scan, self.at).max(from),
        };
        walk.push(look, from, to);
        Next::text(to, look.slice(self.opening, to).ends_with('\n'))
    }

    /// Behind the line on which the object begins, which says nothing of a call.
    fn first_line(&self, walk: &mut Walk, look: Look<'_>) -> usize {
        walk.unclosed += 1;
        let line = look.rest(self.at).find('\n').filter(|_| walk.unclosed <= 8);
        line.map_or(look.text.len(), |end| self.at + end + 1)
    }

    fn between(
        &mut self,
        walk: &mut Walk,
        look: Look<'_>,
        end: usize,
        mut behind: usize,
        mut ahead: usize,
    ) -> Step {
        for letter in look.rest(ahead).chars() {
            match letter {
                ';' | ',' | '}' | ']' => behind = ahead + 1,
                ')' if self.word.is_some() => behind = ahead + 1,
                '[' => {}
                '{' => {
                    self.start = ahead;
                    self.opening = ahead;
                    self.at = ahead;
                    return Step::Stage(self.next_object(walk));
                }
                _ if letter.is_whitespace() => {}
                _ => return Step::After(behind),
            }
            ahead += letter.len_utf8();
        }
        if look.ended {
            Step::After(behind)
        } else {
            Step::More(Stage::Between(end, behind, ahead))
        }
    }
}

impl Reader for Calls {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Lead);
            let step = match stage {
                Stage::Lead => self.lead(walk, look),
                Stage::Object(scan) => self.object(walk, look, scan),
                Stage::Between(end, behind, ahead) => self.between(walk, look, end, behind, ahead),
            };
            match step {
                Step::Stage(stage) => self.stage = stage,
                Step::Skip(mut skip) => {
                    skip.then = Then::List(Box::new(self.clone()));
                    return Next::Then(skip);
                }
                Step::After(at) => return Trailer::new(at, self.ends.tags).begin(walk, look),
                Step::Next(next) => return next,
                Step::More(stage) => {
                    self.stage = stage;
                    return Next::More;
                }
            }
        }
    }

    #[inline]
    fn takes(&mut self, draft: &mut Draft, text: &str, out: &mut Vec<Event>) -> bool {
        let Stage::Object(scan) = &mut self.stage else { return false };
        // A call whose name was not told yet is read the long way, and so is what went to the content.
        let is_more = self.arguments.is_some() || self.shape != Shape::Members;
        let taken = is_more && self.released.is_none() && scan.takes(text);
        if let Some(from) = self.arguments.filter(|_| taken && scan.depth() > 1) {
            draft.tell_more_to(out, scan.out.get(from..).unwrap_or_default());
        }
        taken
    }
}

/// What is read next.
enum Step {
    Stage(Stage),
    /// The same, when the text goes on.
    More(Stage),
    Skip(Box<Skip>),
    /// What belongs to the list that ends here.
    After(usize),
    /// The list is read.
    Next(Next),
}

/// Where reading goes on when `scan` turns out to be text: at the start of its line, if that is near.
fn near_line(scan: &Scan, from: usize) -> usize {
    match scan.line {
        Some(line) if line > from && scan.at.saturating_sub(line) <= NEAR => line,
        _ => scan.at,
    }
}
