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
    if result_close(look.rest(at)).is_none() {
        return Ok(None);
    }
    match look.until(at + 1, MARK, |letter| !is_of_token(letter)) {
        Until::At(len) => Ok(is_result(look.rest(at), len).then_some(len + 2)),
        Until::More => Err(More),
        Until::Ended | Until::Beyond => Ok(None),
    }
}

/// Whether such a token begins `rest`, which does not go on.
pub(crate) fn begins_result(rest: &str) -> bool {
    if result_close(rest).is_none() {
        return false;
    }
    let mut letters = rest.get(1..).unwrap_or_default().char_indices();
    let stop = letters.find(|(len, letter)| *len >= MARK || !is_of_token(*letter));
    stop.is_some_and(|(len, _)| is_result(rest, len))
}

/// What closes the token that may begin `rest`.
fn result_close(rest: &str) -> Option<char> {
    match rest.as_bytes() {
        [b'[', b'A'..=b'Z', ..] => Some(']'),
        [b'<', b'|' | 0xef, ..] => Some('>'),
        _ => None,
    }
}

fn is_of_token(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '|' | '｜' | '▁')
}

/// Whether the `len` bytes behind the first of `rest` are the inside of a token that says that a result follows. In square brackets
/// they are capitals.
fn is_result(rest: &str, len: usize) -> bool {
    let Some(close) = result_close(rest) else { return false };
    let inner = rest.get(1..1 + len).unwrap_or_default().as_bytes();
    rest.get(1 + len..).is_some_and(|behind| behind.starts_with(close))
        && (close == '>' || !inner.iter().any(u8::is_ascii_lowercase))
        && says_result(inner)
}

/// Whether a mark has a word in it that marks of results have.
fn says_result(mark: &[u8]) -> bool {
    has_word(mark, &[b"result", b"output", b"response", b"observation", b"ipython"])
}

/// Whether one of `words` stands in `mark`, in any case.
fn has_word(mark: &[u8], words: &[&[u8]]) -> bool {
    let has = |word: &&[u8]| mark.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    words.iter().any(has)
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
    has_word(mark, &[b"tool", b"function"])
}
