//! Arguments out of bytes.

use hanok_parse::ParamType;
use serde_json::{Map, Value};

use crate::{bytes::Bytes, soup};

/// The parameters of the tool `plan`, each with a type of its own.
pub(crate) const KEYS: [&str; 6] = ["b", "l", "n", "o", "q", "x"];

/// The type of a parameter.
pub(crate) fn kind(key: &str) -> ParamType {
    match key {
        "b" => ParamType::Boolean,
        "l" => ParamType::Array,
        "n" => ParamType::Integer,
        "o" => ParamType::Object,
        "x" => ParamType::Number,
        _ => ParamType::String,
    }
}

/// A tool, and arguments of its parameters' types.
pub(crate) fn call(bytes: &mut Bytes<'_>) -> (&'static str, Map<String, Value>) {
    match bytes.below(4) {
        0 => ("find", Map::from_iter([("q".to_owned(), string(bytes).into())])),
        1 => ("ping", Map::new()),
        _ => {
            let mut args = Map::new();
            for key in KEYS {
                if !bytes.once_in(3) {
                    args.insert(key.to_owned(), of(kind(key), bytes));
                }
            }
            // Where arguments are tags, a tool with parameters and without arguments was cut off.
            if args.is_empty() {
                args.insert("n".to_owned(), integer(bytes));
            }
            ("plan", args)
        }
    }
}

fn of(kind: ParamType, bytes: &mut Bytes<'_>) -> Value {
    match kind {
        ParamType::Boolean => bytes.once_in(2).into(),
        ParamType::Integer => integer(bytes),
        ParamType::Number => bytes.one(&[0.5, -2.25, 1e3, 12.0]).into(),
        ParamType::Array => Value::Array((0..bytes.below(4)).map(|_| any(bytes, 3)).collect()),
        ParamType::Object => object(bytes, 3).into(),
        _ => string(bytes).into(),
    }
}

fn integer(bytes: &mut Bytes<'_>) -> Value {
    match bytes.below(4) {
        0 => bytes.next().into(),
        1 => (-i64::from(bytes.next())).into(),
        2 => u64::MAX.into(),
        _ => i64::MIN.into(),
    }
}

/// A value that nests at most `depth` levels.
pub(crate) fn any(bytes: &mut Bytes<'_>, depth: usize) -> Value {
    match bytes.below(if depth == 0 { 5 } else { 7 }) {
        0 => string(bytes).into(),
        1 => integer(bytes),
        2 => bytes.once_in(2).into(),
        3 => Value::Null,
        4 => bytes.one(&[0.5, -2.25]).into(),
        5 => Value::Array((0..bytes.below(4)).map(|_| any(bytes, depth - 1)).collect()),
        _ => object(bytes, depth - 1).into(),
    }
}

fn object(bytes: &mut Bytes<'_>, depth: usize) -> Map<String, Value> {
    (0..bytes.below(4)).map(|_| (string(bytes), any(bytes, depth))).collect()
}

/// Content that looks like everything but content.
pub(crate) fn string(bytes: &mut Bytes<'_>) -> String {
    let mut text = String::new();
    for _ in 0..bytes.below(5) {
        if bytes.once_in(4) {
            text.push_str(&bytes.text(6));
        } else {
            text.push_str(bytes.one(soup::MARKS));
        }
    }
    text
}
