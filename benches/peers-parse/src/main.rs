//! Parsers of tool calls on the same texts: `hanok-bench-parsers` prints a table, `hanok-bench-parsers PARSER WORK ROUNDS`
//! a list with the speed of one on one text, in MB/s: in one piece, and in pieces of 8 bytes if it can.
//!
//! The works are `parse-prose` and `parse-calls` of `hanok-bench`; the calls are in Hermes' form, which all of them read.
//! hanok finds out the format, the others are told it. Each parser is used as its documentation says, and every round
//! checks that all calls were read.

mod attacks;
mod cases;
#[path = "../../src/measure.rs"]
#[allow(dead_code, reason = "parsers are measured by a part of it")]
mod measure;
mod parsers;
mod readers;
mod repair;
mod table;
#[path = "../../src/works/parse/texts.rs"]
#[allow(dead_code, reason = "some texts are read by hanok alone")]
mod texts;

use std::{error::Error, process::ExitCode};

/// Any failure of a measurement.
pub(crate) type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// What is read.
pub(crate) const WORKS: [&str; 2] = ["parse-prose", "parse-calls"];

/// How many calls there are.
pub(crate) const CALLS: usize = 2_500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => all(None, None),
        ["--python", python] => all(Some(python), None),
        ["--cases", file] => all(None, Some(file)),
        ["--python", python, "--cases", file] => all(Some(python), Some(file)),
        ["--repair"] => {
            repair::print();
            Ok(())
        }
        [parser, work, rounds] => one(parser, work, rounds),
        _ => {
            eprintln!(
                "usage: hanok-bench-parsers [--python PYTHON] [--cases FILE] | --repair | PARSER WORK ROUNDS"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {}: {error}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}

/// The speeds, what is read right, and what becomes of JSON that is not quite JSON.
fn all(python: Option<&str>, cases: Option<&str>) -> Result<()> {
    table::print(python)?;
    if let Some(file) = cases {
        cases::print(file, python)?;
    }
    repair::print();
    Ok(())
}

fn one(parser: &str, work: &str, rounds: &str) -> Result<()> {
    let speeds = parsers::measure(parser, work, rounds.parse()?)?;
    println!("{speeds:?}");
    Ok(())
}

/// The text of a work, and how many calls it holds.
pub(crate) fn text(work: &str) -> Result<(String, usize)> {
    match work {
        "parse-prose" => Ok((texts::prose(1_000_000), 0)),
        "parse-calls" => Ok((texts::calls(CALLS), CALLS)),
        other => Err(format!("no work `{other}`").into()),
    }
}
