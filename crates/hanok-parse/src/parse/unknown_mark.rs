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
