//! A text in pieces.

use hanok_parse::{Event, Parser, Reply};

use crate::Told;

/// Sizes of pieces without end, out of a seed: small ones mostly, single bytes for the seed 0.
#[derive(Debug)]
struct Sizes {
    state: u32,
    is_single: bool,
}

impl Sizes {
    fn new(seed: u8) -> Self {
        Self { state: u32::from(seed), is_single: seed == 0 }
    }

    fn next(&mut self) -> usize {
        if self.is_single {
            return 1;
        }
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let most = if self.state & 0x1_0000 == 0 { 4 } else { 64 };
        1 + (self.state >> 24) as usize % most
    }
}

/// What a stream says that gets the text in pieces of bytes.
fn fed(parser: &Parser, text: &str, seed: u8) -> (Reply, Vec<Event>) {
    let (mut stream, mut events, mut sizes) = (parser.stream(), Vec::new(), Sizes::new(seed));
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (piece, others) = rest.split_at(sizes.next().min(rest.len()));
        stream.feed_bytes(piece, &mut events);
        rest = others;
    }
    let reply = stream.finish(&mut events);
    (reply, events)
}

/// What a stream says of pieces that came as special tokens, or did not; the others are cut by `seed`.
pub(crate) fn fed_special(parser: &Parser, pieces: &[(&str, bool)], seed: Option<u8>) -> Reply {
    let (mut stream, mut events) = (parser.stream().marks_are_special(), Vec::new());
    let mut sizes = Sizes::new(seed.unwrap_or_default());
    for (text, is_special) in pieces {
        match (is_special, seed) {
            (true, _) => stream.feed_special(text, &mut events),
            (false, None) => stream.feed(text, &mut events),
            (false, Some(_)) => {
                let mut rest = text.as_bytes();
                while !rest.is_empty() {
                    let (piece, others) = rest.split_at(sizes.next().min(rest.len()));
                    stream.feed_bytes(piece, &mut events);
                    rest = others;
                }
            }
        }
    }
    stream.finish(&mut events)
}

/// Pieces give the same reply as the whole text.
pub(crate) fn agree(parser: &Parser, text: &str, whole: &Reply, seed: u8) {
    let (reply, events) = fed(parser, text, seed);
    assert_eq!(reply, *whole, "in pieces {text:?} says something else");
    let most = 4 * text.len() + 64;
    assert!(events.len() <= most, "{} events for {} bytes", events.len(), text.len());
    let told: usize = events.iter().map(told).sum();
    let most = 16 * text.len() + 256;
    assert!(told <= most, "{told} bytes are told of {}: {text:?}", text.len());
}

/// How much text an event tells.
fn told(event: &Event) -> usize {
    match event {
        Event::Content { text }
        | Event::Thought { text }
        | Event::Reasoning { text }
        | Event::Answer { text } => text.len(),
        Event::CallStarted { name, .. } => name.len(),
        Event::Arguments { json, .. } => json.len(),
        _ => 0,
    }
}

/// The events of the whole text, of pieces and of single bytes all fold to the reply.
pub(crate) fn events_agree(parser: &Parser, text: &str, seed: u8) {
    let (mut stream, mut events) = (parser.stream(), Vec::new());
    stream.feed(text, &mut events);
    let reply = stream.finish(&mut events);
    let want = Told::reply(&reply);
    same(&events, &want, text, "whole");
    for seed in [0, seed] {
        let (other, events) = fed(parser, text, seed);
        assert_eq!(other, reply, "in pieces {text:?} says something else");
        same(&events, &want, text, "in pieces");
    }
}

fn same(events: &[Event], want: &Told, text: &str, how: &str) {
    let difference = match Told::of(events) {
        Ok(told) => told.difference(want),
        Err(wrong) => Some(wrong),
    };
    if let Some(difference) = difference {
        panic!("the events of {text:?}, {how}, are not its reply: {difference}");
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    #[test]
    fn a_seed_gives_pieces_of_many_sizes_and_none_gives_single_bytes() {
        let sizes = |seed| -> Vec<usize> {
            let mut sizes = Sizes::new(seed);
            (0..40).map(|_| sizes.next()).collect()
        };
        assert_eq!(sizes(0), [1; 40]);
        for seed in 1..=255 {
            let sizes = sizes(seed);
            assert!(sizes.iter().all(|size| (1..=64).contains(size)), "{sizes:?}");
            assert!(sizes.iter().any(|size| *size != 1), "{seed}: {sizes:?}");
        }
    }
}
