//! Single tokens of JSON as models write them: other quotes, Python's words, comments, broken escapes.
//!
//! The content of a string is never changed. An escape that JSON does not know stays as it was written, backslash
//! included; only `\'` means the quote, as it does in the languages models take it from.

use crate::{
    json::{
        fault::RepairKind,
        json_text,
        scan::{Dialect, Scan, Step, Text, Want},
        token::{Inside, closes},
    },
    text::presence::More,
};

impl Scan {
    /// Skips white space and comments, and remembers where the last line began. The next letter, or `None` inside a
    /// comment.
    #[inline]
    pub(crate) fn skip_blank(&mut self, input: Text<'_>) -> Result<Option<char>, More> {
        let rest = self.rest(input);
        match rest.as_bytes() {
            [next @ (b'"' | b',' | b':' | b'{' | b'}' | b'[' | b']'), ..] => {
                return Ok(Some(char::from(*next)));
            }
            [b' ', next @ b'"', ..] => {
                self.at += 1;
                return Ok(Some(char::from(*next)));
            }
            _ => {}
        }
        let mut letters = rest.char_indices();
        while let Some((at, next)) = letters.next() {
            match next {
                '\n' => {
                    self.line = Some(self.at + at + 1);
                    self.line_is_blank = true;
                }
                '#' => return self.comment(at, Inside::LineComment),
                '/' => match letters.next() {
                    Some((_, '/')) => return self.comment(at, Inside::LineComment),
                    Some((_, '*')) => return self.comment(at, Inside::BlockComment),
                    None if !input.ended => {
                        self.at += at;
                        return Err(More);
                    }
                    _ => {
                        self.at += at;
                        return Ok(Some(next));
                    }
                },
                _ if next.is_whitespace() || next == '\u{feff}' => {}
                _ => {
                    self.at += at;
                    return Ok(Some(next));
                }
            }
        }
        self.at += rest.len();
        Err(More)
    }

    fn comment(&mut self, at: usize, kind: Inside) -> Result<Option<char>, More> {
        self.at += at;
        self.mended(RepairKind::Comment);
        self.at += if kind == Inside::BlockComment { 2 } else { 0 };
        self.inside = kind;
        Ok(None)
    }

    /// Goes on with the token that the text stopped in.
    #[inline]
    pub(crate) fn resume(&mut self, input: Text<'_>) -> Step {
        match self.inside {
            Inside::Text(open) => self.string(open, input),
            Inside::LineComment => {
                let rest = self.rest(input);
                match rest.find('\n') {
                    Some(end) => {
                        self.at += end;
                        self.inside = Inside::Nothing;
                        Step::Next
                    }
                    None => {
                        self.at += rest.len();
                        Step::More
                    }
                }
            }
            Inside::BlockComment => self.block_comment(input),
            Inside::Doubled => self.doubled(input),
            Inside::Python(quote, triple, raw) => self.python_string(quote, triple, raw, input),
            Inside::Quoted(quote) => self.quoted_string(quote, input),
            Inside::Nothing => Step::Next,
        }
    }

    fn block_comment(&mut self, input: Text<'_>) -> Step {
        let rest = self.rest(input);
        match rest.find("*/") {
            Some(end) => {
                self.at += end + 2;
                self.inside = Inside::Nothing;
                Step::Next
            }
            None => {
                self.at += rest.len() - usize::from(rest.ends_with('*') && !input.ended);
                Step::More
            }
        }
    }

    /// Skips the second of two closing braces, if it is there.
    fn doubled(&mut self, input: Text<'_>) -> Step {
        let next = match self.skip_blank(input) {
            Ok(Some(next)) => Some(next),
            Ok(None) => None,
            Err(More) if input.ended => None,
            Err(More) => return Step::More,
        };
        if next == Some('}') {
            self.skip('}');
        }
        if self.inside == Inside::Doubled {
            self.inside = Inside::Nothing;
        }
        self.pop('}')
    }

    pub(crate) fn open_string(&mut self, quote: char) {
        if quote != '"' {
            self.mended(RepairKind::Quotes);
        }
        if self.dialect == Dialect::Python && matches!(quote, '"' | '\'') {
            self.inside = Inside::Python(quote, false, false);
            return;
        }
        self.skip(quote);
        self.out.push('"');
        self.inside = Inside::Text(quote);
    }

    /// Ends a string: a key, or a value.
    pub(crate) fn end_string(&mut self) -> Step {
        self.out.push('"');
        self.inside = Inside::Nothing;
        if self.want == Want::Key {
            self.end_key();
            return Step::Next;
        }
        self.end_value()
    }

    /// Reads on in the string that the quote `open` opened.
    pub(crate) fn string(&mut self, open: char, input: Text<'_>) -> Step {
        loop {
            let Some(next) = self.copy_plain(open, input.text) else { return Step::More };
            if closes(open, next) {
                match self.closes_here(open, next, input) {
                    Ok(true) => {
                        self.skip(next);
                        return self.end_string();
                    }
                    Ok(false) => {}
                    Err(More) => return Step::More,
                }
            }
            match next {
                '\\' => match self.escape(input) {
                    Ok(()) => {}
                    Err(More) => return Step::More,
                },
                '"' => {
                    self.mended(RepairKind::Quotes);
                    self.write_raw(next, "\\\"");
                }
                '\n' if self.ends_doubtful() => {
                    self.skip(next);
                    self.line = Some(self.at);
                    return Step::Bad;
                }
                _ => self.write(next),
            }
        }
    }

    /// Whether a line break ends the whole: nothing says yet that this is a call.
    fn ends_doubtful(&self) -> bool {
        self.released || self.bare && self.want == Want::Key && self.depth() == 1
    }

    /// Copies up to the next letter that may need care, and gives it. `None` where the text stops.
    #[inline]
    pub(crate) fn copy_plain(&mut self, open: char, text: &str) -> Option<char> {
        let rest = text.get(self.at..).unwrap_or_default();
        let len = if open == '"' {
            json_text::plain(rest.as_bytes())
        } else {
            let special =
                |letter: char| matches!(letter, '\\' | '"') || letter < ' ' || closes(open, letter);
            rest.find(special).unwrap_or(rest.len())
        };
        self.out.push_str(rest.get(..len).unwrap_or_default());
        self.at += len;
        rest.get(len..)?.chars().next()
    }

    /// A quote that also stands in words (`it's`) closes a string only where the next token of JSON follows.
    fn closes_here(&mut self, open: char, quote: char, input: Text<'_>) -> Result<bool, More> {
        if open == '"' {
            return self.ends_text(input);
        }
        let behind = self.at + quote.len_utf8();
        let from = self.ahead.max(behind);
        let rest = input.text.get(from..).unwrap_or_default();
        let tail = rest.trim_start();
        match tail.chars().next() {
            Some(next) => {
                self.ahead = 0;
                Ok(matches!(
                    next,
                    ',' | ':' | '：' | '}' | ']' | '"' | '\'' | '“' | '‘' | '<' | '#'
                ))
            }
            None if input.ended => Ok(true),
            None => {
                self.ahead = from + rest.len();
                Err(More)
            }
        }
    }

    /// A letter behind a quote, on its line, belongs to the string: the quote stands in it unescaped.
    fn ends_text(&mut self, input: Text<'_>) -> Result<bool, More> {
        let behind = self.at + 1;
        let rest = input.text.get(behind..).unwrap_or_default();
        if matches!(rest.as_bytes().first(), Some(b',' | b'}' | b']' | b':'))
            || self.want == Want::Key
        {
            return Ok(true);
        }
        if self.out.ends_with('"') && !self.out.ends_with("\\\"") {
            // Nothing stands in the string.
            return Ok(true);
        }
        let from = self.ahead.max(behind);
        let rest = input.text.get(from..).unwrap_or_default();
        let tail = rest.trim_start_matches([' ', '\t']);
        let mut letters = tail.chars();
        let ends = match letters.next() {
            // Another one behind it ends the value.
            Some('"') => {
                let close = letters.as_str();
                let cut = close.is_empty() && !input.ended;
                (!cut).then(|| !close.starts_with([',', '}', ']']))
            }
            Some(next) => Some(!next.is_alphabetic()),
            None => input.ended.then_some(true),
        };
        self.ahead = if ends.is_some() { 0 } else { from + rest.len() - tail.len() };
        ends.ok_or(More)
    }

    fn escape(&mut self, input: Text<'_>) -> Result<(), More> {
        let rest = self.rest(input);
        let next = rest.chars().nth(1).ok_or(More)?;
        match next {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.out.push('\\');
                self.out.push(next);
                self.at += 2;
            }
            '\'' | '“' | '”' | '„' | '‘' | '’' => {
                self.mended(RepairKind::Escape);
                self.out.push(next);
                self.at += 1 + next.len_utf8();
            }
            'u' => return self.unicode_escape(input),
            _ => self.keep_backslash(),
        }
        Ok(())
    }

    /// `\u` with four digits. Half of a surrogate pair is no character, and is kept as it was written.
    fn unicode_escape(&mut self, input: Text<'_>) -> Result<(), More> {
        let rest = self.rest(input);
        let short = rest.len() < 12 && !input.ended && may_be_escape(rest);
        let whole = match code_unit(rest.get(2..6)) {
            Some(0xd800..=0xdbff) => {
                let low =
                    rest.get(6..8).filter(|mark| *mark == "\\u").and(code_unit(rest.get(8..12)));
                if low.is_none() && short {
                    return Err(More);
                }
                matches!(low, Some(0xdc00..=0xdfff)).then_some(12)
            }
            Some(0xdc00..=0xdfff) => None,
            None if short => return Err(More),
            None => None,
            Some(_) => Some(6),
        };
        match whole.and_then(|len| rest.get(..len)) {
            Some(digits) => {
                self.escaped |= code_unit(rest.get(2..6)).is_some_and(|unit| unit >= 0xa0);
                self.out.push_str(digits);
                self.at += digits.len();
            }
            None => self.keep_backslash(),
        }
        Ok(())
    }

    /// Writes the backslash at hand as a letter.
    pub(crate) fn keep_backslash(&mut self) {
        self.mended(RepairKind::Escape);
        self.out.push_str("\\\\");
        self.at += 1;
    }

    /// Writes a letter of a string.
    pub(crate) fn write(&mut self, letter: char) {
        if letter < ' ' {
            return self.control(letter);
        }
        self.skip(letter);
        self.out.push(letter);
    }

    fn control(&mut self, letter: char) {
        self.mended(RepairKind::Control);
        match letter {
            '\n' => self.write_raw(letter, "\\n"),
            '\r' => self.write_raw(letter, "\\r"),
            '\t' => self.write_raw(letter, "\\t"),
            _ => self.write_raw(letter, &format!("\\u{:04x}", u32::from(letter))),
        }
    }

    pub(crate) fn write_raw(&mut self, letter: char, escaped: &str) {
        self.skip(letter);
        self.out.push_str(escaped);
    }

    /// Reads a key without quotes.
    pub(crate) fn bare_key(&mut self, input: Text<'_>) -> Step {
        let part =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$');
        let Ok(key) = self.word(input, part) else { return Step::More };
        if key.is_empty() {
            return Step::Bad;
        }
        self.mended(RepairKind::Key);
        self.at += key.len();
        self.begin_member(key);
        Step::Next
    }
}

/// Whether `rest` may become `\uXXXX\uXXXX` when the text goes on.
fn may_be_escape(rest: &str) -> bool {
    let shape = *b"\\uxxxx\\uxxxx";
    rest.bytes().zip(shape).all(|(byte, want)| match want {
        b'x' => byte.is_ascii_hexdigit(),
        _ => byte == want,
    })
}

fn code_unit(digits: Option<&str>) -> Option<u32> {
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
