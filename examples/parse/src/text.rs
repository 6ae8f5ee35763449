//! One text in, its events out as they happen.

use std::io::{self, Write};

use hanok_parse::{Declared, Event, Format, Parser};

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
    let Some(name) = &options.format else { return Ok(parser) };
    let format: Format = name.parse()?;
    Ok(parser.format(format))
}

fn print(out: &mut impl Write, events: &mut Vec<Event>) -> Result<(), Failure> {
    for event in events.drain(..) {
        serde_json::to_writer(&mut *out, &event)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
