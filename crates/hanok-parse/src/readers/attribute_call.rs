//! Calls whose arguments are attributes: `[Calling tool="find" q="text" n=3]`.

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
    text::{look::Look, names},
};

/// The sign that ends the call.
const END: char = ']';

/// A call that is being read up to its bracket.
#[derive(Debug, Clone)]
pub(crate) struct AttributeCall {
    start: usize,
    /// Where the name's value begins.
    body: usize,
    ahead: usize,
    /// The quotation mark that is open, and whether the next letter is escaped.
    quote: Option<char>,
    escaped: bool,
}

impl AttributeCall {
    /// A call whose mark stands from `start` to `body`, where the value of the first attribute begins.
    pub(crate) fn new(start: usize, body: usize) -> Self {
        Self { start, body, ahead: body, quote: None, escaped: false }
    }

    /// Where the bracket stands, which is in no value.
    fn end(&mut self, look: Look<'_>) -> Option<usize> {
        for letter in look.rest(self.ahead).chars() {
            match letter {
                _ if self.escaped => self.escaped = false,
                '\\' => self.escaped = self.quote.is_some(),
                '"' | '\'' if self.quote.is_none() => self.quote = Some(letter),
                _ if self.quote == Some(letter) => self.quote = None,
                END if self.quote.is_none() => return Some(self.ahead),
                _ => {}
            }
            self.ahead += letter.len_utf8();
        }
        None
    }

    fn done(&self, walk: &mut Walk, look: Look<'_>, end: usize) -> Next {
        let behind = end + END.len_utf8();
        if !walk.leave(look) {
            return Next::Done(behind);
        }
        let span = self.start..behind;
        let mut rest = look.slice(self.body, end);
        let Some(name) = value(&mut rest) else {
            walk.draft.fail(ErrorKind::Malformed, Expected::Tool, None, span);
            return Next::Done(behind);
        };
        let declared = &look.setup.declared;
        let tool = names::resolve(declared, CallKind::Tool, &name.text).ok();
        let mut object = Object::default();
        while !rest.trim().is_empty() {
            let read = rest.split_once('=').and_then(|(key, tail)| {
                rest = tail;
                Some((key.trim(), value(&mut rest)?))
            });
            let Some((key, value)) = read else {
                walk.draft.fail(ErrorKind::Malformed, Expected::Object, Some(&name.text), span);
                return Next::Done(behind);
            };
            let kind = tool.as_ref().and_then(|tool| declared.param(tool, key));
            let is_text = if value.quoted { ParamType::String } else { ParamType::Any };
            object.push(key, &tags::value(&value.text, kind.unwrap_or(is_text)));
        }
        let called = Called::tool(&name.text, span, self.body..end);
        walk.call(look, called, Input::Object(object.finish()));
        Next::Done(behind)
    }
}

/// A value, and whether it stood in quotation marks.
struct Value {
    text: String,
    quoted: bool,
}

/// Takes the value at the start of `rest`.
fn value(rest: &mut &str) -> Option<Value> {
    let text = rest.trim_start();
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''));
    let Some(quote) = quote else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, tail) = text.split_at_checked(end)?;
        *rest = tail;
        let word = word.trim_end_matches(',');
        return (!word.is_empty()).then(|| Value { text: word.to_owned(), quoted: false });
    };
    let mut inner = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => inner.push('\n'),
                Some((_, 't')) => inner.push('\t'),
                Some((_, next)) if next == '\\' || next == quote => inner.push(next),
                Some((_, next)) => inner.extend(['\\', next]),
                None => return None,
            },
            _ if letter == quote => {
                *rest = text.get(at + 1..)?.trim_start_matches(',');
                return Some(Value { text: inner, quoted: true });
            }
            _ => inner.push(letter),
        }
    }
    None
}

/// An object that is being written.
#[derive(Default)]
struct Object {
    out: String,
    members: Vec<Member>,
}

impl Object {
    fn push(&mut self, key: &str, json: &str) {
        self.out.push(if self.members.is_empty() { '{' } else { ',' });
        let start = self.out.len();
        self.out.push('"');
        json_text::push(&mut self.out, key);
        self.out.push('"');
        let end = self.out.len();
        self.out.push(':');
        let value = self.out.len();
        self.out.push_str(json);
        self.members.push(Member { start, key: start..end, value: value..self.out.len() });
    }

    fn finish(mut self) -> String {
        if self.members.is_empty() {
            return "{}".to_owned();
        }
        members::keep_last(&mut self.out, &mut self.members, 0, 0);
        self.out.push('}');
        self.out
    }
}

impl Reader for AttributeCall {
    fn read(&mut self, walk: &mut Walk, look: Look<'_>) -> Next {
        if let Some(end) = self.end(look) {
            return self.done(walk, look, end);
        }
        if look.ended {
            walk.leave(look);
            return Next::truncated(walk, look, self.start, None);
        }
        Next::More
    }
}
