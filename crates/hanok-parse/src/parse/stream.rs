//! Text that comes in pieces.

use std::ops::Range;

use crate::{
    parse::{parser::Parser, pass::Pass},
    reply::{event::Event, finish::Finish, outcome::Reply},
    text::look::View,
};

/// Reads a text that comes in pieces, and tells at once what it says.
///
/// However the text is cut into pieces, the [`Reply`] is the same, and so are the events, their pieces joined and what
/// was taken back left out. Nothing is read twice. The text itself is kept to its end, because a close tag may turn all
/// of it into reasoning; beyond it, and the reply, only the state of what is being read is held.
#[derive(Debug, Clone)]
pub struct Stream {
    parser: Parser,
    text: String,
    pass: Pass,
    /// Where the special tokens stand, once one was fed as such.
    special: Option<Vec<Range<usize>>>,
    /// The bytes of a character that is cut.
    tail: Vec<u8>,
}

impl Stream {
    pub(crate) fn new(parser: Parser) -> Self {
        let pass = parser.pass();
        Self { parser, text: String::new(), pass, special: None, tail: Vec::new() }
    }

    /// Takes the next piece of the text, and appends to `out` what can be told now. Text goes into the last event of
    /// `out` where that is of the same kind.
    #[inline]
    pub fn feed(&mut self, text: &str, out: &mut Vec<Event>) {
        if !self.tail.is_empty() {
            self.tail.clear();
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text.push_str(text);
        self.read(false, false, out);
    }

    /// Only what [`feed_special`](Self::feed_special) takes is a mark. For a text that has no special tokens at all.
    ///
    /// Lines that hold no token are read as in any text: labels (`Action:`), bare JSON, Python's lists, `functools[`. Where the
    /// model writes its calls with tokens, look for the formats that have them alone ([`Parser::formats`]).
    #[must_use]
    pub fn marks_are_special(mut self) -> Self {
        self.special.get_or_insert_default();
        self
    }

    /// Takes a special token, or several. Once one is fed so, a mark counts only if it came so: `<tool_call>` that the model
    /// spells in letters, or repeats of a tool's result, is text. What may stand only within a call, such as `<function=`, has
    /// to follow such a mark, or another call. Of a mark that has words besides its token, such as `<|channel|>analysis` or
    /// `function call<|role_sep|>`, the token has to come so.
    ///
    /// ```
    /// use hanok_parse::{Declared, Parser};
    ///
    /// let mut stream = Parser::new(Declared::new().tool("rm")).stream().marks_are_special();
    /// let mut events = Vec::new();
    /// stream.feed("<tool_call>{\"name\": \"rm\", \"arguments\": {}}</tool_call>", &mut events);
    /// assert!(stream.clone().finish(&mut Vec::new()).calls.is_empty());
    ///
    /// stream.feed_special("<tool_call>", &mut events);
    /// stream.feed("{\"name\": \"rm\", \"arguments\": {}}", &mut events);
    /// stream.feed_special("</tool_call>", &mut events);
    /// assert_eq!(stream.finish(&mut events).calls.len(), 1);
    /// ```
    pub fn feed_special(&mut self, text: &str, out: &mut Vec<Event>) {
        if !self.tail.is_empty() {
            self.tail.clear();
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        let special = self.special.get_or_insert_default();
        match special.last_mut().filter(|last| last.end == start) {
            Some(last) => last.end = end,
            None => special.push(start..end),
        }
        self.read(false, false, out);
    }

    /// Takes the next bytes of the text. A character that is cut waits for its other bytes; what is no UTF-8 becomes
    /// `U+FFFD`.
    pub fn feed_bytes(&mut self, bytes: &[u8], out: &mut Vec<Event>) {
        let mut joined = std::mem::take(&mut self.tail);
        let mut rest = bytes;
        if !joined.is_empty() {
            joined.extend_from_slice(bytes);
            rest = joined.as_slice();
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    break;
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    let Some(len) = error.error_len() else {
                        self.tail = bad.to_vec();
                        break;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = bad.get(len..).unwrap_or_default();
                }
            }
        }
        self.read(false, false, out);
    }

    /// The text has ended, and the model ended it.
    pub fn finish(self, out: &mut Vec<Event>) -> Reply {
        self.finish_with(Finish::Stop, out)
    }

    /// The text has ended for this reason.
    pub fn finish_with(mut self, finish: Finish, out: &mut Vec<Event>) -> Reply {
        if !self.tail.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        let cut = finish != Finish::Stop;
        self.read(true, cut, out);
        let Self { parser, text, pass, special, .. } = self;
        let (special, setup) = (special.as_deref(), parser.setup());
        let view = View { text: &text, ended: true, cut, special, setup };
        parser.finish(pass, &view, finish, out)
    }

    #[inline]
    fn read(&mut self, ended: bool, cut: bool, out: &mut Vec<Event>) {
        let (text, setup) = (&self.text, self.parser.setup());
        if !ended && self.pass.takes(text, out) {
            return;
        }
        let special = self.special.as_deref();
        std::mem::swap(&mut self.pass.walk.draft.events, out);
        self.pass.run(&View { text, ended, cut, special, setup });
        std::mem::swap(&mut self.pass.walk.draft.events, out);
    }
}
