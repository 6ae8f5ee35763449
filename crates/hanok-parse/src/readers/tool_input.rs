//! `<tool_call>name</tool_call>` and the `<tool_input>` behind it, or what a table has in place of it.
//!
//! That the text may not end behind the name where this format alone is looked for is said of the format, and not of its
//! table: others have the same mark, and in them the name alone is a call.

use crate::{
    declared::CallKind,
    format::Format,
    json::scan::Ends,
    readers::{
        json_arguments::JsonArguments,
        reader::{Next, Reader},
        walk::Walk,
    },
    reply::{called::Called, input::Input},
    text::{grammar::InputTags, look::Look, names, presence::Presence},
};

/// Behind the name.
#[derive(Debug, Clone)]
pub(crate) struct ToolInput {
    start: usize,
    /// Behind the name's close tag.
    behind: usize,
    ahead: usize,
    name: String,
    tags: &'static InputTags,
    /// Behind the open tag, how far the text is white space.
    white: Option<usize>,
    /// Where the input begins.
    input: Option<usize>,
    /// The name alone calls nothing.
    needs_input: bool,
}

impl ToolInput {
    pub(crate) fn new(start: usize, behind: usize, name: String, tags: &'static InputTags) -> Self {
        Self {
            start,
            behind,
            ahead: behind,
            name,
            tags,
            white: None,
            input: None,
            needs_input: false,
        }
    }

    /// The same, where the name alone calls nothing.
    pub(crate) fn needs_input(self) -> Self {
        Self { needs_input: true, ..self }
    }

    /// The name with nothing behind it. In GLM's form it has no parameters.
    fn alone(&self, walk: &mut Walk, look: Look<'_>) -> Next {
        let declared = &look.setup.declared;
        let name = names::resolve(declared, CallKind::Tool, &self.name);
        let needs = self.needs_input || name.is_ok_and(|name| declared.requires_input(&name));
        let input = if needs { Input::Empty } else { Input::Object("{}".to_owned()) };
        let (start, end) = (self.start, self.behind);
        let called = Called::tool(&self.name, start..end, end..end);
        walk.call(look, called, input);
        Next::Done(end)
    }

    fn input(&mut self, walk: &mut Walk, look: Look<'_>, at: usize) -> Next {
        if !look.rest(at).starts_with('{') {
            self.input = Some(at);
            self.ahead = at;
            return self.text(walk, look);
        }
        let ends = Ends { tags: std::slice::from_ref(&self.tags.close), ..Ends::default() };
        let name = std::mem::take(&mut self.name);
        let written = JsonArguments::new(walk, look, CallKind::Tool, name, self.start, at, ends);
        written.begin(walk, look)
    }

    /// Plain text up to the close tag.
    fn text(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        let from = self.input.unwrap_or(self.ahead);
        let rest = look.rest(self.ahead);
        let Some(end) = rest.find(self.tags.close).map(|end| self.ahead + end) else {
            if look.ended {
                return Next::truncated(walk, look, self.start, Some(&self.name));
            }
            let mut ahead = look.text.len().saturating_sub(self.tags.close.len()).max(self.ahead);
            while !look.text.is_char_boundary(ahead) {
                ahead -= 1;
            }
            self.ahead = ahead;
            return Next::More;
        };
        let behind = end + self.tags.close.len();
        let called = Called::tool(&self.name, self.start..behind, from..end);
        let words = Input::from_text(look.slice(from, end));
        // Only a format of words has no JSON here.
        walk.call(look, called, if self.needs_input { words } else { words.announced() });
        Next::Done(behind)
    }
}

impl Reader for ToolInput {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        if self.input.is_some() {
            return self.text(walk, look);
        }
        if let Some(white) = self.white {
            let at = look.behind_white(white);
            if look.rest(at).is_empty() && !look.ended {
                self.white = Some(at);
                return Next::More;
            }
            return self.input(walk, look, at);
        }
        self.ahead = look.behind_white(self.ahead);
        let rest = look.rest(self.ahead);
        match look.presence(self.ahead, self.tags.open) {
            Presence::Yes => {
                self.white = Some(self.ahead + self.tags.open.len());
                self.read(walk, look)
            }
            Presence::More => Next::More,
            Presence::No => {
                let is_whole = rest.is_empty() && !look.setup.is_only(Format::ToolInputXml);
                if look.ended && self.tags.open.starts_with(rest) && !is_whole {
                    Next::truncated(walk, look, self.start, Some(&self.name))
                } else {
                    self.alone(walk, look)
                }
            }
        }
    }
}
