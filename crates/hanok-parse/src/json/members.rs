//! The members of the objects that are being read.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use crate::json::json_text::{self, unquoted};

/// So many members are compared one by one.
const FEW: usize = 8;

/// A member, as ranges of what is written.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The whole member begins here.
    pub(crate) start: usize,
    /// The key with its quotes. Empty until it is whole.
    pub(crate) key: Range<usize>,
    /// The value. Empty until it is whole.
    pub(crate) value: Range<usize>,
}

/// The members of an object that stands from byte `at` in the text that they are ranges of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members<'a> {
    pub(crate) list: &'a [Member],
    pub(crate) at: usize,
}

impl Members<'_> {
    /// The keys of the object `json` as they are written there, and where their values stand.
    pub(crate) fn of<'j>(&self, json: &'j str) -> impl Iterator<Item = (&'j str, Range<usize>)> {
        let within = |range: &Range<usize>| {
            let at = |end: usize| end.saturating_sub(self.at);
            at(range.start)..at(range.end)
        };
        self.list.iter().map(move |member| {
            (json.get(within(&member.key)).unwrap_or_default(), within(&member.value))
        })
    }
}

impl Member {
    pub(crate) fn has(&self, key: &str, out: &str) -> bool {
        let written = out.get(self.key.clone()).unwrap_or_default();
        let plain = written.get(1..written.len().saturating_sub(1));
        plain == Some(key) && !written.is_empty()
            || written.contains('\\') && decoded(written) == key
    }

    pub(crate) fn name(&self, out: &str) -> String {
        decoded(out.get(self.key.clone()).unwrap_or_default()).into_owned()
    }
}

/// A key without its quotes.
pub(crate) fn decoded(json: &str) -> Cow<'_, str> {
    if has_escape(json) {
        return Cow::Owned(unquoted(json));
    }
    Cow::Borrowed(json.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(json))
}

/// Whether a key, which is short, has an escape.
fn has_escape(json: &str) -> bool {
    json.bytes().any(|byte| byte == b'\\')
}

/// Whether a key, written with its quotes, is `name`.
pub(crate) fn is_key(json: &str, name: &str) -> bool {
    let inner = json.as_bytes().get(1..json.len().saturating_sub(1));
    inner == Some(name.as_bytes()) && !has_escape(json) || has_escape(json) && decoded(json) == name
}

/// Keeps the last of the members with one key, of the object that begins at byte `start` of `out` and whose members
/// begin at `base`. Says whether there were several.
pub(crate) fn keep_last(
    out: &mut String,
    members: &mut Vec<Member>,
    base: usize,
    start: usize,
) -> bool {
    let Some(own) = members.get(base..).filter(|own| own.len() > 1) else { return false };
    let Some(keep) = keep_flags(out, own) else { return false };
    let base_out = start + 1;
    let old = out.split_off(base_out.min(out.len()));
    let own = members.split_off(base);
    for (mut member, _) in own.into_iter().zip(keep).filter(|(_, keep)| *keep) {
        if members.len() > base {
            out.push(',');
        }
        let moved = out.len();
        let text = old.get(member.start - base_out..member.value.end - base_out);
        out.push_str(text.unwrap_or_default());
        let shift = |at: usize| moved + (at - member.start);
        member.key = shift(member.key.start)..shift(member.key.end);
        member.value = shift(member.value.start)..out.len();
        member.start = moved;
        members.push(member);
    }
    true
}

/// Which members stay. `None` when all do.
fn keep_flags(out: &str, own: &[Member]) -> Option<Vec<bool>> {
    let key = |member: &Member| out.get(member.key.clone()).unwrap_or_default();
    let plain = own.iter().all(|member| !has_escape(key(member)));
    if plain && own.len() <= FEW {
        let mut rest = own.iter();
        let alone = std::iter::from_fn(|| rest.next().map(|first| (first, rest.clone())))
            .all(|(first, mut others)| others.all(|other| key(other) != key(first)));
        if alone {
            return None;
        }
    }
    let mut last = BTreeMap::new();
    for (at, member) in own.iter().enumerate() {
        last.insert(decoded(key(member)), at);
    }
    if last.len() == own.len() {
        return None;
    }
    let at_last = |(at, member): (usize, &Member)| last.get(&decoded(key(member))) == Some(&at);
    Some(own.iter().enumerate().map(at_last).collect())
}

/// The members of the object that `json` is, valid and without white space: their keys, and where their values stand.
pub(crate) fn top_level(json: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let key = at..value_end(json, at);
        if json.as_bytes().get(key.start) != Some(&b'"') {
            return None;
        }
        let value = key.end + 1..value_end(json, key.end + 1);
        at = value.end + 1;
        Some((json.get(key)?, value))
    })
}

/// Where the items of the array that `json` is stand, valid and without white space.
pub(crate) fn items(json: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let item = at..value_end(json, at);
        at = item.end + 1;
        (!item.is_empty()).then_some(item)
    })
}

/// Where the value that begins at byte `at` ends.
fn value_end(json: &str, at: usize) -> usize {
    let bytes = json.as_bytes();
    let (mut depth, mut at) = (0_usize, at);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' | b':' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Where the quote stands that closes the string in which byte `at` is.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += json_text::plain(rest);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            _ => return at,
        }
    }
}
