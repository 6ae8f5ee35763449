//! The rules of a grammar in EBNF.

use std::collections::BTreeSet;

use crate::constrain::no_grammar::NoGrammar;

/// A part of a grammar.
pub(crate) type Written = Result<String, NoGrammar>;

/// What stands behind a backslash, besides a letter's number.
pub(crate) const ESCAPES: &str = r#"["\\/bfnrt]"#;
/// A letter's number, but for those of two letters that stand for one.
pub(crate) const NUMBER: &str =
    r#""u" ([0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2})"#;
/// What stands in no string as it is.
pub(crate) const ESCAPED: &str = r#""\\\u0000-\u001f\u007f"#;

/// The rules of a grammar, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<(String, String)>,
    known: BTreeSet<String>,
    /// What ends the texts for which there are rules, and whether they stand in strings of JSON.
    texts: Vec<(Vec<String>, bool)>,
}

impl Rules {
    /// The rules as text, `root` with this body first.
    pub(crate) fn print(&self, root: &str) -> String {
        let rules = self.rules.iter().map(|(name, body)| format!("{name} ::= {body}\n"));
        std::iter::once(format!("root ::= {root}\n")).chain(rules).collect()
    }

    /// Begins the rule `name`, unless it is known. A rule may hold itself.
    pub(crate) fn begin(&mut self, name: &str) -> Option<usize> {
        self.known.insert(name.to_owned()).then(|| {
            self.rules.push((name.to_owned(), String::new()));
            self.rules.len() - 1
        })
    }

    pub(crate) fn end(&mut self, at: usize, body: String) {
        if let Some(rule) = self.rules.get_mut(at) {
            rule.1 = body;
        }
    }

    /// The rule `name`, made at its first use.
    pub(crate) fn rule(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Written) -> Written {
        if let Some(at) = self.begin(name) {
            let body = make(self)?;
            self.end(at, body);
        }
        Ok(name.to_owned())
    }

    /// A rule whose body is known.
    pub(crate) fn fixed(&mut self, name: &str, body: &str) -> String {
        if let Some(at) = self.begin(name) {
            self.end(at, body.to_owned());
        }
        name.to_owned()
    }

    /// White space between two tokens: bounded, for a sampler could go on with it for ever.
    pub(crate) fn gap(&mut self) -> String {
        self.fixed("gap", r#""" | " " | "\n" [ \t]{0,20}"#)
    }

    /// The rule of a text in which none of `ends` stands: one for each beginning of them with which the text so far ends. In a
    /// string of JSON some letters are escaped.
    pub(crate) fn until(&mut self, ends: &[String], is_string: bool) -> String {
        let known = self.texts.iter().position(|known| known.0 == ends && known.1 == is_string);
        let place = known.unwrap_or(self.texts.len());
        if known.is_none() {
            self.texts.push((ends.to_vec(), is_string));
        }
        // The longest end of `text` with which one of `ends` begins.
        let state = |text: &str| {
            let tails = text.char_indices().map(|(at, _)| text.get(at..).unwrap_or_default());
            let mut tails = tails.filter(|tail| ends.iter().any(|end| end.starts_with(*tail)));
            tails.next().unwrap_or_default().to_owned()
        };
        let begins = |end: &String| -> Vec<String> {
            end.char_indices().filter_map(|(at, _)| Some(end.get(..at)?.to_owned())).collect()
        };
        let states: BTreeSet<String> = ends.iter().flat_map(begins).collect();
        let letters: BTreeSet<char> = ends.iter().flat_map(|end| end.chars()).collect();
        let is_escaped =
            |letter: char| is_string && (matches!(letter, '"' | '\\') || letter.is_control());
        let name = |text: &str| match states.iter().position(|state| state == text) {
            Some(0) | None => format!("text{place}"),
            Some(at) => format!("text{place}-{at}"),
        };
        for text in &states {
            let next = letters.iter().map(|letter| (*letter, state(&format!("{text}{letter}"))));
            let next: Vec<(char, String)> =
                next.filter(|(letter, next)| !next.is_empty() && !is_escaped(*letter)).collect();
            // All other letters lead back.
            let others: String = next.iter().map(|(letter, _)| code(*letter)).collect();
            let escaped = if is_string { ESCAPED } else { "" };
            let mut ways = vec![literal(""), format!("[^{escaped}{others}] {}", name(""))];
            ways.extend(is_string.then(|| format!(r#""\\" ({ESCAPES} | {NUMBER}) {}"#, name(""))));
            let is_end = |next: &str| ends.iter().any(|end| next.ends_with(end.as_str()));
            let goes_on = next.iter().filter(|(_, next)| !is_end(next));
            ways.extend(goes_on.map(|(letter, next)| {
                format!("{} {}", literal(letter.encode_utf8(&mut [0; 4])), name(next))
            }));
            self.fixed(&name(text), &ways.join(" | "));
        }
        name("")
    }
}

/// One of some ways.
pub(crate) fn one_of(ways: impl Iterator<Item = Written>) -> Written {
    Ok(format!("({})", joined(ways, " | ")?))
}

pub(crate) fn joined(parts: impl Iterator<Item = Written>, between: &str) -> Written {
    Ok(parts.collect::<Result<Vec<_>, _>>()?.join(between))
}

/// `text` as a part of a rule's name.
pub(crate) fn name_part(text: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        byte => format!("-{byte:x}"),
    };
    text.bytes().map(part).collect()
}

/// `part` behind others.
pub(crate) fn optional(part: &str, is_optional: bool) -> String {
    if is_optional { format!(" ({part})?") } else { format!(" {part}") }
}

/// Whether `name` may stand in a call without quotes.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_sign = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    !name.is_empty() && name.chars().all(is_sign)
}

/// `text` as a string of EBNF.
pub(crate) fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            letter if letter.is_control() => out.push_str(&code(letter)),
            letter => out.push(letter),
        }
    }
    out + "\""
}

/// A letter by its number, as a class of letters or a string has it.
fn code(letter: char) -> String {
    match u32::from(letter) {
        code @ 0..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}
