//! A tool's result that the model repeats, and whose turn a header begins.

use crate::text::{
    look::{Look, Until},
    marks::Mark,
    presence::More,
};

/// So much white space may stand before a role.
const GAP: usize = 8;
/// What may end a header.
const ROLE_ENDS: [&str; 4] = ["<|end_header_id|>", "<|end_of_role|>", "<|im_middle|>", "\n"];

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
    pub(crate) fn hides(self, mark: Mark) -> bool {
        match mark {
            Mark::Turn(_) | Mark::Part(_) => false,
            Mark::EndThink | Mark::SuffixedClose => self.thinks || self.begins_line,
            Mark::Result(_) => self.is_marked(),
            _ => true,
        }
    }

    /// The same behind a mark that means nothing in it.
    pub(crate) fn behind(self, mark: Mark) -> Self {
        match mark {
            Mark::Think(..) | Mark::SuffixedThink => Self { thinks: true, ..self },
            Mark::EndThink | Mark::SuffixedClose => Self { thinks: false, ..self },
            _ => self,
        }
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
