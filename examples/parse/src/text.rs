//! One text in, its events out as they happen.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use hanok_parse::{Declared, Event, Format, FormatTable, Parser};

use crate::{Options, failure::Failure, input::Input};

/// Prints the events of the text as lines of JSON, each as soon as what was read says it.
///
/// # Errors
///
/// What cannot be read or written, and a format that there is not.
pub fn run(options: &Options) -> Result<(), Failure> {
    let parser = parser(options)?;
    let mut input = Input::open(options.path())?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut stream, mut events) = (parser.stream(), Vec::new());
    loop {
        let piece = input.piece(options.split)?;
        if piece.is_empty() {
            break;
        }
        stream.feed_bytes(piece, &mut events);
        print(&mut out, &mut events)?;
        out.flush()?;
    }
    stream.finish(&mut events);
    print(&mut out, &mut events)?;
    Ok(out.flush()?)
}

/// The parser that the options ask for.
fn parser(options: &Options) -> Result<Parser, Failure> {
    let known = if options.tools.is_empty() && options.agents.is_empty() {
        Declared::any()
    } else {
        let known = options.tools.iter().fold(Declared::new(), Declared::tool);
        options.agents.iter().fold(known, Declared::agent)
    };
    let parser = Parser::new(known);
    let parser = match options.tables.last() {
        None => parser,
        Some(last) => {
            let tables = tables(&options.tables)?;
            let wrong = |source| Failure::Table { path: last.clone(), source };
            parser.tables(&tables).map_err(wrong)?
        }
    };
    let Some(name) = &options.format else { return Ok(parser) };
    let format: Format = name.parse()?;
    Ok(parser.format(format))
}

/// The tables of these files.
fn tables(paths: &[PathBuf]) -> Result<Vec<FormatTable>, Failure> {
    let read = |path: &PathBuf| {
        let unread = |source| Failure::File { path: path.clone(), source };
        let json = fs::read_to_string(path).map_err(unread)?;
        FormatTable::from_json(&json)
            .map_err(|source| Failure::Table { path: path.clone(), source })
    };
    paths.iter().map(read).collect()
}

/// Prints the table of a format.
///
/// # Errors
///
/// A format that there is not, and what cannot be written.
pub fn print_table(name: &str) -> Result<(), Failure> {
    let format: Format = name.parse()?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", FormatTable::builtin(format).to_json())?;
    Ok(())
}

fn print(out: &mut impl Write, events: &mut Vec<Event>) -> Result<(), Failure> {
    for event in events.drain(..) {
        serde_json::to_writer(&mut *out, &event)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
