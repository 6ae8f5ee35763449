//! The output, for people and for programs.

use std::io::{self, Write};

use hanok_core::{Chain, Printable, Stored, Timestamp};
use serde_json::{Value, json};

use crate::failure::Failure;

pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// One line, whatever others have put into it.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        quiet(writeln!(io::stdout().lock(), "{}", plain(text)))
    }

    /// One JSON object; it is the same object when its signs are made visible.
    pub(crate) fn object(&mut self, value: &Value) -> Result<(), Failure> {
        self.json_line(&value.to_string())
    }

    /// A line that is JSON already.
    pub(crate) fn json_line(&mut self, text: &str) -> Result<(), Failure> {
        quiet(writeln!(io::stdout().lock(), "{}", escaped(text)))
    }

    /// Rows under a heading, in columns.
    pub(crate) fn table(&mut self, heading: &[&str], rows: &[Vec<String>]) -> Result<(), Failure> {
        let rows: Vec<Vec<_>> =
            rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
        let heading: Vec<_> = heading.iter().map(ToString::to_string).collect();
        let all = || std::iter::once(&heading).chain(&rows);
        let width = |column: usize| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..heading.len()).map(width).collect();
        let mut out = io::stdout().lock();
        for row in all() {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            quiet(writeln!(out, "{}", line.trim_end()))?;
        }
        Ok(())
    }

    /// Writes a failure with its causes and its code to the standard error.
    pub(crate) fn complain(&mut self, failure: &Failure) {
        let (text, code) = (Chain(failure).to_string(), failure.code());
        let line = match self.json {
            true => escaped(&json!({ "error": text, "code": code }).to_string()),
            false => format!("hanok: {} [{code}]", plain(&text)),
        };
        // Whoever does not listen is not told.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

/// Writes what is wrong with the arguments to the standard error, with what would act on a terminal made visible.
pub(crate) fn misused(usage: &str) {
    // Whoever does not listen is not told.
    let _ = write!(io::stderr().lock(), "{}", Printable(usage));
}

/// A reader that has seen enough ends the output quietly.
fn quiet(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

/// Text on one line, with what would act on a terminal made visible.
fn plain(text: &str) -> String {
    Printable(text).to_string().replace('\n', "\\n").replace('\t', "\\t")
}

/// JSON in which what would act on a terminal is written as its number.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut one = [0; 4];
    for c in json.chars() {
        let shown = Printable(c.encode_utf8(&mut one)).to_string();
        if shown.chars().eq([c]) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

pub(crate) fn moment(at: Timestamp) -> String {
    let millis = i64::try_from(at.0).ok();
    let time = millis.and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    time.map_or_else(|| at.0.to_string(), |time| time.to_string())
}

/// A stored value as JSON.
pub(crate) fn value(stored: &Stored) -> Value {
    serde_json::from_str(&stored.to_json()).unwrap_or(Value::Null)
}

/// Names as one text.
pub(crate) fn list_of(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
