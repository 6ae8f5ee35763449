//! The reply while it is being read, and what is told of it.

use std::ops::Range;

use crate::{
    declared::{CallKind, Declared},
    json::fault::Repair,
    reply::{
        arguments::Arguments,
        called::Called,
        error::{ErrorKind, Expected, ParseError},
        event::Event,
        finish::{Finish, FinishReason},
        flow::Flow,
        input::Input,
        locked::Locked,
        note::{Note, NoteKind},
        outcome::{Call, Part, PartKind, Rejected, Reply},
        types::{self, Mistyped, Typing},
    },
    text::names,
};

/// Each suggestion compares a name with every declared one. A reply with more unknown names is past helping.
const SUGGESTIONS: usize = 8;

/// A call that was told while it is read.
#[derive(Debug, Clone)]
pub(crate) struct Announced {
    pub(crate) call: usize,
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) json: String,
}

/// Which kind of text was said last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Saying {
    #[default]
    Content,
    Thought,
    Reasoning,
}

/// What has been read so far. A retraction empties it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) calls: Vec<Call>,
    pub(crate) answer: Option<String>,
    pub(crate) answer_told: usize,
    pub(crate) thought: Flow,
    pub(crate) content: Flow,
    pub(crate) reasoning: Flow,
    /// Where the reasoning stands.
    pub(crate) reasoned: Vec<Range<usize>>,
    /// Thoughts and the answer.
    pub(crate) parts: Vec<Part>,
    pub(crate) error: Option<ParseError>,
    pub(crate) rejected: Vec<Rejected>,
    pub(crate) notes: Vec<Note>,
    pub(crate) notes_told: usize,
    pub(crate) suggestions: usize,
    /// Where the model's inventions begin.
    pub(crate) invented: Option<usize>,
    pub(crate) announced: Option<Announced>,
    pub(crate) saying: Saying,
    /// Nobody listens.
    pub(crate) quiet: bool,
    /// What is done with values of other types.
    pub(crate) mistyped: Mistyped,
    /// Nothing that is told is taken back: calls, errors and notes are told at the end.
    pub(crate) committed: bool,
    /// Calls are told as they come all the same: the format was told, so nothing takes them back.
    pub(crate) streams: bool,
    /// Which formats still count.
    pub(crate) lock: Locked,
    /// How many calls were told.
    pub(crate) started: usize,
    /// The numbers of those that were told whole, where nothing that is told is taken back.
    pub(crate) finished: Vec<usize>,
    pub(crate) events: Vec<Event>,
}

impl Draft {
    /// Whether anything was meant as a call.
    pub(crate) fn has_attempt(&self) -> bool {
        !self.calls.is_empty() || self.error.is_some()
    }

    /// The model invents what only the program may say, from `at` to the end of the text.
    pub(crate) fn invented(&mut self, at: usize) {
        self.flush();
        self.invented = Some(at);
    }

    /// The text has ended at `end`.
    pub(crate) fn close_notes(&mut self, end: usize) {
        if let Some(at) = self.invented.take() {
            self.note(NoteKind::InventedObservation, at..end);
        }
        self.tell_notes();
    }

    pub(crate) fn note(&mut self, kind: NoteKind, span: Range<usize>) {
        self.note_of(Note::new(kind, span));
    }

    pub(crate) fn repaired(&mut self, span: Range<usize>, repairs: Vec<Repair>) {
        if !repairs.is_empty() {
            self.note_of(Note { repairs, ..Note::new(NoteKind::Repaired, span) });
        }
    }

    /// Letters that a model spelled by their numbers, where it might have misspelled them.
    pub(crate) fn spelled(&mut self, span: Range<usize>, escaped: bool) {
        if escaped {
            self.note(NoteKind::Escaped, span);
        }
    }

    fn note_of(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Something was meant as a call and cannot be one.
    pub(crate) fn fail(
        &mut self,
        kind: ErrorKind,
        expected: Expected,
        name: Option<&str>,
        span: Range<usize>,
    ) {
        self.abandon();
        self.lock.settles();
        let name = name.map(names::shown);
        self.failed(&ParseError { name, ..ParseError::new(kind, expected, span) });
    }

    /// Remembers an error, if none stands before it in the text.
    fn failed(&mut self, error: &ParseError) {
        if !self.committed {
            self.tell(Event::Failed { error: error.clone() });
        }
        if self.error.as_ref().is_none_or(|first| error.span.start < first.span.start) {
            self.error = Some(error.clone());
        }
    }

    /// Takes a call, or rejects it. Says whether it was taken.
    pub(crate) fn call(&mut self, declared: &Declared, called: Called<'_>, input: Input) -> bool {
        let Called { kind, name, resolved, span, written, id, untold, members } = called;
        let id = id.or_else(|| names::index(name));
        self.lock.settles();
        let resolved = match resolved {
            Some(name) => Ok(name.to_owned()),
            None => names::resolve(declared, kind, name),
        };
        let name = match resolved {
            Ok(name) => name,
            Err(name) => {
                self.reject_name(declared, kind, &name, input, span);
                return false;
            }
        };
        let typed = match &input {
            Input::Object(json) if kind == CallKind::Tool => {
                types::typing(declared, &name, json, members)
            }
            _ => Typing::default(),
        };
        let arguments = match kind {
            CallKind::Tool => input.for_tool(declared, &name),
            CallKind::Delegate => task(input),
        };
        match arguments {
            Ok(mut arguments) => {
                let Typing { is_wrong, numbers, paths } = typed;
                if is_wrong && self.mistyped == Mistyped::Refuse {
                    let input = Input::Object(arguments.into_string());
                    let error = ParseError::new(ErrorKind::Malformed, Expected::Types, span);
                    self.reject(&name, input, ParseError { paths, ..error });
                    return false;
                }
                if let Some(json) = numbers {
                    arguments = Arguments::from_json(json);
                }
                if !paths.is_empty() {
                    self.note_of(Note { paths, ..Note::new(NoteKind::Mistyped, written.clone()) });
                }
                let told = id.as_deref().filter(|_| !untold);
                self.tell_call(kind, &name, arguments.as_str(), told);
                let (format, mark) = (self.lock.format(), self.lock.mark());
                self.calls.push(Call { kind, name, arguments, id, format, mark, span, written });
                true
            }
            Err(input) => {
                self.reject_input(kind, &name, input, span);
                false
            }
        }
    }

    /// Moves the end of the last call to `end`: closers that close nothing stand behind it.
    pub(crate) fn extend(&mut self, written: usize, end: usize, repair: Repair) {
        if let Some(call) = self.calls.last_mut().filter(|call| call.written.start == written) {
            call.span.end = end;
            call.written.end = end;
        }
        match self.notes.last_mut() {
            Some(note) if note.kind == NoteKind::Repaired && note.span.start == written => {
                note.span.end = end;
                if note.repairs.len() < 64 {
                    note.repairs.push(repair);
                }
            }
            _ => self.repaired(written..end, vec![repair]),
        }
    }

    fn reject_name(
        &mut self,
        declared: &Declared,
        kind: CallKind,
        name: &str,
        input: Input,
        span: Range<usize>,
    ) {
        let (error, expected) = match kind {
            CallKind::Tool => (ErrorKind::UnknownTool, Expected::Tool),
            CallKind::Delegate => (ErrorKind::UnknownAgent, Expected::Agent),
        };
        let suggestion = if self.suggestions < SUGGESTIONS {
            self.suggestions += 1;
            names::nearest(declared, kind, name)
        } else {
            None
        };
        let error = ParseError::new(error, expected, span);
        self.reject(name, input, ParseError { suggestion, ..error });
    }

    fn reject_input(&mut self, kind: CallKind, name: &str, input: Input, span: Range<usize>) {
        let error =
            if input == Input::Empty { ErrorKind::MissingInput } else { ErrorKind::Malformed };
        let expected = if kind == CallKind::Delegate { Expected::Task } else { Expected::Object };
        self.reject(name, input, ParseError::new(error, expected, span));
    }

    fn reject(&mut self, name: &str, input: Input, error: ParseError) {
        self.abandon();
        let error = ParseError { name: Some(names::shown(name)), ..error };
        self.failed(&error);
        let arguments = input.into_arguments();
        self.rejected.push(Rejected { name: name.to_owned(), arguments, error });
    }

    /// What was called so far was reasoning: nothing of it counts, but what was told stays.
    pub(crate) fn drop_calls(&mut self, note: Range<usize>) {
        self.calls.clear();
        self.rejected.clear();
        self.error = None;
        self.invented = None;
        self.lock = self.lock.begun();
        self.note(NoteKind::Retracted, note);
    }

    /// At `span` something closes that did not begin, in another format than that of the calls: these stood in its value.
    pub(crate) fn was_data(&mut self, span: Range<usize>) {
        let Some(first) = self.calls.first() else { return };
        let data = first.span.start..span.end;
        let count = std::mem::take(&mut self.calls).len();
        let mut told = std::mem::take(&mut self.finished);
        if !self.committed {
            let first = self.started.saturating_sub(count);
            told.extend((first..self.started).rev());
            self.started = first;
        }
        for call in told {
            self.tell(Event::CallDropped { call });
        }
        self.lock = self.lock.begun();
        self.note(NoteKind::Quoted, data);
        self.failed(&ParseError::new(ErrorKind::Malformed, Expected::Object, span));
    }

    /// Takes everything back but reasoning: it was reasoning, too.
    pub(crate) fn retract(&mut self, text: &str, reasoning: Range<usize>, note: Range<usize>) {
        let old = std::mem::take(self);
        self.reasoned = old.reasoned;
        self.reasoned.push(reasoning);
        self.reasoning = old.reasoning;
        self.saying = old.saying;
        (self.events, self.quiet) = (old.events, old.quiet);
        self.lock = old.lock.begun();
        self.mistyped = old.mistyped;
        self.streams = old.streams;
        self.tell(Event::Retracted);
        self.reasoning.cut();
        self.say_reasoning(text);
        self.reasoning.cut();
        self.note(NoteKind::Retracted, note);
    }

    /// A thought ends.
    pub(crate) fn end_thought(&mut self, span: Range<usize>) {
        self.thought.cut();
        self.parts.push(Part { kind: PartKind::Thought, span });
    }

    /// All that was recognised.
    fn parts(&mut self) -> Vec<Part> {
        let mut parts = std::mem::take(&mut self.parts);
        parts.reserve_exact(self.reasoned.len() + 2 * self.calls.len());
        let part = |kind, span: &Range<usize>| Part { kind, span: span.clone() };
        parts.extend(self.reasoned.iter().map(|span| part(PartKind::Reasoning, span)));
        // In the order of the text: what is sorted already is not moved.
        for call in &self.calls {
            parts.push(part(PartKind::Call, &call.span));
            parts.push(part(PartKind::Arguments, &call.written));
        }
        parts.sort_by_key(|part| (part.span.start, part.kind));
        parts
    }

    /// What is told of the whole. The last note may run to the end of the text.
    pub(crate) fn into_reply(mut self, finish: Finish) -> Reply {
        let parts = self.parts();
        let text = |flow: Flow| Some(flow.into_text()).filter(|text| !text.is_empty());
        Reply {
            finish: FinishReason::of(finish, !self.calls.is_empty()),
            calls: self.calls,
            answer: self.answer,
            thought: text(self.thought),
            content: self.content.into_text(),
            reasoning: text(self.reasoning),
            error: self.error,
            rejected: self.rejected,
            lock: self.lock.lock(),
            notes: self.notes,
            parts,
        }
    }
}

fn task(input: Input) -> Result<Arguments, Input> {
    match input {
        Input::Empty => Err(Input::Empty),
        words => Ok(Arguments::from_member("task", &words.into_words())),
    }
}
