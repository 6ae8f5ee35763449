//! JSON with the faults that models make.

use serde_json::{Map, Value};

use crate::{bytes::Bytes, json, values};

/// Writes a value with faults.
struct Writer<'b, 'a> {
    bytes: &'b mut Bytes<'a>,
    /// Which faults may be made, a bit each.
    faults: u8,
    out: String,
}

const SINGLE_QUOTES: u8 = 1;
const SMART_QUOTES: u8 = 2;
const BARE_KEYS: u8 = 4;
const PYTHON: u8 = 8;
const COMMENTS: u8 = 16;
const RAW_CONTROL: u8 = 32;
const COMMAS: u8 = 64;
const AROUND: u8 = 128;

/// Writes arguments with faults and checks that they are read as they were meant, and told to be mended only then.
pub(crate) fn mended(bytes: &mut Bytes<'_>) {
    let faults = bytes.next();
    let doubled = bytes.once_in(8);
    let Value::Object(mut meant) = Value::Object(Map::new()) else { return };
    for key in ["a", "b_1", "한글", "d e"].iter().take(1 + bytes.below(4)) {
        meant.insert((*key).to_owned(), values::any(bytes, 3));
    }
    let meant = Value::Object(meant);
    let mut writer = Writer { bytes, faults, out: String::new() };
    writer.bare(&meant);
    let mut written = writer.out;
    check(&meant, &format!("<tool_call>{{\"name\": \"f\", \"arguments\": {written}}}</tool_call>"));
    if doubled {
        written = format!("{{{written}}}");
    }
    if faults & AROUND != 0 {
        written.push_str(bytes.one(&["}", "]}", "}}\n", " thank you", "\n", "  \n\n"]));
    }
    check(&meant, &format!("Action: f\nAction Input: {written}"));
}

fn check(meant: &Value, text: &str) {
    let parser = crate::reads_all(crate::declared());
    let reply = parser.parse(text);
    let [call] = reply.calls.as_slice() else {
        panic!("{} calls out of {text:?}: {:?}", reply.calls.len(), reply.error);
    };
    json::check(call.arguments.as_str(), text);
    let read: Value = match call.arguments.decode() {
        Ok(read) => read,
        Err(error) => panic!("{error} in {} of {text:?}", call.arguments),
    };
    assert_eq!(read, *meant, "{text:?} is read as something else");
}

impl Writer<'_, '_> {
    /// Whether to make this fault here.
    fn errs(&mut self, fault: u8) -> bool {
        self.faults & fault != 0 && self.bytes.once_in(2)
    }

    fn value(&mut self, value: &Value) {
        self.gap();
        self.bare(value);
        self.gap();
    }

    fn bare(&mut self, value: &Value) {
        match value {
            Value::Null if self.errs(PYTHON) => self.out.push_str("None"),
            Value::Bool(true) if self.errs(PYTHON) => self.out.push_str("True"),
            Value::Bool(false) if self.errs(PYTHON) => self.out.push_str("False"),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.comma(index, matches!(item, Value::String(_)));
                    self.value(item);
                }
                self.close(']', items.is_empty());
            }
            Value::Object(members) => {
                self.out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    self.comma(index, true);
                    self.gap();
                    self.key(key);
                    self.gap();
                    self.out.push(':');
                    self.value(value);
                }
                self.close('}', members.is_empty());
            }
            plain => self.out.push_str(&plain.to_string()),
        }
    }

    /// What stands before an item: a comma, or none where a quote shows that something new begins.
    fn comma(&mut self, index: usize, is_quoted: bool) {
        if index == 0 {
            return;
        }
        let sure = self.faults & (SINGLE_QUOTES | SMART_QUOTES | BARE_KEYS) == 0;
        if is_quoted && sure && self.errs(COMMAS) {
            self.out.push('\n');
        } else {
            self.out.push(',');
        }
    }

    fn close(&mut self, bracket: char, is_empty: bool) {
        if !is_empty && self.errs(COMMAS) {
            self.out.push(',');
        }
        self.out.push(bracket);
    }

    fn gap(&mut self) {
        // Behind another quote only `,`, `:` and a bracket show that it closes.
        let is_sure = !self.out.ends_with(['\'', '”']);
        if is_sure && self.errs(COMMENTS) {
            let comment = self.bytes.one(&["/* , } */", "// it's\n", "/* \"a */"]);
            self.out.push_str(comment);
        } else {
            self.out.push_str(self.bytes.one(&["", " ", "\n  "]));
        }
    }

    fn key(&mut self, key: &str) {
        let mut chars = key.chars();
        let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let is_name = starts && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_word = ["true", "false", "null"].contains(&key.to_lowercase().as_str());
        if is_name && !is_word && self.errs(BARE_KEYS) {
            self.out.push_str(key);
        } else {
            self.string(key);
        }
    }

    fn string(&mut self, text: &str) {
        let (open, close) = if self.errs(SINGLE_QUOTES) {
            ('\'', '\'')
        } else if !text.contains(['“', '”', '"']) && self.errs(SMART_QUOTES) {
            ('“', '”')
        } else {
            ('"', '"')
        };
        self.out.push(open);
        for c in text.chars() {
            match c {
                '\\' => self.out.push_str("\\\\"),
                c if c == close => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\n' | '\t' | '\r' if self.errs(RAW_CONTROL) => self.out.push(c),
                c if c.is_control() => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push(close);
    }
}
