//! Matches the name a model wrote to a declared one.

use crate::declared::{CallKind, Declared};

/// Longer names are refused unread: nothing that long is declared, and trimming has to stay cheap.
const LONGEST: usize = 1024;
/// Suggestions compare every letter with every letter, so both names have to be short.
const LONGEST_SUGGESTED: usize = 64;

/// The declared name that `raw` means, or `raw` without its decoration.
///
/// Decoration comes off one piece at a time and every stage is looked up, so that the longest declared name wins:
/// `find (v2)` is itself where it is declared, and `find` with a remark elsewhere.
pub(crate) fn resolve(declared: &Declared, kind: CallKind, raw: &str) -> Result<String, String> {
    let mut name = raw.trim();
    if name.len() > LONGEST {
        return Err(name.to_owned());
    }
    loop {
        if is_declared(declared, kind, name) {
            return Ok(name.to_owned());
        }
        match trimmed(name) {
            Some(shorter) => name = shorter,
            None => break,
        }
    }
    let inner = name.trim_matches('_');
    if is_declared(declared, kind, inner) {
        return Ok(inner.to_owned());
    }
    let is_name = declared.is_any() && is_plain(name) && !has_arguments(name);
    if is_name { Ok(name.to_owned()) } else { Err(name.to_owned()) }
}

/// Whether a declared tool's name begins with `start`, which the end of the text cut off.
pub(crate) fn begins_tool(declared: &Declared, start: &str) -> bool {
    let start = start.trim();
    declared.tools().any(|name| name.starts_with(start))
        || (declared.is_any() && is_plain(start) && !start.contains(char::is_whitespace))
}

/// `raw` as it is declared, or without its decoration.
pub(crate) fn plain(declared: &Declared, kind: CallKind, raw: &str) -> String {
    resolve(declared, kind, raw).unwrap_or_else(|name| name)
}

/// The declared name nearest to `name`, when one is near enough to be meant.
pub(crate) fn nearest(declared: &Declared, kind: CallKind, name: &str) -> Option<String> {
    let folded = fold(name)?;
    let near = |known: &str| Some((distance(&folded, &fold(known)?), known.to_owned()));
    let best = match kind {
        CallKind::Tool => declared.tools().filter_map(near).min(),
        CallKind::Delegate => declared.agents().filter_map(near).min(),
    };
    best.filter(|(distance, _)| *distance <= folded.len().div_ceil(3)).map(|(_, known)| known)
}

/// The name for an error: its hidden characters replaced, a long one cut.
pub(crate) fn shown(name: &str) -> String {
    let mut letters = name.chars();
    let mut shown: String = letters.by_ref().take(LONGEST_SUGGESTED * 2).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown.chars().map(|letter| if is_hidden(letter) { '\u{fffd}' } else { letter }).collect()
}

fn is_declared(declared: &Declared, kind: CallKind, name: &str) -> bool {
    match kind {
        CallKind::Tool => declared.has_tool(name),
        CallKind::Delegate => declared.has_agent(name),
    }
}

/// `name` without one layer of decoration, `None` when there is none.
fn trimmed(name: &str) -> Option<&str> {
    let shorter = name
        .strip_suffix(is_mark)
        .or_else(|| name.strip_prefix(is_mark))
        .or_else(|| PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)))
        .or_else(|| name.strip_suffix('.'))
        .or_else(|| SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)))
        .or_else(|| name.strip_prefix('@'))
        .or_else(|| bracketed(name))
        .or_else(|| without_index(name))?
        .trim();
    (!shorter.is_empty()).then_some(shorter)
}

/// What Korean adds to a name.
const SUFFIXES: [&str; 4] = [" 도구 사용", " 도구를 사용", " 도구", " 사용"];
/// Names of what models put tools into.
const PREFIXES: [&str; 4] = ["functions.", "default_api.", "tools.", "multi_tool_use."];

/// `name.name` as `name`.
pub(crate) fn doubled(name: &str) -> Option<&str> {
    let half = name.len().checked_sub(1)? / 2;
    let (first, second) = (name.get(..half)?, name.get(half + 1..)?);
    (first == second && name.get(half..=half) == Some(".")).then_some(first)
}

/// `[name]` without its brackets, or `name (remark)` without its remark.
fn bracketed(name: &str) -> Option<&str> {
    let pairs = [('[', ']'), ('(', ')'), ('<', '>'), ('（', '）'), ('「', '」'), ('【', '】')];
    let (open, close) = pairs.into_iter().find(|(_, close)| name.ends_with(*close))?;
    match name.strip_prefix(open) {
        Some(inner) => inner.strip_suffix(close),
        None if is_call(name.get(name.find(open)?..)?) => None,
        None => name.get(..name.rfind(open)?),
    }
}

/// Whether `name` is a whole call: `find(q="a")`.
fn has_arguments(name: &str) -> bool {
    let brackets = name.find('(').and_then(|at| name.get(at..)).filter(|_| name.ends_with(')'));
    brackets.is_some_and(is_call)
}

/// Whether what stands in brackets behind a name is given to it: a remark has no such signs.
fn is_call(brackets: &str) -> bool {
    brackets.contains(['=', '"', '{']) || brackets.matches('\'').count() > 1
}

/// Whether `raw` says that no tool is called, and no tool is called so.
pub(crate) fn is_none(declared: &Declared, raw: &str) -> bool {
    const NONE: [&str; 6] = ["none", "n/a", "null", "없음", "-", "no action"];
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | 0x80..);
    if !matches!(raw.bytes().find(|byte| is_letter(byte)), Some(b'n' | b'N' | b'-' | 0x80..)) {
        return false;
    }
    let word = raw.trim().trim_matches(['"', '\'', '`', '*', '[', ']', '(', ')', '.']).trim();
    let is_word = NONE.iter().any(|none| word.eq_ignore_ascii_case(none));
    is_word && !declared.has_tool(word) && !declared.has_tool(raw.trim())
}

/// `functions.name:0`, whole, where a name is one: the id of a call.
pub(crate) fn index(name: &str) -> Option<String> {
    let name = name.trim();
    let is_id = name.starts_with("functions.") && without_index(name).is_some();
    is_id.then(|| name.to_owned())
}

/// `name:0` without its index.
fn without_index(name: &str) -> Option<&str> {
    let (name, index) = name.rsplit_once(':')?;
    let is_index = !index.is_empty() && index.bytes().all(|digit| digit.is_ascii_digit());
    is_index.then_some(name)
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’')
}

/// No letter of the name is a control character or cannot be seen.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(is_hidden)
}

/// Control, zero-width, direction and tag characters: names that differ in them look the same.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The letters of a name, alike in case and in the signs between words.
fn fold(name: &str) -> Option<Vec<char>> {
    if name.len() > LONGEST_SUGGESTED * 4 {
        return None;
    }
    let letters = name.chars().flat_map(char::to_lowercase);
    let folded: Vec<_> = letters
        .map(|letter| if matches!(letter, '-' | ' ' | '.') { '_' } else { letter })
        .collect();
    (folded.len() <= LONGEST_SUGGESTED).then_some(folded)
}

/// The number of letters to insert, delete or replace between two names (Levenshtein 1966).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (done, &from) in left.iter().enumerate() {
        let mut diagonal = done;
        let mut before = done + 1;
        let mut next = vec![before];
        for (&to, &above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(from != to);
            before = replaced.min(above + 1).min(before + 1);
            diagonal = above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
