//! The Python module `hanok_parse`: the crate `hanok-parse` for servers and agents in Python. `hanok_parse.pyi` documents it.

mod guard;
mod options;
mod places;
mod reply;
mod stream;

use hanok_parse::{Format, Formats};
use pyo3::{prelude::*, types::PyTuple};

use crate::{guard::guarded, options::Names, reply::Reply};

/// Reads tool calls, answers and reasoning out of the text a language model writes.
#[pymodule]
#[pyo3(name = "hanok_parse")]
fn contents(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let formats = Format::ALL.iter().map(|format| format.as_str());
    module.add("FORMATS", PyTuple::new(module.py(), formats)?)?;
    module.add_class::<reply::Call>()?;
    module.add_class::<reply::Event>()?;
    module.add_class::<reply::Note>()?;
    module.add_class::<reply::Problem>()?;
    module.add_class::<reply::Reply>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(parse, module)?)?;
    module.add_function(wrap_pyfunction!(formats_of_template, module)?)?;
    module.add_function(wrap_pyfunction!(neutralise, module)?)?;
    module.add_function(wrap_pyfunction!(restore, module)?)
}

/// Returns what `text` says, which has to be all that the model wrote. Every text is some reply.
#[pyfunction]
#[pyo3(signature = (text, tools=None, *, formats=None, asked=None, bare="asked", in_reasoning=false, finish="stop"))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn parse(
    py: Python<'_>,
    text: &str,
    tools: Option<&Bound<'_, PyAny>>,
    formats: Option<Names>,
    asked: Option<Names>,
    bare: &str,
    in_reasoning: bool,
    finish: &str,
) -> PyResult<Reply> {
    let parser = options::parser(tools, formats, asked, bare, in_reasoning)?;
    let finish = options::finish(finish)?;
    py.detach(|| guarded(|| Reply::of(&parser.parse_finished(text, finish), &text.into(), &parser)))
}

/// Returns the names of the formats that a model with this chat template is told to write: none if no mark in it is known.
#[pyfunction]
fn formats_of_template(template: &str) -> PyResult<Vec<&'static str>> {
    guarded(|| Formats::of_template(template).iter().map(Format::as_str).collect())
}

/// Breaks the marks of all formats in text that others wrote, so that a model may quote it and calls nothing.
#[pyfunction]
fn neutralise(text: &str) -> PyResult<String> {
    guarded(|| hanok_parse::neutralise(text).into_owned())
}

/// Mends the marks that `neutralise` broke, in what the model copied into arguments and answers.
#[pyfunction]
fn restore(text: &str) -> PyResult<String> {
    guarded(|| hanok_parse::restore(text).into_owned())
}
