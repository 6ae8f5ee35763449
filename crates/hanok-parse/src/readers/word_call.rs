//! Calls whose argument is words, or an object: `<tool: find> what to find </tool>`.

use crate::{
    declared::CallKind,
    json::{json_text, scan::Ends},
    readers::{
        json_arguments::JsonArguments,
        reader::{Next, Reader},
        walk::Walk,
    },
    reply::{called::Called, input::Input},
    text::look::Look,
};

/// The longest name.
const NAME: usize = 256;

/// The most bytes before an object: what stands farther behind is words.
const HEAD: usize = 1_024;

/// A call that is being read up to its close mark.
#[derive(Debug, Clone)]
pub(crate) struct WordCall {
    start: usize,
    /// Behind the mark.
    body: usize,
    ahead: usize,
    /// The mark that closes it.
    close: &'static &'static str,
    /// No object is its argument.
    has_words: bool,
}

/// What the beginning of a call says of its argument.
enum Head<'a> {
    /// It is an object, so many bytes behind the beginning, of the call of this name.
    Object(&'a str, usize),
    /// It is words.
    Words,
    /// That is not to be seen yet.
    Open,
}

/// A name and what it has: behind `<tool: function>` it stands on the next line.
fn named(text: &str) -> &str {
    let behind = text.trim_start().strip_prefix("function").map(str::trim_start);
    behind.and_then(|behind| behind.strip_prefix('>')).unwrap_or(text)
}

/// The name that `named` begins with, and what stands behind it. Nothing where the name does not end.
fn name_and_argument(named: &str) -> Option<(&str, &str)> {
    let stop = named.find(|letter: char| letter.is_whitespace() || letter == '>')?;
    let (name, behind) = named.split_at_checked(stop)?;
    Some((name, behind.strip_prefix('>').unwrap_or(behind)))
}

/// What stands behind the mark of a call: `find {`, or `function>` and that on the next line. Within an object a close mark is text.
fn head(text: &str) -> Head<'_> {
    let open = if text.len() > HEAD { Head::Words } else { Head::Open };
    let Some((name, argument)) = name_and_argument(named(text).trim_start()) else { return open };
    let argument = argument.trim_start();
    let at = text.len() - argument.len();
    if name.is_empty() || name.len() > NAME || name.contains('<') || at > HEAD {
        return Head::Words;
    }
    let Some(object) = argument.strip_prefix('{') else {
        return if argument.is_empty() { open } else { Head::Words };
    };
    let inside = object.trim_start();
    // A block of a program is no object. What is decided behind the limit is words, however the text comes.
    match inside.chars().next() {
        Some('"' | '}') if text.len() - inside.len() <= HEAD => Head::Object(name, at),
        Some(_) => Head::Words,
        None => open,
    }
}

impl WordCall {
    /// A call whose mark stands from `start` to `body`.
    pub(crate) fn new(start: usize, body: usize, close: &'static &'static str) -> Self {
        Self { start, body, ahead: body, close, has_words: false }
    }

    /// The call of `name` with the object at byte `at`.
    fn object(&self, walk: &mut Walk, look: Look<'_>, name: &str, at: usize) -> Next {
        if !walk.leave(look) {
            return Next::Done(at);
        }
        let tags = std::slice::from_ref(self.close);
        let (ends, kind) = (Ends { tags, ..Ends::default() }, CallKind::Tool);
        JsonArguments::new(walk, look, kind, name.to_owned(), self.start, at, ends)
            .begin(walk, look)
    }

    /// The call whose close mark stands at `end`.
    fn done(&self, walk: &mut Walk, look: Look<'_>, end: usize) -> Next {
        let behind = end + self.close.len();
        if !walk.leave(look) {
            return Next::Done(behind);
        }
        let inner = look.slice(self.body, end);
        let inner = named(inner).trim();
        let (name, words) = name_and_argument(inner).unwrap_or((inner, ""));
        let span = self.start..behind;
        let called = Called::tool(name, span, self.body..end);
        walk.call(look, called, Input::from_text(words));
        Next::Done(behind)
    }
}

impl Reader for WordCall {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        if !self.has_words {
            match head(look.rest(self.body)) {
                Head::Object(name, at) => return self.object(walk, look, name, self.body + at),
                Head::Open if !look.ended => return Next::More,
                Head::Open | Head::Words => self.has_words = true,
            }
        }
        let rest = look.rest(self.ahead);
        if let Some(len) = rest.find(*self.close) {
            return self.done(walk, look, self.ahead + len);
        }
        if look.ended {
            let inner = look.slice(self.body, look.text.len());
            let name = inner.split_whitespace().next().filter(|name| name.len() <= NAME);
            walk.leave(look);
            return Next::truncated(walk, look, self.start, name);
        }
        self.ahead += rest.len() - json_text::overlap(rest, self.close);
        Next::More
    }
}
