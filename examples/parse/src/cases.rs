//! One case a line in, one result a line out.

use std::io::{self, Write};

use hanok_parse::{Format, Parser, Reply, UnknownFormat};

use crate::{Case, Options, Outcome, failure::Failure, input::Input};

/// Prints the result of each case. A line that is none is told, and the others are read all the same.
///
/// # Errors
///
/// What cannot be read or written, and that some lines were no cases.
pub fn run(options: &Options) -> Result<(), Failure> {
    let mut input = Input::open(options.path())?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut all, mut bad) = (0, 0);
    for number in 1.. {
        let line = input.line()?;
        if line.is_empty() {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        all += 1;
        match outcome(line, options) {
            Ok(outcome) => {
                serde_json::to_writer(&mut out, &outcome)?;
                out.write_all(b"\n")?;
            }
            Err(wrong) => {
                bad += 1;
                eprintln!("parse: line {number}: {wrong}");
            }
        }
        // Whoever asks over a pipe waits for this answer before the next question.
        if input.is_drained() {
            out.flush()?;
        }
    }
    out.flush()?;
    if bad == 0 { Ok(()) } else { Err(Failure::Lines { bad, all }) }
}

/// What came of one line, or what is wrong with it.
fn outcome(line: &[u8], options: &Options) -> Result<Outcome, String> {
    let case: Case = serde_json::from_slice(line).map_err(|error| format!("no case: {error}"))?;
    let parser = options.applied(Parser::new(case.declared()?));
    let format: Option<Result<Format, UnknownFormat>> = case.format.as_deref().map(str::parse);
    // Cases of others name their formats in their own words.
    let (parser, note) = match format {
        None => (parser, None),
        Some(Ok(format)) => (parser.format(format), None),
        Some(Err(unknown)) => (parser, Some(format!("{unknown}, so all are looked for"))),
    };
    let reply = reply(&parser, &case.text, options);
    let outcome = Outcome::new(case.id, reply, options.whole).map_err(|error| error.to_string())?;
    Ok(outcome.noted(note))
}

fn reply(parser: &Parser, text: &str, options: &Options) -> Reply {
    let Some(size) = options.split else { return parser.parse(text) };
    let mut stream = parser.stream();
    let mut events = Vec::new();
    for piece in text.as_bytes().chunks(size.get()) {
        stream.feed_bytes(piece, &mut events);
        events.clear();
    }
    stream.finish(&mut events)
}
