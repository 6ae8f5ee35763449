//! A stored value as text, for people.

use std::fmt;

use super::{
    error::DEEPEST,
    msgpack::{Head, Reader},
    value::Stored,
};

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        json(&mut Reader::new(self.as_bytes()), f, 0)
    }
}

/// Shows the next value as JSON; what JSON has no form for, and what is malformed, as `…`.
fn json(reader: &mut Reader<'_>, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    if depth > DEEPEST {
        return match reader.value() {
            Ok(_) | Err(_) => f.write_str("…"),
        };
    }
    let Ok(head) = reader.head() else { return f.write_str("…") };
    match head {
        Head::Nil => f.write_str("null"),
        Head::Bool(value) => write!(f, "{value}"),
        Head::Uint(value) => write!(f, "{value}"),
        Head::Int(value) => write!(f, "{value}"),
        Head::F32(value) => write!(f, "{value:?}"),
        Head::F64(value) => write!(f, "{value:?}"),
        Head::Str(len) => match reader.take(len).map(String::from_utf8_lossy) {
            Ok(text) => quoted(&text, f),
            Err(_) => f.write_str("…"),
        },
        Head::Bin(len) | Head::Ext(len) => match reader.take(len) {
            Ok(bytes) => {
                f.write_str("\"")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("\"")
            }
            Err(_) => f.write_str("…"),
        },
        Head::Array(len) => {
            parts(reader, f, len, ["[", "]"], |reader, f| json(reader, f, depth + 1))
        }
        Head::Map(len) => parts(reader, f, len, ["{", "}"], |reader, f| {
            json(reader, f, depth + 1)?;
            f.write_str(":")?;
            json(reader, f, depth + 1)
        }),
    }
}

/// Shows `len` parts between brackets, or as many as there are.
fn parts(
    reader: &mut Reader<'_>,
    f: &mut fmt::Formatter<'_>,
    len: usize,
    brackets: [&str; 2],
    show: impl Fn(&mut Reader<'_>, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_str(brackets[0])?;
    for i in 0..len {
        comma(i, f)?;
        show(reader, f)?;
        if reader.is_at_end() {
            break;
        }
    }
    f.write_str(brackets[1])
}

pub(crate) fn comma(i: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if i > 0 { f.write_str(",") } else { Ok(()) }
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str, f: &mut impl fmt::Write) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c.is_control() => write!(f, "\\u{:04x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}
