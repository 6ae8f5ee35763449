//! What the engine costs. `cargo xtask bench` builds this and runs it; the README beside it says how to read what it prints.

mod arguments;
mod columns;
mod course;
mod measure;
mod peer;
mod table;
mod works;

use std::{error::Error, process::ExitCode};

use arguments::Request;

/// Any failure of a measurement.
pub(crate) type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match arguments::read(std::env::args().skip(1)) {
        Ok(request) => match run(request) {
            Ok(()) => ExitCode::SUCCESS,
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

fn run(request: Request) -> Result<()> {
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
    }
    Ok(())
}
