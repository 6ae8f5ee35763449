//! Text that comes in pieces.

use hanok_parse::Parser;
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    guard::guarded,
    options::{self, Names},
    places::Places,
    reply::{Event, Reply},
};

/// Reads a text that comes in pieces, and tells at once what it says. However the text is cut, the reply is the same.
#[pyclass(module = "hanok_parse")]
pub(crate) struct Stream {
    /// None once the text has ended.
    reading: Option<Reading>,
}

struct Reading {
    parser: Parser,
    stream: hanok_parse::Stream,
    places: Places,
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (tools=None, *, formats=None, asked=None, bare="asked", in_reasoning=false, committed=false))]
    fn new(
        tools: Option<&Bound<'_, PyAny>>,
        formats: Option<Names>,
        asked: Option<Names>,
        bare: &str,
        in_reasoning: bool,
        committed: bool,
    ) -> PyResult<Self> {
        let parser = options::parser(tools, formats, asked, bare, in_reasoning)?;
        let parser = if committed { parser.committed() } else { parser };
        let stream = parser.stream();
        Ok(Self { reading: Some(Reading { parser, stream, places: Places::default() }) })
    }

    /// Takes the next piece of the text. Returns what can be told now.
    fn feed(&mut self, piece: &str) -> PyResult<Vec<Event>> {
        self.read(piece, hanok_parse::Stream::feed)
    }

    /// Takes a special token, or several. Once one is fed so, a mark counts only if it came so.
    fn feed_special(&mut self, piece: &str) -> PyResult<Vec<Event>> {
        self.read(piece, hanok_parse::Stream::feed_special)
    }

    /// The text has ended, for this reason. Returns the last events, and what the whole text says.
    #[pyo3(signature = (reason="stop"))]
    fn finish(&mut self, reason: &str) -> PyResult<(Vec<Event>, Reply)> {
        let finish = options::finish(reason)?;
        let Reading { parser, stream, places } = self.reading.take().ok_or_else(ended)?;
        guarded(|| {
            let mut events = Vec::new();
            let reply = stream.finish_with(finish, &mut events);
            (told(events, &places, &parser), Reply::of(&reply, &places, &parser))
        })
    }
}

impl Stream {
    fn read(
        &mut self,
        piece: &str,
        feed: fn(&mut hanok_parse::Stream, &str, &mut Vec<hanok_parse::Event>),
    ) -> PyResult<Vec<Event>> {
        let mut reading = self.reading.take().ok_or_else(ended)?;
        let (reading, events) = guarded(move || {
            let mut events = Vec::new();
            reading.places.push(piece);
            feed(&mut reading.stream, piece, &mut events);
            let events = told(events, &reading.places, &reading.parser);
            (reading, events)
        })?;
        self.reading = Some(reading);
        Ok(events)
    }
}

fn told(events: Vec<hanok_parse::Event>, places: &Places, parser: &Parser) -> Vec<Event> {
    events.into_iter().map(|event| Event::of(event, places, parser)).collect()
}

fn ended() -> PyErr {
    PyValueError::new_err("the text of this stream has ended")
}
