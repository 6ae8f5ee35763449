//! A stored value as JSON that every parser reads.

use std::fmt::{self, Write};

use super::{
    display::quoted,
    error::DEEPEST,
    msgpack::{Head, Reader},
    value::Stored,
};

impl Stored {
    /// The value as JSON. What JSON has no form for is told as near to it as can be: bytes as a text of hexadecimal digits,
    /// a key that is no text as a text that holds its JSON, a number that is none as `null`, what is nested deeper than 128
    /// as `null`.
    ///
    /// ```
    /// use hanok_core::Stored;
    ///
    /// assert_eq!(Stored::encode(&[(1, "가"), (2, "나")])?.to_json(), r#"[[1,"가"],[2,"나"]]"#);
    /// # Ok::<(), hanok_core::StoredError>(())
    /// ```
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        // Writing to a text never fails.
        let _ = value(&mut Reader::new(self.as_bytes()), &mut text, 0);
        text
    }
}

fn value(reader: &mut Reader<'_>, to: &mut String, depth: usize) -> fmt::Result {
    if depth > DEEPEST {
        let _ = reader.value();
        return to.write_str("null");
    }
    let Ok(head) = reader.head() else { return to.write_str("null") };
    match head {
        Head::Nil => to.write_str("null"),
        Head::Bool(value) => write!(to, "{value}"),
        Head::Uint(value) => write!(to, "{value}"),
        Head::Int(value) => write!(to, "{value}"),
        Head::F32(value) if value.is_finite() => write!(to, "{value:?}"),
        Head::F64(value) if value.is_finite() => write!(to, "{value:?}"),
        Head::F32(_) | Head::F64(_) => to.write_str("null"),
        Head::Str(len) => {
            let text = reader.take(len).map(String::from_utf8_lossy).unwrap_or_default();
            quoted(&text, to)
        }
        Head::Bin(len) | Head::Ext(len) => {
            let bytes = reader.take(len).unwrap_or_default();
            to.push('"');
            bytes.iter().try_for_each(|byte| write!(to, "{byte:02x}"))?;
            to.write_char('"')
        }
        Head::Array(len) => {
            to.push('[');
            for i in 0..len {
                to.push_str(if i > 0 { "," } else { "" });
                value(reader, to, depth + 1)?;
                if reader.is_at_end() {
                    break;
                }
            }
            to.write_char(']')
        }
        Head::Map(len) => {
            to.push('{');
            for i in 0..len {
                to.push_str(if i > 0 { "," } else { "" });
                key(reader, to, depth + 1)?;
                to.push(':');
                value(reader, to, depth + 1)?;
                if reader.is_at_end() {
                    break;
                }
            }
            to.write_char('}')
        }
    }
}

fn key(reader: &mut Reader<'_>, to: &mut String, depth: usize) -> fmt::Result {
    let mut text = String::new();
    value(reader, &mut text, depth)?;
    if text.starts_with('"') { to.write_str(&text) } else { quoted(&text, to) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_json_has_no_form_for_is_told_as_near_to_it_as_can_be() {
        let stored = |value: Stored| value.to_json();
        let numbers = [f64::NAN, f64::INFINITY, 0.5];
        let keys = BTreeMap::from([((1, "a"), true)]);
        for (value, want) in [
            (Stored::encode(&numbers), "[null,null,0.5]"),
            (Stored::encode(&keys), r#"{"[1,\"a\"]":true}"#),
            (Stored::encode("\u{1b}\"\\\n가"), r#""\u001b\"\\\n가""#),
            (Stored::encode(&BTreeMap::from([(1, ())])), r#"{"1":null}"#),
        ] {
            assert_eq!(stored(value.unwrap()), want);
        }
        let bytes = Stored::from_bytes(vec![0xc4, 2, 0xab, 1]).unwrap();
        assert_eq!(stored(bytes), "\"ab01\"");
    }
}
