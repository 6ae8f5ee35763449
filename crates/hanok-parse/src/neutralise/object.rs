//! JSON objects that may be calls, by their first key.

use crate::{json::token::is_quote, reply::json_calls, work};

/// So far behind a brace the first key is looked for. What lies farther off counts as a call's.
const NEAR: usize = 256;

/// Whether the object whose brace precedes `text` may be a call. The scanner of calls decides by the first key, and so does
/// this; it takes what the scanner mends: comments, commas, other quotes, no quotes, escapes. Quotes of JSON in a JSON string
/// (`\"name\"`) count as well: a quotation leaves their backslashes out.
pub(super) fn may_call(text: &str) -> bool {
    let mut end = text.len().min(NEAR);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    work::count(end);
    let is_cut = end < text.len();
    let Some(key) = behind_blanks(text.get(..end).unwrap_or_default()) else { return is_cut };
    let Some((key, behind)) = first_key(key) else { return false };
    let Some(key) = key else { return true };
    json_calls::is_key(key)
        && behind_blanks(behind).is_none_or(|next| {
            next.starts_with(|letter| matches!(letter, ':' | '：') || is_quote(letter))
        })
}

/// The key that `text` begins with, and what follows it. The key is `None` if an escape in it hides what it says.
fn first_key(text: &str) -> Option<(Option<&str>, &str)> {
    let Some(quoted) = text.strip_prefix(is_quote) else {
        let part =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '$');
        let behind = text.trim_start_matches(part);
        return Some((text.get(..text.len() - behind.len()), behind));
    };
    let end = quoted.find(|letter| letter == '\\' || letter == '\n' || is_quote(letter))?;
    let (key, close) = quoted.split_at_checked(end)?;
    let mut close = close.chars();
    let is_escape = close.next() == Some('\\') && !close.as_str().starts_with(is_quote);
    Some(((!is_escape).then_some(key), close.as_str()))
}

/// `text` behind white space, commas, comments and backslashes, and behind the signs and digits at the start of its lines:
/// those of a quotation, a diff or a listing. `None` if nothing follows them.
fn behind_blanks(text: &str) -> Option<&str> {
    let is_blank = |letter: char| letter.is_whitespace() || matches!(letter, '\u{feff}' | ',');
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_start_matches(is_blank);
        if before.get(..before.len() - rest.len()).is_some_and(|blanks| blanks.contains('\n')) {
            rest = rest.trim_start_matches(is_of_line);
        }
        if let Some(escape) = rest.strip_prefix('\\') {
            rest = escape.strip_prefix(['n', 'r', 't']).unwrap_or(escape);
        } else if rest.starts_with('#') || rest.starts_with("//") {
            rest = rest.get(rest.find('\n')?..)?;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else if rest.len() == before.len() {
            return (!rest.is_empty()).then_some(rest);
        }
    }
}

/// Whether a line may begin with `letter` before what it says: no token of JSON or Python does.
pub(super) fn is_of_line(letter: char) -> bool {
    let is_token = matches!(
        letter,
        '{' | '}' | '[' | ']' | '(' | ')' | '/' | '#' | '\\' | '$' | '_' | ':' | '='
    );
    !(is_token || letter.is_alphabetic() || is_quote(letter))
}
