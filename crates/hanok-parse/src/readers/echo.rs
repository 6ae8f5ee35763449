//! A tool's result that the model repeats, and whose turn a header begins.

use crate::text::{
    look::{Look, Until},
    marks::{Lookup, Meaning},
    presence::More,
};

/// So much white space may stand before a role.
const GAP: usize = 8;
/// What may end a header.
pub(crate) const ROLE_ENDS: [&str; 7] = [
    "<|end_header_id|>",
    "<|end_of_role|>",
    "<|im_middle|>",
    "<|im:content|>",
    "<|header_end|>",
    "\"<|sep|>",
    "\n",
];
/// Who speaks besides the model, as marks of headers name them.
const OTHERS: [&str; 5] = ["user", "system", "developer", "human", "ipython"];
/// The same as they stand alone behind a mark.
const ROLES: [&str; 4] = ["tool", "function", "observation", "environment"];
/// Labels of other roles.
const LABELS: [&str; 2] = ["User:", "Human:"];
/// The longest suffix of a tag, or its attributes.
const TAG: usize = 256;
/// The longest mark of a header, and so many may stand before a role.
const TOKEN: usize = 48;
const TOKENS: usize = 3;

/// A result before which nothing was called. It is text, up to where it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Echo {
    /// The marks that end it. Without any, the next label does.
    closes: &'static [&'static str],
    /// It stands in one that a label began.
    in_line: bool,
    /// Reasoning was opened in it.
    thinks: bool,
    /// Its mark began a line, as that of a result does: prose did not talk of it.
    begins_line: bool,
}

impl Echo {
    /// A result up to one of `closes`, which may stand in one that a label began.
    pub(crate) fn marked(closes: &'static [&'static str], in_line: bool) -> Self {
        Self { closes, in_line, thinks: false, begins_line: false }
    }

    /// The same, whose mark begins a line.
    pub(crate) fn beginning_line(self, begins_line: bool) -> Self {
        Self { begins_line, ..self }
    }

    /// A result behind a label, up to the next one.
    pub(crate) fn line() -> Self {
        Self::marked(&[], false)
    }

    /// Whether a mark ends it, and no label does.
    pub(crate) fn is_marked(self) -> bool {
        !self.closes.is_empty()
    }

    pub(crate) fn closes(self) -> &'static [&'static str] {
        self.closes
    }

    /// What is left behind the mark that ends it.
    pub(crate) fn closed(self) -> Option<Self> {
        self.in_line.then(Self::line)
    }

    /// Whether `mark` means nothing in it. Where prose talks of a result, a close mark of reasoning that was not opened in it
    /// still says that all before was reasoning. Another turn ends the reply.
    pub(crate) fn hides(self, mark: Meaning) -> bool {
        match mark {
            Meaning::Turn(_) | Meaning::Part(_) => false,
            Meaning::EndThink | Meaning::SuffixedEndThink | Meaning::SuffixedClose => {
                self.thinks || self.begins_line
            }
            Meaning::Result(_) => self.is_marked(),
            _ => true,
        }
    }

    /// The same behind a mark that means nothing in it.
    pub(crate) fn behind(self, mark: Meaning) -> Self {
        match mark {
            Meaning::Think(..) | Meaning::SuffixedThink(_) => Self { thinks: true, ..self },
            Meaning::EndThink | Meaning::SuffixedEndThink | Meaning::SuffixedClose => {
                Self { thinks: false, ..self }
            }
            _ => self,
        }
    }
}

/// The length of what a mark of a result leaves of its tag, where its last letter says that the tag goes on: a suffix or
/// attributes, up to the bracket. None where no bracket is near.
pub(crate) fn rest_of_tag(look: Look<'_>, start: usize, behind: usize) -> Result<usize, More> {
    if !look.slice(start, behind).ends_with([':', ' ']) {
        return Ok(0);
    }
    match look.until(behind, TAG, |letter| matches!(letter, '<' | '>' | '\n')) {
        Until::At(len) if look.rest(behind + len).starts_with('>') => Ok(len + 1),
        Until::More => Err(More),
        Until::At(_) | Until::Ended | Until::Beyond => Ok(0),
    }
}

/// The length of one of the roles `own` at `at`, behind a header's mark, with the white space and the mark around it. A text
/// that ends there begins no other turn.
pub(crate) fn own_role(look: Look<'_>, at: usize, own: &[&str]) -> Result<Option<usize>, More> {
    let len = match look.until(at, GAP, |letter| !letter.is_whitespace()) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended => return Ok(Some(look.rest(at).len())),
        Until::Beyond => return Ok(None),
    };
    let Some(role) = look.any(at + len, own)? else { return Ok(None) };
    let behind = at + len + role;
    let close = look.any(behind, &ROLE_ENDS)?.unwrap_or_default();
    Ok(Some(behind + close - at))
}

/// Whether a header of another role begins at `at`, behind what ends a turn, in marks that no format has, or in words:
/// `<|role_start|>user`, `<|human|>`, `User:`.
pub(crate) fn begins_other(look: Look<'_>, mut at: usize) -> Result<bool, More> {
    for tokens in 0..=TOKENS {
        at += match look.until(at, GAP, |letter| !letter.is_whitespace()) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended | Until::Beyond => return Ok(false),
        };
        // A mark that is known speaks for itself.
        match look.setup.marks.at(look.rest(at)) {
            Lookup::Mark(..) => return Ok(false),
            Lookup::Prefix if !look.ended => return Err(More),
            _ => {}
        }
        if !look.rest(at).starts_with('<') {
            return match tokens {
                0 => Ok(look.any(at, &LABELS)?.is_some()),
                _ => is_other_role(look, at),
            };
        }
        let len = match look.until(at + 1, TOKEN, |letter| matches!(letter, '<' | '>' | '\n')) {
            Until::At(len) => len,
            Until::More => return Err(More),
            Until::Ended | Until::Beyond => return Ok(false),
        };
        let end = at + 1 + len;
        if !look.rest(end).starts_with('>') {
            return Ok(false);
        }
        let token = look.slice(at + 1, end).to_lowercase();
        if token.split(|letter: char| !letter.is_alphabetic()).any(|word| OTHERS.contains(&word)) {
            return Ok(true);
        }
        at = end + 1;
    }
    Ok(false)
}

/// Whether the word at `at` names another role.
fn is_other_role(look: Look<'_>, at: usize) -> Result<bool, More> {
    let len = match look.until(at, TOKEN, |letter| !letter.is_alphabetic()) {
        Until::At(len) => len,
        Until::More => return Err(More),
        Until::Ended => look.rest(at).len(),
        Until::Beyond => return Ok(false),
    };
    let role = look.slice(at, at + len).to_lowercase();
    Ok(OTHERS.iter().chain(&ROLES).any(|other| *other == role))
}
