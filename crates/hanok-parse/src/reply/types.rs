//! Whether arguments are of the types that their parameters are declared with.

use std::ops::Range;

use crate::{
    declared::{Declared, Param, ParamType},
    json::{
        literals,
        members::{self, Members},
    },
};

/// What is done with a call whose arguments contradict the types of their parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mistyped {
    /// It is handed on as it came, with a note.
    #[default]
    HandOn,
    /// It is rejected as malformed.
    Refuse,
}

/// What the types of some arguments are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    Right,
    /// Numbers were written as strings, and stand as numbers in this JSON text.
    Numbers(String),
    Wrong,
}

/// Compares the arguments of a tool, a JSON object without white space, with the declared types. Its members are looked for
/// where they are not known.
pub(crate) fn typing(
    declared: &Declared,
    tool: &str,
    json: &str,
    members: Option<Members<'_>>,
) -> Typing {
    let params = declared.params(tool);
    if params.is_empty() {
        return Typing::Right;
    }
    match members {
        Some(members) => compared(params, json, members.of(json)),
        None => compared(params, json, members::top_level(json)),
    }
}

fn compared<'j>(
    params: &[Param],
    json: &str,
    members: impl Iterator<Item = (&'j str, Range<usize>)>,
) -> Typing {
    let (mut wrong, mut numbers) = (false, Vec::new());
    for (place, (key, value)) in members.enumerate() {
        let text = json.get(value.clone()).unwrap_or_default();
        // Most calls have their arguments in the order of the parameters.
        let is = |param: &&Param| members::is_key(key, &param.name);
        let near = params.get(place).filter(is);
        let param = near.or_else(|| params.iter().find(is));
        let Some(&Param { kind, nullable, .. }) = param else { continue };
        if fits(text, kind, nullable) {
            continue;
        }
        match number(text, kind) {
            Some(inner) => numbers.push((value, inner)),
            None => wrong = true,
        }
    }
    if numbers.is_empty() {
        return if wrong { Typing::Wrong } else { Typing::Right };
    }
    let mut written = String::with_capacity(json.len());
    let mut from = 0;
    for (Range { start, end }, number) in numbers {
        written.push_str(json.get(from..start).unwrap_or_default());
        written.push_str(number);
        from = end;
    }
    written.push_str(json.get(from..).unwrap_or_default());
    if wrong { Typing::Wrong } else { Typing::Numbers(written) }
}

/// Whether a value may stand for a parameter of this type.
fn fits(json: &str, kind: ParamType, nullable: bool) -> bool {
    let first = json.bytes().next().unwrap_or_default();
    if first == b'n' {
        return nullable
            || matches!(kind, ParamType::Null | ParamType::NullableString | ParamType::Any);
    }
    match kind {
        ParamType::String | ParamType::NullableString => first == b'"',
        ParamType::Integer => matches!(first, b'-' | b'0'..=b'9') && is_whole(json),
        ParamType::Number => matches!(first, b'-' | b'0'..=b'9'),
        ParamType::Boolean => matches!(first, b't' | b'f'),
        ParamType::Object => first == b'{',
        ParamType::Array => first == b'[',
        ParamType::Null => false,
        ParamType::Any => true,
    }
}

/// Whether a number has no fraction.
fn is_whole(json: &str) -> bool {
    json.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
        || json.parse().is_ok_and(|number: f64| number.fract() == 0.0)
}

/// The number that a string is, exactly, where a number is declared.
fn number(json: &str, kind: ParamType) -> Option<&str> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    let is_number = matches!(kind, ParamType::Integer | ParamType::Number)
        && inner.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && literals::value(inner).is_some();
    (is_number && fits(inner, kind, false)).then_some(inner)
}
