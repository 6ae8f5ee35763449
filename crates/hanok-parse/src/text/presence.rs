//! Whether a token stands at the beginning of a text that may go on.

/// Whether something stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Yes,
    No,
    /// The text has to go on before it can be told.
    More,
}

/// The text has to go on before it can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct More;

/// How many of `bytes` hold, up to the first that does not. Eight at a time are looked at.
pub(crate) fn run(bytes: &[u8], holds: impl Fn(u8) -> bool) -> usize {
    let eights = bytes.chunks_exact(8);
    let all = |eight: &&[u8]| eight.iter().fold(true, |all, byte| all & holds(*byte));
    let whole = 8 * eights.take_while(all).count();
    let rest = bytes.get(whole..).unwrap_or_default();
    whole + rest.iter().take_while(|byte| holds(**byte)).count()
}

pub(crate) fn of(rest: &str, token: &str, ended: bool) -> Presence {
    if rest.starts_with(token) {
        Presence::Yes
    } else if !ended && rest.len() < token.len() && token.starts_with(rest) {
        Presence::More
    } else {
        Presence::No
    }
}

pub(crate) fn any(rest: &str, tokens: &[&str], ended: bool) -> Result<Option<usize>, More> {
    let mut more = false;
    for token in tokens {
        match of(rest, token, ended) {
            Presence::Yes => return Ok(Some(token.len())),
            Presence::More => more = true,
            Presence::No => {}
        }
    }
    if more { Err(More) } else { Ok(None) }
}
