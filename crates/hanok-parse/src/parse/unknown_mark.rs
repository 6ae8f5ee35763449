//! Marks that look like a call's and belong to no format that is known.

use crate::text::{
    look::{Look, Until},
    presence::More,
};

/// The longest mark.
const MARK: usize = 64;
/// So far behind a bracket JSON begins.
const BRACKET: usize = 128;

/// The length of a mark at `at` that looks like a call's: `<|…tool…|>`, `<…tool_call…>`, or `[…tool…` before JSON.
pub(crate) fn length(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    if look.rest(at).starts_with('[') {
        return bracket(look, at);
    }
    let part = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '_' | '|' | ':' | '.' | '-' | '｜' | '▁')
    };
    let len = match look.until(at + 1, MARK, |letter| !part(letter)) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(None),
    };
    if !look.rest(at + 1 + len).starts_with('>') {
        return Ok(None);
    }
    let mark = look.slice(at + 1, at + 1 + len).to_lowercase();
    let is_token = mark.starts_with(['|', '｜']);
    let says = |word: &str| mark.contains(word);
    let calls = says("tool_call") || says("toolcall") || says("function_call");
    Ok((calls || is_token && (says("tool") || says("function"))).then_some(len + 2))
}

/// The length of a token at `at` that says that a tool's result follows, and belongs to no known format: `<|tool_result|>`,
/// `[TOOL_RESULT]`.
pub(crate) fn result(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '|' | '｜' | '▁');
    let close = match look.rest(at).as_bytes() {
        [b'[', b'A'..=b'Z', ..] => ']',
        [b'<', b'|' | 0xef, ..] => '>',
        _ => return Ok(None),
    };
    let len = match look.until(at + 1, MARK, |letter| !part(letter)) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(None),
    };
    let mark = look.slice(at + 1, at + 1 + len);
    let is_token = look.rest(at + 1 + len).starts_with(close)
        && (close == '>' || !mark.bytes().any(|byte| byte.is_ascii_lowercase()));
    Ok((is_token && says_result(mark.as_bytes())).then_some(len + 2))
}

/// Whether such a token begins `rest`, which does not go on.
pub(crate) fn begins_result(rest: &str) -> bool {
    let (close, is_upper) = match rest.as_bytes() {
        [b'[', b'A'..=b'Z', ..] => (']', true),
        [b'<', b'|' | 0xef, ..] => ('>', false),
        _ => return false,
    };
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '|' | '｜' | '▁');
    let inner = rest.get(1..).unwrap_or_default();
    let len = inner.char_indices().find(|(len, letter)| *len >= MARK || !part(*letter));
    let Some((len, letter)) = len else { return false };
    let mark = inner.as_bytes().get(..len).unwrap_or_default();
    letter == close && !(is_upper && mark.iter().any(u8::is_ascii_lowercase)) && says_result(mark)
}

/// Whether a mark has a word in it that marks of results have.
fn says_result(mark: &[u8]) -> bool {
    let has = |word: &[u8]| mark.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    [&b"result"[..], b"output", b"response", b"observation", b"ipython"]
        .iter()
        .any(|word| has(word))
}

fn bracket(look: Look<'_>, at: usize) -> Result<Option<usize>, More> {
    let len = match look.until(at + 1, BRACKET, |letter| matches!(letter, '{' | '[' | ']' | '\n')) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended | Until::Beyond => return Ok(None),
    };
    let word = look.slice(at + 1, at + 1 + len).to_lowercase();
    let is_call = look.rest(at + 1 + len).starts_with('{') && word.contains("tool");
    Ok(is_call.then_some(len + 1))
}

/// Whether something that no table has may begin with `bytes`, which may go on: a mark of no known format, or a list of
/// Python's calls. What most of the brackets in a text begin is neither.
pub(crate) fn may_begin(bytes: &[u8]) -> bool {
    match bytes {
        [b'<', rest @ ..] => {
            let rest = rest.get(..MARK).unwrap_or(rest);
            let is_part = |byte: &u8| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'|' | b':' | b'.' | b'-' | 0x80..)
            };
            let len = rest.iter().take_while(|byte| is_part(byte)).count();
            match rest.get(len) {
                None => true,
                Some(b'>') => {
                    rest.get(..len).is_some_and(|mark| says_call(mark) || says_result(mark))
                }
                Some(_) => false,
            }
        }
        [b'[', rest @ ..] => {
            let rest = rest.get(..BRACKET).unwrap_or(rest);
            let stop =
                rest.iter().position(|byte| matches!(byte, b'(' | b'{' | b'[' | b']' | b'\n'));
            match stop.and_then(|stop| rest.get(stop)) {
                None | Some(b'(' | b'{' | b'\n') => true,
                Some(b']') => stop.and_then(|stop| rest.get(..stop)).is_some_and(says_result),
                Some(_) => false,
            }
        }
        _ => false,
    }
}

/// Whether a mark has a word in it that marks of calls have.
fn says_call(mark: &[u8]) -> bool {
    let has = |word: &[u8]| mark.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    has(b"tool") || has(b"function")
}
