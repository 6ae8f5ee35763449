//! What `parse` and `Stream` take besides the text. Every wrong value is a `ValueError` or a `TypeError` that says what to write.

use hanok_parse::{Bare, Declared, Finish, Format, Parser};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};
use serde_json::Value;

/// One name, or a list of names.
#[derive(Debug, FromPyObject)]
pub(crate) enum Names {
    #[pyo3(transparent)]
    One(String),
    #[pyo3(transparent)]
    Many(Vec<String>),
}

/// The parser that the arguments describe.
pub(crate) fn parser(
    tools: Option<&Bound<'_, PyAny>>,
    formats: Option<Names>,
    asked: Option<Names>,
    bare: &str,
    in_reasoning: bool,
) -> PyResult<Parser> {
    let bare = match bare {
        "off" => Bare::Off,
        "asked" => Bare::Asked,
        "on" => Bare::On,
        other => return Err(unknown("bare", "`off`, `asked` or `on`", other)),
    };
    let parser = Parser::new(declared(tools)?).policy(bare).asked(named(asked)?);
    let formats = named(formats)?;
    let parser = if formats.is_empty() { parser } else { parser.formats(formats) };
    Ok(if in_reasoning { parser.in_reasoning() } else { parser })
}

/// Why the text ended.
pub(crate) fn finish(reason: &str) -> PyResult<Finish> {
    match reason {
        "stop" => Ok(Finish::Stop),
        "length" => Ok(Finish::Length),
        "abort" => Ok(Finish::Abort),
        other => Err(unknown("finish", "`stop`, `length` or `abort`", other)),
    }
}

fn unknown(what: &str, known: &str, value: &str) -> PyErr {
    PyValueError::new_err(format!("{what} is {known}, not `{}`", value.escape_debug()))
}

fn named(names: Option<Names>) -> PyResult<Vec<Format>> {
    let names = match names {
        None => Vec::new(),
        Some(Names::One(name)) => vec![name],
        Some(Names::Many(names)) => names,
    };
    let format = |name: String| {
        let read = name.parse::<Format>();
        read.map_err(|error| PyValueError::new_err(format!("{error}; FORMATS lists them")))
    };
    names.into_iter().map(format).collect()
}

fn declared(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Declared> {
    let Some(tools) = tools else { return Ok(Declared::new()) };
    if let Ok(word) = tools.extract::<&str>() {
        return match word {
            "any" => Ok(Declared::any()),
            other => Err(unknown("tools", "a list, `any` or None", other)),
        };
    }
    let json = tools.py().import("json")?.call_method1("dumps", (tools,))?;
    let value: Value = serde_json::from_str(json.extract()?)
        .map_err(|error| PyValueError::new_err(format!("tools are no JSON: {error}")))?;
    let Value::Array(tools) = value else {
        return Err(PyTypeError::new_err("tools is a list, `any` or None"));
    };
    tools.iter().enumerate().try_fold(Declared::new(), |declared, (at, tool)| {
        // A name alone, the form of Chat Completions, or the flat form of Responses.
        let function = tool.get("function").unwrap_or(tool);
        let name = function.as_str().or_else(|| function.get("name")?.as_str());
        let name = name
            .ok_or_else(|| PyValueError::new_err(format!("tools[{at}] has no `function.name`")))?;
        match function.get("parameters") {
            None | Some(Value::Null) => Ok(declared.tool(name)),
            Some(schema) => declared
                .tool_schema(name, schema)
                .map_err(|error| PyValueError::new_err(format!("tools[{at}]: {error}"))),
        }
    })
}
