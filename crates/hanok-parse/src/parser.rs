//! The parser.

use crate::{Declared, Format, NoteKind, Reasoning, Reply, Stream, walk::Walk};

/// Reads what a model writes. Built once per agent; every text is some [`Reply`].
///
/// The format is not chosen: all of them are looked for in one pass, whose time is linear in the text.
#[derive(Debug, Clone, Default)]
pub struct Parser {
    declared: Declared,
    reasoning: Reasoning,
    #[allow(dead_code, reason = "every format is looked for until the streaming core is there")]
    format: Option<Format>,
}

impl Parser {
    /// A parser for the calls in `declared`.
    #[must_use]
    pub fn new(declared: Declared) -> Self {
        Self { declared, ..Self::default() }
    }

    /// Whether calls may come out of the reasoning. Default: [`Reasoning::Ignore`].
    #[must_use]
    pub fn reasoning(self, reasoning: Reasoning) -> Self {
        Self { reasoning, ..self }
    }

    /// The one format that the model writes. Default: all of them are looked for.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Self { format: Some(format), ..self }
    }

    /// Reads a text that comes in pieces.
    #[must_use]
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// What may be called.
    #[must_use]
    pub fn declared(&self) -> &Declared {
        &self.declared
    }

    /// What `text` says. It has to be all that the model wrote: calls are final only at the end of the text, because a
    /// close tag may still turn everything before it into reasoning.
    #[must_use]
    pub fn parse(&self, text: &str) -> Reply {
        let mut draft = Walk::new(&self.declared, text, 0).run();
        let last = draft.reasoning.last().cloned();
        let reply = std::mem::take(&mut draft).into_reply(text);
        match last {
            Some(span) if self.reasoning == Reasoning::Promote && is_silent(&reply) => {
                self.promoted(text, &span).unwrap_or(reply)
            }
            _ => reply,
        }
    }

    /// The calls inside `span`, if there are any.
    fn promoted(&self, text: &str, span: &std::ops::Range<usize>) -> Option<Reply> {
        let inner = text.get(..span.end)?;
        let mut draft = Walk::new(&self.declared, inner, span.start).run();
        draft.reasoning = vec![span.clone()];
        draft.note(NoteKind::Promoted, span.clone());
        let reply = draft.into_reply(text);
        let found = !reply.calls.is_empty();
        found.then_some(Reply { content: String::new(), ..reply })
    }
}

/// Nothing stands outside the reasoning.
fn is_silent(reply: &Reply) -> bool {
    reply.calls.is_empty()
        && reply.answer.is_none()
        && reply.error.is_none()
        && reply.content.is_empty()
}

#[cfg(test)]
mod tests {
    use super::Parser;
    use crate::{Declared, scan::work};

    #[test]
    fn no_byte_is_scanned_often() {
        let parser = Parser::new(Declared::new().tool("f").agent("a"));
        for unit in [
            "{",
            "{\n",
            "[\n{",
            "{\"a\":",
            "{\"note: \n",
            "['\n{'a\n",
            "{“\n",
            "{/*\n",
            "{//\n",
            "Action: f\nAction Input: {",
            "Action: f\nAction Input: {\n",
            "Action: f\nAction Input: {\"a\":\"\n",
            "Action: f\nAction Input: {\"a\":[\"\",\"\n",
            "Action: f\nAction Input: {}\n",
            "<tool_call>{",
            "<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}",
            "<tool_call>f</tool_call><tool_input>{'",
            "<|python_tag|>{\"",
            "<|python_tag|>[{x},",
            "```json\n{",
            "{\"name\":\"f\",\"arguments\":{}};",
        ] {
            let text = unit.repeat(100_000 / unit.len());
            assert!(parser.parse(&text).answer.is_none());
            let scanned = work::take();
            assert!(scanned <= 10 * text.len(), "{unit:?}: {scanned} of {}", text.len());
        }
    }
}
