//! Calls that were made, so that none is made twice.

use std::collections::BTreeSet;

use hanok_state::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// The calls that were made in a turn or a conversation, for a graph that makes none of them twice.
///
/// Two calls are the same when they name the same tool with equal arguments: whatever the order of keys, the form of numbers
/// (`5`, `5.0`, `5e0`), the Unicode normal form of texts and the blanks of the JSON are. Ids do not count.
///
/// ```
/// use hanok_agent::ToolHistory;
/// use hanok_state::{Arguments, ToolCall};
///
/// let call = |id: &str, arguments: &str| ToolCall {
///     id: id.into(),
///     name: "get_article".into(),
///     arguments: Arguments::new(arguments),
/// };
/// let mut history = ToolHistory::default();
/// let asked = [call("1", r#"{"article": 5, "of": "a"}"#), call("2", r#"{"of":"a","article":5.0}"#)];
/// let (fresh, repeated) = history.sort(asked);
/// assert_eq!((fresh.len(), repeated.len()), (1, 1));
///
/// history.note(&fresh[0]);
/// assert!(history.has(&call("3", r#"{"article":5,"of":"a"}"#)));
/// assert!(!history.has(&call("4", r#"{"article":6,"of":"a"}"#)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolHistory(BTreeSet<String>);

impl ToolHistory {
    /// True when the same call was noted.
    #[must_use]
    pub fn has(&self, call: &ToolCall) -> bool {
        self.0.contains(&same(call))
    }

    /// Notes a call that was made. Says whether it is the first of its kind.
    pub fn note(&mut self, call: &ToolCall) -> bool {
        self.0.insert(same(call))
    }

    /// Of `calls`, those that are to be made, and those that were made or stand among them before. Both in their order.
    ///
    /// ```
    /// use hanok_agent::ToolHistory;
    /// use hanok_state::{Arguments, ToolCall};
    ///
    /// let call = |name: &str| ToolCall { id: "1".into(), name: name.into(), arguments: Arguments::default() };
    /// let mut history = ToolHistory::default();
    /// history.note(&call("look"));
    /// let (fresh, repeated) = history.sort([call("look"), call("find"), call("find")]);
    /// assert_eq!((fresh.len(), repeated.len()), (1, 2));
    /// ```
    #[must_use]
    pub fn sort(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> (Vec<ToolCall>, Vec<ToolCall>) {
        let mut seen = BTreeSet::new();
        calls.into_iter().partition(|call| {
            let same = same(call);
            !self.0.contains(&same) && seen.insert(same)
        })
    }

    /// The number of different calls that were noted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when no call was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A text that the same calls have in common.
fn same(call: &ToolCall) -> String {
    let written = call.arguments.as_str();
    let mut text = format!("{}\n", call.name);
    match serde_json::from_str(written) {
        Ok(value) => write(&value, &mut text, 0),
        // What is no JSON is only the same as itself.
        Err(_) => text.push_str(written),
    }
    text
}

/// The deepest nesting that is compared; deeper values are compared as they are written.
const DEEPEST: usize = 64;

fn write(value: &Value, out: &mut String, depth: usize) {
    let list = |out: &mut String, ends: [char; 2], items: Vec<String>| {
        out.push(ends[0]);
        out.push_str(&items.join(","));
        out.push(ends[1]);
    };
    let inner = |value: &Value| {
        let mut text = String::new();
        write(value, &mut text, depth + 1);
        text
    };
    match value {
        Value::Object(object) if depth < DEEPEST => {
            let mut items: Vec<String> = object
                .iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), inner(value)))
                .collect();
            items.sort();
            list(out, ['{', '}'], items);
        }
        Value::Array(items) if depth < DEEPEST => {
            list(out, ['[', ']'], items.iter().map(inner).collect());
        }
        Value::String(text) => out.push_str(&quoted(text)),
        Value::Number(number) => match number.as_f64().filter(|it| is_whole(*it)) {
            Some(whole) if !number.is_i64() && !number.is_u64() => {
                out.push_str(&format!("{}", whole as i64));
            }
            _ => out.push_str(&number.to_string()),
        },
        value => out.push_str(&value.to_string()),
    }
}

/// True for a whole number that a float holds exactly.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0
}

fn quoted(text: &str) -> String {
    Value::from(text.nfc().collect::<String>()).to_string()
}

#[cfg(test)]
mod tests {
    use hanok_state::Arguments;

    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: name.into(), arguments: Arguments::new(arguments) }
    }

    #[test]
    fn calls_are_the_same_by_what_they_ask() {
        let same = |a: &str, b: &str| {
            let mut history = ToolHistory::default();
            assert!(history.note(&call("find", a)));
            history.has(&call("find", b))
        };
        for (a, b) in [
            (r#"{"a":1,"b":[1,2]}"#, r#"{ "b" : [1, 2], "a" : 1 }"#),
            (r#"{"n":5}"#, r#"{"n":5.0}"#),
            (r#"{"n":500}"#, r#"{"n":5e2}"#),
            (r#"{"n":-0.0}"#, r#"{"n":0}"#),
            ("{\"q\":\"\u{1112}\u{1172}\u{1100}\u{1161}\"}", r#"{"q":"휴가"}"#),
            ("{\"\u{1112}\u{1172}\":1}", r#"{"휴":1}"#),
            (r#"{"q":"\ud734"}"#, r#"{"q":"휴"}"#),
            ("{broken", "{broken"),
            ("{}", " {}\n"),
        ] {
            assert!(same(a, b) && same(b, a), "{a} {b}");
        }
        for (a, b) in [
            (r#"{"n":5}"#, r#"{"n":"5"}"#),
            (r#"{"n":5}"#, r#"{"n":5.5}"#),
            (r#"{"n":9007199254740993}"#, r#"{"n":9007199254740992}"#),
            (r#"{"q":["a","b"]}"#, r#"{"q":["b","a"]}"#),
            (r#"{"q":"a","r":"b"}"#, r#"{"q":"a\",\"r\":\"b"}"#),
            (r#"{"q":"휴가"}"#, r#"{"q":"휴가 "}"#),
            (r#"{"q":null}"#, "{}"),
            ("{broken", "{ broken"),
        ] {
            assert!(!same(a, b) && !same(b, a), "{a} {b}");
        }
        let mut history = ToolHistory::default();
        history.note(&call("a", "{}"));
        assert!(!history.has(&call("b", "{}")));
        let deep = "[".repeat(100_000);
        assert!(!history.has(&call("a", &deep)));
    }
}
