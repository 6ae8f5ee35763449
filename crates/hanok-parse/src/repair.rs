//! Single tokens of JSON as models write them: other quotes, Python's words, comments, broken escapes.
//!
//! The content of a string is never changed. An escape that JSON does not know stays as it was written, backslash
//! included; only `\'` means the quote, as it does in the languages models take it from.

use crate::scan::Scanner;

impl Scanner<'_> {
    /// Skips white space and comments, and remembers where the last line began.
    pub(crate) fn skip_blank(&mut self) {
        while let Some(next) = self.peek() {
            match next {
                '\n' => {
                    self.skip(next);
                    self.line = Some(self.at);
                }
                '#' => self.skip_line(),
                '/' if self.rest().starts_with("//") => self.skip_line(),
                '/' if self.rest().starts_with("/*") => self.skip_block(),
                _ if next.is_whitespace() || next == '\u{feff}' => self.skip(next),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        self.repaired = true;
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn skip_block(&mut self) {
        self.repaired = true;
        let rest = self.rest();
        self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
    }

    /// Reads the string that begins with the quote `open`. `None` when the text ends first.
    pub(crate) fn string(&mut self, open: char) -> Option<()> {
        self.repaired |= open != '"';
        self.skip(open);
        self.out.push('"');
        loop {
            self.copy_plain(open);
            let next = self.peek()?;
            if closes(open, next) && (open == '"' || self.is_followed_by_structure(next)) {
                self.skip(next);
                self.out.push('"');
                return Some(());
            }
            match next {
                '\\' => self.escape()?,
                '"' => self.write_raw(next, "\\\""),
                _ if next < ' ' => self.control(next),
                _ => self.write_as_is(next),
            }
        }
    }

    /// Copies up to the next letter that may need care.
    fn copy_plain(&mut self, open: char) {
        let special =
            |letter: char| letter == '\\' || letter == '"' || letter < ' ' || closes(open, letter);
        let rest = self.text.get(self.at..).unwrap_or_default();
        let plain = rest.find(special).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.out.push_str(plain);
        self.at += plain.len();
    }

    /// A quote that also stands in words (`it's`) closes a string only where the next token of JSON follows.
    fn is_followed_by_structure(&self, quote: char) -> bool {
        let behind = self.rest().get(quote.len_utf8()..).unwrap_or_default();
        let next = behind.trim_start().chars().next();
        next.is_none_or(|next| {
            matches!(next, ',' | ':' | '：' | '}' | ']' | '"' | '\'' | '“' | '‘' | '<' | '#')
        })
    }

    fn escape(&mut self) -> Option<()> {
        self.skip('\\');
        let next = self.peek()?;
        match next {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {
                self.out.push('\\');
                self.write_as_is(next);
            }
            '\'' | '“' | '”' | '„' | '‘' | '’' => {
                self.repaired = true;
                self.write_as_is(next);
            }
            'u' => return self.unicode_escape(),
            _ => self.keep_backslash(),
        }
        Some(())
    }

    /// `\u` with four digits. Half of a surrogate pair is no character, and is kept as it was written.
    fn unicode_escape(&mut self) -> Option<()> {
        let rest = self.rest();
        let whole = match code_unit(rest.get(1..5)) {
            Some(0xd800..=0xdbff) => {
                let low =
                    rest.get(5..7).filter(|mark| *mark == "\\u").and(code_unit(rest.get(7..11)));
                matches!(low, Some(0xdc00..=0xdfff)).then_some(11)
            }
            Some(0xdc00..=0xdfff) | None => None,
            Some(_) => Some(5),
        };
        match whole.and_then(|len| self.text.get(self.at..self.at + len)) {
            Some(digits) => {
                self.out.push('\\');
                self.out.push_str(digits);
                self.at += digits.len();
            }
            None => self.keep_backslash(),
        }
        Some(())
    }

    fn keep_backslash(&mut self) {
        self.repaired = true;
        self.out.push_str("\\\\");
    }

    fn control(&mut self, letter: char) {
        let escaped = match letter {
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            _ => format!("\\u{:04x}", u32::from(letter)),
        };
        self.write_raw(letter, &escaped);
    }

    fn write_raw(&mut self, letter: char, escaped: &str) {
        self.repaired = true;
        self.skip(letter);
        self.out.push_str(escaped);
    }

    fn write_as_is(&mut self, letter: char) {
        self.skip(letter);
        self.out.push(letter);
    }

    /// Reads a key without quotes, and says whether there is one.
    pub(crate) fn bare_key(&mut self) -> bool {
        let part_of_key =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$');
        let rest = self.text.get(self.at..).unwrap_or_default();
        let key = rest
            .find(|letter| !part_of_key(letter))
            .and_then(|end| rest.get(..end))
            .unwrap_or(rest);
        self.repaired = true;
        self.out.push('"');
        self.out.push_str(key);
        self.out.push('"');
        self.at += key.len();
        !key.is_empty()
    }

    /// Reads a number or a word that stands for a value, and says whether there is one.
    pub(crate) fn literal(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let part_of_word =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '+' | '.');
        let word = rest
            .find(|letter| !part_of_word(letter))
            .and_then(|end| rest.get(..end))
            .unwrap_or(rest);
        let written = match word {
            "true" | "false" | "null" => word,
            "True" => "true",
            "False" => "false",
            "None" => "null",
            _ if is_number(word) => word,
            _ => return false,
        };
        self.repaired |= written != word;
        self.out.push_str(written);
        self.at += word.len();
        true
    }
}

fn closes(open: char, letter: char) -> bool {
    match open {
        '"' => letter == '"',
        '\'' => letter == '\'',
        '“' | '”' | '„' => matches!(letter, '“' | '”' | '"'),
        _ => matches!(letter, '‘' | '’' | '\''),
    }
}

fn code_unit(digits: Option<&str>) -> Option<u32> {
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// A number in JSON's grammar. Digits are never touched, so what JSON cannot write is no number.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let whole = word.strip_prefix('-').unwrap_or(word);
    let mut left = digits(whole);
    if left == whole.len() || (whole.starts_with('0') && whole.len() - left > 1) {
        return false;
    }
    let tail = |left: usize| whole.get(whole.len() - left..).unwrap_or_default();
    if let Some(fraction) = tail(left).strip_prefix('.') {
        left = digits(fraction);
        if left == fraction.len() {
            return false;
        }
    }
    if let Some(power) = tail(left).strip_prefix(['e', 'E']) {
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        left = digits(power);
        if left == power.len() {
            return false;
        }
    }
    left == 0
}
