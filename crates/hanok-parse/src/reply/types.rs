//! Whether arguments, and what stands in them, are of the types that their parameters are declared with.
//!
//! Each value is looked at once for every object and array around it whose schema is known, and a schema is known
//! a few levels deep.

use std::{fmt, ops::Range};

use crate::{
    declared::{Declared, Inner, Param, ParamType},
    json::{
        literals,
        members::{self, Members},
    },
    text::names,
};

/// What is done with a call whose arguments contradict the types of their parameters, or of what stands in them.
///
/// What a schema says of the members of objects and the items of arrays is compared eight levels deep, up to 1,000 types in all, and
/// not where several types of a union could be meant.
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
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Typing {
    /// A value is of another type.
    pub(crate) is_wrong: bool,
    /// Numbers were written as strings, and stand as numbers in this JSON text.
    pub(crate) numbers: Option<String>,
    /// Where the first values stand that are of another type: `rows[0].id`.
    pub(crate) paths: Vec<String>,
}

/// So many places are named.
const PATHS: usize = 8;

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
        return Typing::default();
    }
    let mut compared = Compared { json, ..Compared::default() };
    match members {
        Some(members) => compared.members(params, members.of(json), None),
        None => compared.members(params, members::top_level(json), None),
    }
    compared.typing()
}

/// A place in the arguments.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}")?;
        }
        match self.step {
            Step::Member(name) if self.parent.is_none() => f.write_str(name),
            Step::Member(name) => write!(f, ".{name}"),
            Step::Item(at) => write!(f, "[{at}]"),
        }
    }
}

/// What was found in some arguments so far.
#[derive(Debug, Default)]
struct Compared<'j> {
    json: &'j str,
    is_wrong: bool,
    /// Strings that are numbers, and these.
    numbers: Vec<(Range<usize>, &'j str)>,
    paths: Vec<String>,
}

impl<'j> Compared<'j> {
    /// Compares the members of an object with what is declared.
    fn members<'k>(
        &mut self,
        params: &[Param],
        members: impl Iterator<Item = (&'k str, Range<usize>)>,
        parent: Option<&Place<'_>>,
    ) {
        for (at, (key, value)) in members.enumerate() {
            // Most calls have their arguments in the order of the parameters.
            let is = |param: &&Param| members::is_key(key, &param.name);
            let near = params.get(at).filter(is);
            let Some(param) = near.or_else(|| params.iter().find(is)) else { continue };
            self.value(param, value, Place { parent, step: Step::Member(&param.name) });
        }
    }

    fn value(&mut self, param: &Param, value: Range<usize>, place: Place<'_>) {
        let text = self.json.get(value.clone()).unwrap_or_default();
        if !fits(text, param.kind, param.nullable) {
            return self.contradicts(param.kind, value, place);
        }
        let Inner { members, items, sure_members, sure_items } = &param.inner;
        let within = |range: Range<usize>| value.start + range.start..value.start + range.end;
        if *sure_members && text.starts_with('{') {
            let inner = members::top_level(text).map(|(key, range)| (key, within(range)));
            self.members(members, inner, Some(&place));
        }
        if let Some(item) = items.as_ref().filter(|_| *sure_items && text.starts_with('[')) {
            for (at, range) in members::items(text).enumerate() {
                let parent = Some(&place);
                self.value(item, within(range), Place { parent, step: Step::Item(at) });
            }
        }
    }

    fn contradicts(&mut self, kind: ParamType, value: Range<usize>, place: Place<'_>) {
        if self.paths.len() < PATHS {
            self.paths.push(names::shown(&place.to_string()));
        }
        match number(self.json.get(value.clone()).unwrap_or_default(), kind) {
            Some(inner) => self.numbers.push((value, inner)),
            None => self.is_wrong = true,
        }
    }

    fn typing(self) -> Typing {
        let Self { json, is_wrong, numbers, paths } = self;
        if numbers.is_empty() {
            return Typing { is_wrong, numbers: None, paths };
        }
        let mut written = String::with_capacity(json.len());
        let mut from = 0;
        for (Range { start, end }, number) in numbers {
            written.push_str(json.get(from..start).unwrap_or_default());
            written.push_str(number);
            from = end;
        }
        written.push_str(json.get(from..).unwrap_or_default());
        Typing { is_wrong, numbers: Some(written), paths }
    }
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
