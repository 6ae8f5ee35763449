//! One sequence of bytes for each JSON value, whatever order its keys stand in.

use blake3::Hasher;
use serde_json::Value;

/// Feeds `value` to `hasher`.
pub(crate) fn feed(hasher: &mut Hasher, value: &Value) {
    match value {
        Value::Null => tagged(hasher, b'n', 0),
        Value::Bool(flag) => tagged(hasher, b'b', usize::from(*flag)),
        Value::Number(number) => text(hasher, b'#', &number.to_string()),
        Value::String(string) => text(hasher, b's', string),
        Value::Array(list) => {
            tagged(hasher, b'a', list.len());
            list.iter().for_each(|item| feed(hasher, item));
        }
        Value::Object(fields) => {
            tagged(hasher, b'o', fields.len());
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|field| field.0);
            for (name, value) in sorted {
                text(hasher, b'k', name);
                feed(hasher, value);
            }
        }
    }
}

fn tagged(hasher: &mut Hasher, tag: u8, length: usize) {
    hasher.update(&[tag]);
    hasher.update(&(length as u64).to_le_bytes());
}

fn text(hasher: &mut Hasher, tag: u8, text: &str) {
    tagged(hasher, tag, text.len());
    hasher.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(value: &Value) -> blake3::Hash {
        let mut hasher = Hasher::new();
        feed(&mut hasher, value);
        hasher.finalize()
    }

    #[test]
    fn values_that_differ_have_other_hashes_and_the_order_of_keys_does_not_count() {
        let texts = [
            "null",
            "0",
            "false",
            "true",
            "\"\"",
            "[]",
            "{}",
            "[[]]",
            "[[],[]]",
            "[\"a\",\"b\"]",
            "[\"ab\"]",
            r#"{"a":"b"}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a":{},"b":1}"#,
            "1",
            "1.0",
            "\"1\"",
        ];
        let mut hashes: Vec<_> =
            texts.iter().map(|text| hash(&serde_json::from_str(text).unwrap()).to_hex()).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), texts.len());
        let (one, other) = (r#"{"a":1,"b":{"c":2,"d":3}}"#, r#"{"b":{"d":3,"c":2},"a":1}"#);
        let read = |text| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(hash(&read(one)), hash(&read(other)));
        assert_ne!(hash(&json!({"a": 1})), hash(&json!({"a": 2})));
    }
}
