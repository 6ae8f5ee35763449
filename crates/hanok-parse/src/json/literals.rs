//! Numbers, and words that stand for values.

use crate::{
    json::{
        dialects,
        fault::RepairKind,
        json_text,
        scan::{Dialect, Scan, Step, Text},
    },
    text::presence::More,
};

impl Scan {
    /// Reads a number or a word that stands for a value.
    pub(crate) fn literal(&mut self, in_array: bool, input: Text<'_>) -> Step {
        // Where the text stopped in words, they are not begun anew.
        if self.in_words {
            return self.bare_text(in_array, input);
        }
        let part =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '+' | '.');
        let Ok(word) = self.word(input, part) else { return Step::More };
        let python = self.dialect == Dialect::Python;
        if python && self.prefixed_string(word, in_array, input) {
            return self.resume(input);
        }
        let written = value(word);
        let number = written.is_none().then(|| dialects::number(word)).filter(|_| python).flatten();
        let Some(written) = written.or(number.as_deref()) else {
            return self.bare_text(in_array, input);
        };
        if in_array {
            self.open_slot();
        }
        if written != word {
            self.mended(RepairKind::Literal);
        }
        self.out.push_str(written);
        self.at += word.len();
        self.end_value()
    }

    /// Reads words without quotes in place of a value, up to what ends it.
    pub(crate) fn bare_text(&mut self, in_array: bool, input: Text<'_>) -> Step {
        let quoted = matches!(self.dialect, Dialect::Quoted(_));
        let first = self.rest(input).chars().next().unwrap_or_default();
        let begins = if quoted { first != '<' } else { first.is_alphabetic() };
        if self.dialect == Dialect::Python || !begins {
            return Step::Bad;
        }
        let part = |letter: char| match letter {
            ',' | '}' | ']' | '\n' => false,
            _ => quoted || letter.is_alphanumeric() || matches!(letter, ' ' | '_' | '-' | '.'),
        };
        self.in_words = true;
        let Ok(text) = self.word(input, part) else { return Step::More };
        self.in_words = false;
        let behind = self.rest(input).get(text.len()..).unwrap_or_default();
        let no_text = matches!(text.trim_end(), "NaN" | "Infinity" | "undefined" | "nan" | "inf");
        let ends = behind.starts_with([',', '}', ']', '\n']);
        if !ends || no_text && !quoted || text.trim().is_empty() {
            return Step::Bad;
        }
        if in_array {
            self.open_slot();
        }
        self.mended(RepairKind::Quotes);
        self.out.push('"');
        json_text::push(&mut self.out, text.trim());
        self.out.push('"');
        self.at += text.len();
        self.end_value()
    }

    /// The letters at hand that are `part` of a word, once it is clear where they end.
    pub(crate) fn word<'a>(
        &mut self,
        input: Text<'a>,
        part: impl Fn(char) -> bool,
    ) -> Result<&'a str, More> {
        let from = self.ahead.max(self.at);
        let rest = input.text.get(from..).unwrap_or_default();
        match rest.find(|letter| !part(letter)) {
            Some(len) => {
                self.ahead = 0;
                Ok(input.text.get(self.at..from + len).unwrap_or_default())
            }
            // A text that ends in a word has no whole value.
            None => {
                self.ahead = from + rest.len();
                if input.ended {
                    self.at = self.ahead;
                }
                Err(More)
            }
        }
    }
}

/// What a word that stands for a value is in JSON.
pub(crate) fn value(word: &str) -> Option<&str> {
    match word {
        "true" | "false" | "null" => Some(word),
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        _ => is_number(word).then_some(word),
    }
}

/// A number in JSON's grammar. Digits are never touched, so what JSON cannot write is no number.
pub(crate) fn is_number(word: &str) -> bool {
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
