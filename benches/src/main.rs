//! What the engine costs. `cargo xtask bench` builds this and runs it; the README beside it says how to read what it prints.

mod against;
mod arguments;
mod columns;
mod course;
mod measure;
mod peer;
mod table;
mod works;

use std::{error::Error, process::ExitCode};

use arguments::Request;

/// Any failure.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Any failure of a measurement.
pub(crate) type Result<T, E = BoxError> = std::result::Result<T, E>;

/// How the program ends when a row is worse than in the other build.
const WORSE: u8 = 3;

fn main() -> ExitCode {
    match works::mcp::serve() {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => {}
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    }
    match arguments::read(std::env::args().skip(1)) {
        Ok(request) => match run(request) {
            Ok(code) => code,
            Err(error) => {
                eprintln!("bench: {error}");
                ExitCode::FAILURE
            }
        },
        Err(wrong) => {
            eprintln!("bench: {wrong}\n\n{}", arguments::usage());
            ExitCode::from(2)
        }
    }
}

fn run(request: Request) -> Result<ExitCode> {
    match request {
        Request::Help => println!("{}", arguments::usage()),
        Request::One { work, by, rounds } => {
            println!("{}", serde_json::to_string(&by.measure(work, rounds)?)?);
        }
        Request::Table(ask) => {
            let rows = table::rows(&ask)?;
            println!("{}", table::drawn(&rows));
            if let Some(path) = &ask.json {
                std::fs::write(path, table::json(&rows)?)?;
            }
        }
        Request::Against(ask) => return compare(&ask),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints how this build compares with the other one.
fn compare(ask: &against::Ask) -> Result<ExitCode> {
    let report = against::run(ask)?;
    println!("{report}");
    if let Some(path) = &ask.json {
        std::fs::write(path, report.json()?)?;
    }
    Ok(match report.has_failed() {
        true => ExitCode::FAILURE,
        false if report.is_worse() => ExitCode::from(WORSE),
        false => ExitCode::SUCCESS,
    })
}
