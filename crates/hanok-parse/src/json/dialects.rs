//! Strings of other languages than JSON.

use crate::{
    json::{
        json_text, literals,
        scan::{Scan, Step, Text, Want},
        token::Inside,
    },
    text::presence::More,
};

/// The longest key without quotes.
const KEY: usize = 256;

impl Scan {
    /// Reads on in a string of Python. The quote at its beginning is not read yet when nothing of it is written.
    pub(crate) fn python_string(
        &mut self,
        quote: char,
        triple: bool,
        raw: bool,
        input: Text<'_>,
    ) -> Step {
        if self.ahead == 0 {
            let rest = self.rest(input);
            let quotes = rest.chars().take(3).take_while(|letter| *letter == quote).count();
            if quotes < 3 && quotes == rest.len() && !input.ended {
                return Step::More;
            }
            // Two quotes are an empty string.
            let triple = quotes >= 3;
            self.at += if triple { 3 } else { 1 };
            self.out.push('"');
            self.ahead = 1;
            self.inside = Inside::Python(quote, triple, raw);
            return self.python_string(quote, triple, raw, input);
        }
        loop {
            let rest = self.rest(input);
            let special = |byte: u8| byte == quote as u8 || matches!(byte, b'"' | b'\\' | 0..=0x1f);
            let len = match quote {
                '"' => json_text::plain(rest.as_bytes()),
                _ => rest.bytes().position(special).unwrap_or(rest.len()),
            };
            self.out.push_str(rest.get(..len).unwrap_or_default());
            self.at += len;
            let Some(next) = rest.get(len..).and_then(|tail| tail.chars().next()) else {
                return Step::More;
            };
            let done = match next {
                _ if next == quote => match self.python_quote(quote, triple, input) {
                    Ok(true) => return self.end_string(),
                    Ok(false) => Ok(()),
                    Err(More) => Err(More),
                },
                '\\' if raw => self.raw_backslash(input),
                '\\' => self.python_escape(input),
                '"' => {
                    self.write_raw(next, "\\\"");
                    Ok(())
                }
                _ => {
                    let mended = self.repairs.len();
                    self.write(next);
                    self.repairs.truncate(mended);
                    Ok(())
                }
            };
            if done == Err(More) {
                return Step::More;
            }
        }
    }

    /// Whether the quote at hand ends the string; if not, it is written.
    fn python_quote(&mut self, quote: char, triple: bool, input: Text<'_>) -> Result<bool, More> {
        let quotes = self.rest(input).chars().take(3).take_while(|next| *next == quote).count();
        if triple && quotes < 3 {
            if quotes == self.rest(input).len() && !input.ended {
                return Err(More);
            }
            self.write_raw(quote, if quote == '"' { "\\\"" } else { "'" });
            return Ok(false);
        }
        self.at += if triple { 3 } else { 1 };
        self.ahead = 0;
        Ok(true)
    }

    /// A backslash of a raw string, which keeps a quote behind it from closing it.
    fn raw_backslash(&mut self, input: Text<'_>) -> Result<(), More> {
        let next = self.rest(input).chars().nth(1).ok_or(More)?;
        self.out.push_str("\\\\");
        self.at += 1;
        if matches!(next, '"' | '\'' | '\\') {
            json_text::push_char(&mut self.out, next);
            self.at += 1;
        }
        Ok(())
    }

    /// Whether `word` is the prefix of a string (`r"…"`), which begins then.
    pub(crate) fn prefixed_string(&mut self, word: &str, in_array: bool, input: Text<'_>) -> bool {
        let raw = word.eq_ignore_ascii_case("r");
        let quote = self.rest(input).get(word.len()..).and_then(|rest| rest.chars().next());
        let Some(quote) = quote.filter(|quote| matches!(quote, '"' | '\'')) else { return false };
        if !raw && !word.eq_ignore_ascii_case("u") {
            return false;
        }
        if in_array {
            self.open_slot();
        }
        self.at += word.len();
        self.inside = Inside::Python(quote, false, raw);
        true
    }

    /// Goes on with the string that was written last: Python joins strings that stand beside each other.
    pub(crate) fn join_string(&mut self, quote: char, input: Text<'_>) -> Step {
        self.out.pop();
        self.skip(quote);
        self.want = Want::Value;
        self.ahead = 1;
        self.inside = Inside::Python(quote, false, false);
        self.python_string(quote, false, false, input)
    }

    fn python_escape(&mut self, input: Text<'_>) -> Result<(), More> {
        let rest = self.rest(input);
        let next = rest.chars().nth(1).ok_or(More)?;
        let digits = match next {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if digits > 0 {
            if rest.len() < 2 + digits && !input.ended && rest.get(2..).is_some_and(is_hex) {
                return Err(More);
            }
            let code = rest.get(2..2 + digits).filter(|code| is_hex(code));
            let letter = code.and_then(|code| u32::from_str_radix(code, 16).ok());
            return self.python_letter(letter.and_then(char::from_u32), 2 + digits);
        }
        let letter = match next {
            '\\' | '\'' | '"' => Some(next),
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            '0' => Some('\0'),
            '\n' => {
                self.at += 2;
                return Ok(());
            }
            _ => None,
        };
        self.python_letter(letter, 2)
    }

    fn python_letter(&mut self, letter: Option<char>, len: usize) -> Result<(), More> {
        match letter {
            Some(letter) => {
                json_text::push_char(&mut self.out, letter);
                self.at += len;
            }
            // Python keeps the backslash of an escape that it does not know.
            None => {
                self.out.push_str("\\\\");
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Begins a string that is written as it is between two `quote`s.
    pub(crate) fn quoted(&mut self, quote: &'static str, input: Text<'_>) -> Step {
        self.at += quote.len();
        self.out.push('"');
        self.inside = Inside::Quoted(quote);
        self.quoted_string(quote, input)
    }

    pub(crate) fn quoted_string(&mut self, quote: &'static str, input: Text<'_>) -> Step {
        let rest = self.rest(input);
        let end = rest.find(quote);
        let len = end.unwrap_or_else(|| rest.len() - json_text::overlap(rest, quote));
        json_text::push(&mut self.out, rest.get(..len).unwrap_or_default());
        self.at += len;
        if end.is_none() {
            return Step::More;
        }
        self.at += quote.len();
        self.end_string()
    }

    /// Reads a key up to its colon.
    pub(crate) fn quoted_key(&mut self, quote: &'static str, input: Text<'_>) -> Step {
        let rest = self.rest(input);
        let Some(len) = rest.bytes().take(KEY).position(|byte| matches!(byte, b':' | b'}' | b'\n'))
        else {
            return if rest.len() < KEY { Step::More } else { Step::Bad };
        };
        let key = rest.get(..len).unwrap_or_default().trim();
        let bare = key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote)).unwrap_or(key);
        let bare = bare.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(bare);
        if bare.is_empty() || rest.as_bytes().get(len) != Some(&b':') {
            return Step::Bad;
        }
        self.at += len;
        let mut written = String::new();
        json_text::push(&mut written, bare);
        self.begin_member(&written);
        Step::Next
    }
}

/// A number of Python as JSON writes it, where `word` is one that JSON does not have: `+2`, `1_000`, `0x1f`, `.5`.
pub(crate) fn number(word: &str) -> Option<String> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let grouped = digits.contains('_');
    let sound = !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__");
    if grouped && !sound {
        return None;
    }
    let plain = digits.replace('_', "");
    let radix = |prefix: &str| plain.to_ascii_lowercase().strip_prefix(prefix).map(str::to_owned);
    let base = [("0x", 16), ("0o", 8), ("0b", 2)];
    if let Some((digits, base)) =
        base.into_iter().find_map(|(prefix, base)| Some((radix(prefix)?, base)))
    {
        let number = u128::from_str_radix(digits.trim_start_matches('_'), base).ok()?;
        return Some(format!("{sign}{number}"));
    }
    let whole = match plain.strip_prefix('.') {
        Some(fraction) => format!("0.{fraction}"),
        None => plain.strip_suffix('.').map_or(plain.clone(), |whole| format!("{whole}.0")),
    };
    let written = format!("{sign}{whole}");
    literals::value(&written)
        .filter(|value| value.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
        .map(str::to_owned)
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}
