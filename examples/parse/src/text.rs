//! One text in, its events out as they happen.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use hanok_parse::{Declared, Event, Format, FormatTable, Parser};

use crate::{Options, failure::Failure, input::Input};

/// The most bytes of a table of formats.
const LONGEST_TABLE: u64 = 4 * 1024 * 1024;

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
    let parser = options.applied(Parser::new(known));
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

/// The text of a table's file.
fn text_of(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(LONGEST_TABLE + 1).read_to_string(&mut text)?;
    match read as u64 > LONGEST_TABLE {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(text),
    }
}

/// The tables of these files.
fn tables(paths: &[PathBuf]) -> Result<Vec<FormatTable>, Failure> {
    let read = |path: &PathBuf| {
        let unread = |source| Failure::File { path: path.clone(), source };
        let json = text_of(path).map_err(unread)?;
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
