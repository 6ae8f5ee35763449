//! The reply while it is being read.

use std::ops::Range;

use crate::{
    Call, CallKind, Declared, ErrorKind, Expected, Note, NoteKind, ParseError, Rejected, Reply,
    input::Input, names,
};

/// Each suggestion compares a name with every declared one. A reply with more unknown names is past helping.
const SUGGESTIONS: usize = 8;

/// A call as it was read, its name not yet looked up.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    pub(crate) kind: CallKind,
    pub(crate) name: &'a str,
    pub(crate) input: Input,
    pub(crate) span: Range<usize>,
}

/// What has been read so far. A retraction empties it.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    calls: Vec<Call>,
    answer: Option<String>,
    thoughts: Vec<String>,
    pub(crate) content: String,
    /// Spans of the text: joined at the end, so that no retraction copies anything.
    pub(crate) reasoning: Vec<Range<usize>>,
    error: Option<ParseError>,
    rejected: Vec<Rejected>,
    notes: Vec<Note>,
    suggestions: usize,
}

impl Draft {
    /// Whether anything was meant as a call.
    pub(crate) fn has_attempt(&self) -> bool {
        !self.calls.is_empty() || self.error.is_some()
    }

    pub(crate) fn thought(&mut self, thought: &str) {
        if !thought.is_empty() {
            self.thoughts.push(thought.to_owned());
        }
    }

    /// Sets the answer, unless a call came first.
    pub(crate) fn answer(&mut self, answer: String, span: Range<usize>) {
        if self.has_attempt() {
            self.note(NoteKind::DroppedAnswer, span);
        } else if answer.is_empty() {
            self.fail(ErrorKind::Truncated, Expected::Answer, None, span);
        } else {
            self.answer = Some(answer);
        }
    }

    pub(crate) fn note(&mut self, kind: NoteKind, span: Range<usize>) {
        self.notes.push(Note { kind, span });
    }

    /// Remembers an error, if it is the first one.
    pub(crate) fn fail(
        &mut self,
        kind: ErrorKind,
        expected: Expected,
        name: Option<&str>,
        span: Range<usize>,
    ) {
        let error =
            ParseError { kind, span, name: name.map(names::shown), suggestion: None, expected };
        self.error.get_or_insert(error);
    }

    /// Takes a call, or rejects it.
    pub(crate) fn call(&mut self, declared: &Declared, attempt: Attempt<'_>) {
        let Attempt { kind, name, input, span } = attempt;
        let name = match names::resolve(declared, kind, name) {
            Ok(name) => name,
            Err(name) => {
                return self.reject_name(declared, Attempt { kind, name: &name, input, span });
            }
        };
        let arguments = match kind {
            CallKind::Tool => input.for_tool(declared, &name),
            CallKind::Delegate => task(input),
        };
        match arguments {
            Ok(arguments) => self.calls.push(Call { kind, name, arguments, span }),
            Err(input) => self.reject_input(Attempt { kind, name: &name, input, span }),
        }
    }

    fn reject_name(&mut self, declared: &Declared, attempt: Attempt<'_>) {
        let (error, expected) = match attempt.kind {
            CallKind::Tool => (ErrorKind::UnknownTool, Expected::Tool),
            CallKind::Delegate => (ErrorKind::UnknownAgent, Expected::Agent),
        };
        let suggestion = if self.suggestions < SUGGESTIONS {
            self.suggestions += 1;
            names::nearest(declared, attempt.kind, attempt.name)
        } else {
            None
        };
        self.reject(attempt, error, expected, suggestion);
    }

    fn reject_input(&mut self, attempt: Attempt<'_>) {
        let error = if attempt.input == Input::Empty {
            ErrorKind::MissingInput
        } else {
            ErrorKind::Malformed
        };
        let expected =
            if attempt.kind == CallKind::Delegate { Expected::Task } else { Expected::Object };
        self.reject(attempt, error, expected, None);
    }

    fn reject(
        &mut self,
        attempt: Attempt<'_>,
        kind: ErrorKind,
        expected: Expected,
        suggestion: Option<String>,
    ) {
        let name = Some(names::shown(attempt.name));
        let error = ParseError { kind, span: attempt.span, name, suggestion, expected };
        self.error.get_or_insert_with(|| error.clone());
        let arguments = attempt.input.into_arguments();
        self.rejected.push(Rejected { name: attempt.name.to_owned(), arguments, error });
    }

    /// Takes everything back: it was reasoning.
    pub(crate) fn retract(&mut self, reasoning: Range<usize>, note: Range<usize>) {
        *self = Self { reasoning: vec![reasoning], ..Self::default() };
        self.note(NoteKind::Retracted, note);
    }

    pub(crate) fn into_reply(self, text: &str) -> Reply {
        let thoughts = self.thoughts.join("\n");
        let pieces: Vec<_> =
            self.reasoning.into_iter().filter_map(|span| text.get(span)).map(str::trim).collect();
        let reasoning = pieces.join("\n");
        Reply {
            calls: self.calls,
            answer: self.answer,
            thought: (!thoughts.is_empty()).then_some(thoughts),
            content: self.content.trim().to_owned(),
            reasoning: (!reasoning.trim().is_empty()).then_some(reasoning),
            error: self.error,
            rejected: self.rejected,
            notes: self.notes,
        }
    }
}

fn task(input: Input) -> Result<crate::Arguments, Input> {
    match input {
        Input::Empty => Err(Input::Empty),
        words => Ok(crate::Arguments::from_member("task", &words.into_words())),
    }
}
