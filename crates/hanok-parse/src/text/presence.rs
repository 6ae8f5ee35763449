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
