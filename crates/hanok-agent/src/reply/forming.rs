//! A typed answer while it forms.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hanok_core::{Call, Token, TokenSink};
use serde_json::Value;

/// The fewest bytes that an answer grows by before it is read again; a long one grows by a sixteenth of its length.
const STEP: usize = 16;

/// Reads an answer that is JSON while a model writes it, and shows what it is so far. The tokens go on as they are.
pub(crate) struct Forming<F> {
    sink: Arc<dyn TokenSink>,
    /// The tool whose arguments are the answer, if the model answers by one.
    tool: Option<String>,
    show: F,
    draft: Mutex<Draft>,
}

#[derive(Default)]
struct Draft {
    text: String,
    /// The call that it is, if it is one.
    place: Option<u64>,
    /// The length at which it was read last.
    read: usize,
    shown: Option<Value>,
}

impl<F: Fn(&Value) + Send + Sync + 'static> Forming<F> {
    /// The same call, whose answer is shown by `show` while it forms; the call itself if nobody watches.
    pub(crate) fn of(call: &Call, tool: Option<String>, show: F) -> Call {
        match call.sink() {
            Some(sink) => {
                let (sink, draft) = (sink.clone(), Mutex::default());
                call.clone().tokens(Arc::new(Self { sink, tool, show, draft }))
            }
            None => call.clone(),
        }
    }
}

impl<F: Fn(&Value) + Send + Sync + 'static> Forming<F> {
    /// Takes more of the answer, and shows it where that changes it.
    fn grow(&self, draft: &mut Draft, text: &str) {
        draft.text.push_str(text);
        let grown = draft.text.len() - draft.read;
        let ends = draft.text.ends_with(['}', ']']);
        if grown == 0 || (!ends && grown < STEP.max(draft.text.len() / 16)) {
            return;
        }
        draft.read = draft.text.len();
        let value = so_far(&draft.text);
        if value.is_some() && value != draft.shown {
            draft.shown = value;
            draft.shown.iter().for_each(&self.show);
        }
    }

    fn draft(&self) -> MutexGuard<'_, Draft> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Fn(&Value) + Send + Sync + 'static> TokenSink for Forming<F> {
    fn token(&self, token: Token) {
        match &token {
            Token::Text(text) if self.tool.is_none() => self.grow(&mut self.draft(), text),
            Token::Retracted => *self.draft() = Draft::default(),
            _ => {}
        }
        self.sink.token(token);
    }

    fn call_piece(&self, place: u64, name: &str, arguments: &str) {
        if self.tool.as_deref() == Some(name) {
            let mut draft = self.draft();
            if *draft.place.get_or_insert(place) == place {
                self.grow(&mut draft, arguments);
            }
        }
        self.sink.call_piece(place, name, arguments);
    }
}

/// The object or list that begins in `text`, as far as it goes: a text that has not ended is as long as it is, a key without a
/// value and a number that may go on are not there yet.
fn so_far(text: &str) -> Option<Value> {
    let text = text.get(text.find(['{', '['])?..)?;
    let mut open: Vec<char> = Vec::new();
    // The beginning that can be closed, with what closes it.
    let mut whole = (0, String::new());
    let (mut in_text, mut escaped, mut is_value) = (None, 0_u8, false);
    for (at, c) in text.char_indices() {
        if in_text.is_some() {
            match c {
                _ if escaped > 0 => escaped -= 1,
                // A Unicode escape is `u` and four digits; of any other what follows is one character.
                '\\' => escaped = if text.get(at + 1..at + 2) == Some("u") { 5 } else { 1 },
                '"' => {
                    in_text = None;
                    if is_value {
                        whole = (at + 1, closers(&open));
                    }
                }
                _ => {}
            }
            continue;
        }
        match c {
            '"' => in_text = Some(at),
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                is_value = c == '[';
                whole = (at + 1, closers(&open));
            }
            '}' | ']' => {
                open.pop();
                whole = (at + 1, closers(&open));
                if open.is_empty() {
                    break;
                }
            }
            ':' => is_value = true,
            ',' => {
                is_value = open.last() == Some(&']');
                whole = (at, closers(&open));
            }
            _ => {}
        }
    }
    if let Some(begin) = in_text.filter(|_| is_value) {
        let end = match escaped {
            0 => text.len(),
            // The escape that has begun is left out.
            _ => text.rfind('\\').filter(|at| *at > begin).unwrap_or(text.len()),
        };
        let closed = format!("{}\"{}", text.get(..end)?, closers(&open));
        if let Ok(value) = serde_json::from_str(&closed) {
            return Some(value);
        }
    }
    let (end, closers) = whole;
    serde_json::from_str(&format!("{}{closers}", text.get(..end)?)).ok()
}

fn closers(open: &[char]) -> String {
    open.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::so_far;

    #[test]
    fn an_answer_is_as_much_as_there_is() {
        for (text, want) in [
            ("", None),
            ("The answer: ", None),
            ("{", Some(json!({}))),
            (r#"{"da"#, Some(json!({}))),
            (r#"{"days""#, Some(json!({}))),
            (r#"{"days": 1"#, Some(json!({}))),
            (r#"{"days": 15,"#, Some(json!({"days": 15}))),
            (r#"{"days": 15, "art"#, Some(json!({"days": 15}))),
            (r#"{"days": 15, "article": "fi"#, Some(json!({"days": 15, "article": "fi"}))),
            (r#"{"article": "a\"#, Some(json!({"article": "a"}))),
            (r#"{"article": "a\u00"#, Some(json!({"article": "a"}))),
            (r#"{"list": ["a", "b"#, Some(json!({"list": ["a", "b"]}))),
            (r#"{"list": [{"a": 1}, {"#, Some(json!({"list": [{"a": 1}, {}]}))),
            (r#"Here: {"a": {"b": [1, 2]}} and {"c""#, Some(json!({"a": {"b": [1, 2]}}))),
        ] {
            assert_eq!(so_far(text), want, "{text}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-z\"\\\\가]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Of every beginning of an answer there is a value, and of the whole one the answer.
        #[test]
        fn every_beginning_of_an_answer_is_a_value(inner in value()) {
            let answer = json!({ "answer": inner });
            let text = answer.to_string();
            for (at, _) in text.char_indices().skip(1) {
                prop_assert!(so_far(&text[..at]).is_some_and(|value| value.is_object()), "{}", &text[..at]);
            }
            prop_assert_eq!(so_far(&text), Some(answer));
        }
    }
}
