//! The words of grammars that have readers of their own: what a table says of them.

use crate::text::rule::Tags;

/// A call of nested elements, each tag behind the same prefix.
#[derive(Debug)]
pub(crate) struct Elements {
    /// Stands before each tag.
    pub(crate) prefix: &'static str,
    /// The attribute that names the tool.
    pub(crate) key: &'static str,
    /// Elements of this name make an array.
    pub(crate) item: &'static str,
    /// The name of the tag that closes the call.
    pub(crate) end: &'static str,
}

/// A call in tags that carry a suffix before their `>`, here without it.
#[derive(Debug)]
pub(crate) struct Suffixed {
    /// What may stand behind the name.
    pub(crate) separator: &'static str,
    pub(crate) tags: &'static Tags,
}

/// The input of a call whose name stood in a tag of its own.
#[derive(Debug)]
pub(crate) struct InputTags {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
}

/// Messages with a header. Whom it cannot call (`user`, `self`, …) is the same in all.
#[derive(Debug)]
pub(crate) struct Headers {
    /// Begins a message; the role follows.
    pub(crate) start: &'static str,
    /// The model's own role.
    pub(crate) role: &'static str,
    /// A channel follows.
    pub(crate) channel: &'static str,
    /// The recipient follows.
    pub(crate) to: &'static str,
    /// Ends the header.
    pub(crate) message: &'static str,
    /// The channel of reasoning, and that of the answer.
    pub(crate) reasoning: &'static str,
    pub(crate) answer: &'static str,
    /// What ends a message of reasoning, and what begins another message in it.
    pub(crate) closes: &'static [&'static str],
    pub(crate) until: &'static [&'static str],
    /// What ends a message that has no channel.
    pub(crate) ends: &'static [&'static str],
    /// What ends a call.
    pub(crate) call_ends: &'static [&'static str],
    /// What may stand in a header besides, and in its end before the arguments.
    pub(crate) others: &'static [&'static str],
    pub(crate) between: &'static [&'static str],
    /// Parameters in these tags may stand in place of JSON.
    pub(crate) tags: Option<&'static Tags>,
}

/// `tag` with `suffix` before its `>`.
pub(crate) fn suffixed(tag: &str, suffix: &str) -> String {
    match tag.strip_suffix('>') {
        Some(tag) => [tag, suffix, ">"].concat(),
        None => tag.to_owned(),
    }
}
