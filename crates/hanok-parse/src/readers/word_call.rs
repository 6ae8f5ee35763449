//! Calls whose argument is words: `<tool: find> what to find </tool>`.

use crate::{
    json::json_text,
    readers::{
        reader::{Next, Reader},
        walk::Walk,
    },
    reply::{called::Called, input::Input},
    text::look::Look,
};

/// The longest name.
const NAME: usize = 256;

/// A call that is being read up to its close mark.
#[derive(Debug, Clone)]
pub(crate) struct WordCall {
    start: usize,
    /// Behind the mark.
    body: usize,
    ahead: usize,
    close: &'static str,
}

impl WordCall {
    /// A call whose mark stands from `start` to `body`.
    pub(crate) fn new(start: usize, body: usize, close: &'static str) -> Self {
        Self { start, body, ahead: body, close }
    }

    /// The call whose close mark stands at `end`.
    fn done(&self, walk: &mut Walk, look: Look<'_>, end: usize) -> Next {
        let behind = end + self.close.len();
        if !walk.leave(look) {
            return Next::Done(behind);
        }
        let inner = look.slice(self.body, end);
        // `<tool: function>`: the name stands on the next line.
        let kind = inner.split_once('>').filter(|(kind, _)| kind.trim() == "function");
        let inner = kind.map_or(inner, |(_, inner)| inner).trim();
        let stop = inner.find(|letter: char| letter.is_whitespace() || letter == '>');
        let (name, words) = inner.split_at_checked(stop.unwrap_or(inner.len())).unwrap_or_default();
        let words = words.strip_prefix('>').unwrap_or(words);
        let span = self.start..behind;
        let called = Called::tool(name, span, self.body..end);
        walk.call(look, called, Input::from_text(words));
        Next::Done(behind)
    }
}

impl Reader for WordCall {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let rest = look.rest(self.ahead);
        if let Some(len) = rest.find(self.close) {
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
