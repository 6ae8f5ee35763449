//! Calls whose first mark the chat template wrote: the text begins behind it.

use crate::{
    declared::CallKind,
    text::{
        look::{Look, Until},
        names,
        presence::More,
    },
};

/// The longest name.
const NAME: usize = 256;
/// So much white space may stand behind it.
const GAP: usize = 8;

/// What may follow it.
const MARKS: [&str; 2] = ["<arg_key>", "</tool_call>"];

/// Whether GLM's pairs begin at `at`: a declared name, and the mark of a key or of the call's end.
pub(crate) fn pairs(look: Look<'_>, at: usize) -> Result<bool, More> {
    let declared = &look.setup.declared;
    let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
    let len = match look.until(at, NAME, |letter| !part(letter)) {
        Until::At(len) if len > 0 => len,
        Until::More if names::begins_tool(declared, look.rest(at)) => return Err(More),
        _ => return Ok(false),
    };
    if names::resolve(declared, CallKind::Tool, look.slice(at, at + len)).is_err() {
        return Ok(false);
    }
    let next = look.behind_white(at + len);
    if next > at + len + GAP {
        return Ok(false);
    }
    let rest = look.rest(next);
    if rest.is_empty() {
        return if look.ended { Ok(false) } else { Err(More) };
    }
    // The text may end in the mark.
    if look.ended && MARKS.iter().any(|mark| mark.starts_with(rest)) {
        return Ok(look.is_special(next, rest.len()));
    }
    let mark = look.any(next, &MARKS)?;
    Ok(mark.is_some_and(|len| look.is_special(next, len)))
}
