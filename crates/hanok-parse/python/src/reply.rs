//! What a text says, as Python's objects: frozen, equal by value.

use hanok_parse::{Language, ParseError, Parser};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::places::Places;

/// One call that the text asks for.
#[pyclass(frozen, eq, get_all, module = "hanok_parse")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    name: String,
    arguments: String,
    id: Option<String>,
    format: Option<&'static str>,
    mark: String,
    span: (usize, usize),
}

/// Something that was meant as a call and cannot be one.
#[pyclass(frozen, eq, get_all, module = "hanok_parse")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    kind: &'static str,
    name: Option<String>,
    suggestion: Option<String>,
    message: String,
    paths: Vec<String>,
    span: (usize, usize),
}

/// Something that was repaired or left out.
#[pyclass(frozen, eq, get_all, module = "hanok_parse")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    kind: String,
    message: String,
    paths: Vec<String>,
    span: (usize, usize),
}

/// What a text says.
#[pyclass(frozen, eq, get_all, module = "hanok_parse")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    calls: Vec<Call>,
    content: String,
    reasoning: Option<String>,
    thought: Option<String>,
    answer: Option<String>,
    error: Option<Problem>,
    notes: Vec<Note>,
    finish_reason: &'static str,
}

/// What a stream tells while it reads.
#[pyclass(frozen, eq, get_all, module = "hanok_parse")]
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Event {
    kind: &'static str,
    text: Option<String>,
    call: Option<usize>,
    name: Option<String>,
    id: Option<String>,
    error: Option<Problem>,
    note: Option<Note>,
}

#[pymethods]
impl Call {
    /// Returns the arguments as a `dict`. Integers keep all their digits.
    fn decode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.arguments,))
    }

    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl Problem {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl Note {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl Reply {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}

impl Call {
    fn of(call: &hanok_parse::Call, places: &Places) -> Self {
        Self {
            name: call.name.clone(),
            arguments: call.arguments.as_str().to_owned(),
            id: call.id.clone(),
            format: call.format.map(hanok_parse::Format::as_str),
            mark: word(&call.mark),
            span: places.span(&call.span),
        }
    }
}

impl Problem {
    fn of(error: &ParseError, places: &Places, parser: &Parser) -> Self {
        Self {
            kind: error.kind.code(),
            name: error.name.clone(),
            suggestion: error.suggestion.clone(),
            message: error.observation(parser.declared(), Language::English),
            paths: error.paths.clone(),
            span: places.span(&error.span),
        }
    }
}

impl Note {
    fn of(note: &hanok_parse::Note, places: &Places) -> Self {
        Self {
            kind: word(&note.kind),
            message: note.observation(Language::English),
            paths: note.paths.clone(),
            span: places.span(&note.span),
        }
    }
}

impl Reply {
    /// The reply of `parser` to the text that `places` are of.
    pub(crate) fn of(reply: &hanok_parse::Reply, places: &Places, parser: &Parser) -> Self {
        let error = reply.error.as_ref();
        Self {
            calls: reply.calls.iter().map(|call| Call::of(call, places)).collect(),
            content: reply.content.clone(),
            reasoning: reply.reasoning.clone(),
            thought: reply.thought.clone(),
            answer: reply.answer.clone(),
            error: error.map(|error| Problem::of(error, places, parser)),
            notes: reply.notes.iter().map(|note| Note::of(note, places)).collect(),
            finish_reason: reply.finish.as_str(),
        }
    }
}

impl Event {
    pub(crate) fn of(event: hanok_parse::Event, places: &Places, parser: &Parser) -> Self {
        use hanok_parse::Event as Told;

        let with_text = |kind, text| Self { kind, text: Some(text), ..Self::default() };
        let with_call = |kind, call| Self { kind, call: Some(call), ..Self::default() };
        match event {
            Told::Content { text } => with_text("content", text),
            Told::Thought { text } => with_text("thought", text),
            Told::Reasoning { text } => with_text("reasoning", text),
            Told::Answer { text } => with_text("answer", text),
            Told::CallStarted { call, name, id, .. } => {
                Self { name: Some(name), id, ..with_call("call_started", call) }
            }
            Told::Arguments { call, json } => {
                Self { text: Some(json), ..with_call("arguments", call) }
            }
            Told::ArgumentsReset { call } => with_call("arguments_reset", call),
            Told::CallFinished { call } => with_call("call_finished", call),
            Told::CallDropped { call } => with_call("call_dropped", call),
            Told::Retracted => Self { kind: "retracted", ..Self::default() },
            Told::Failed { error } => {
                let error = Some(Problem::of(&error, places, parser));
                Self { kind: "failed", error, ..Self::default() }
            }
            Told::Noted { note } => {
                Self { kind: "noted", note: Some(Note::of(&note, places)), ..Self::default() }
            }
            Told::Finished => Self { kind: "finished", ..Self::default() },
            _ => Self { kind: "unknown", ..Self::default() },
        }
    }
}

/// The word by which a value of an enumeration is written as data.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
