//! Text to calls: how fast prose and calls are read, and whether time grows as the text does.

mod patterns;
pub(crate) mod texts;

use std::{borrow::Cow, hint::black_box};

use hanok_parse::{Bare, Declared, Format, ParamType, Parser, Reply, neutralise, restore};
use patterns::Pattern;

use crate::{
    Result,
    measure::{Cpu, ensure, medians, most_resident, resident},
};

/// How much text is read at a time, in bytes.
const SIZE: usize = if cfg!(test) { 50_000 } else { 1_000_000 };

/// How often it is read in a round.
const TIMES: usize = 10;

/// A million bytes of an answer, whole and in pieces.
pub(crate) fn prose(rounds: usize) -> Result<Vec<f64>> {
    let text = texts::prose(SIZE);
    let shown = |reply: &Reply| reply.content.len() == text.trim().len() && reply.calls.is_empty();
    speeds(rounds, &text, shown)
}

/// Some 2,500 calls one behind the other, whole and in pieces.
pub(crate) fn calls(rounds: usize) -> Result<Vec<f64>> {
    let count = 2_500;
    let read = |reply: &Reply| reply.calls.len() == count && reply.content.is_empty();
    speeds(rounds, &texts::calls(count), read)
}

/// The text of [`prose`] and the calls of [`calls`] as others wrote them, and those as they were.
pub(crate) fn neutralised(rounds: usize) -> Result<Vec<f64>> {
    let (prose, calls, parser) = (texts::prose(SIZE), texts::calls(2_500), parser());
    let broken = neutralise(&calls).into_owned();
    ensure(matches!(neutralise(&prose), Cow::Borrowed(_)), "prose without marks was copied")?;
    ensure(parser.parse(&broken).calls.is_empty(), "a neutralised call is one")?;
    ensure(restore(&broken) == calls, "a neutralised text was not restored")?;
    let speed = |text: &str, run: &dyn Fn(&str)| {
        let micros: f64 = (0..TIMES).map(|_| once(text, run)).sum();
        (text.len() * TIMES) as f64 / micros
    };
    medians(rounds, async || {
        let breaks = |text: &str| drop(black_box(neutralise(text)));
        Ok([
            speed(&prose, &breaks),
            speed(&prose, &|text| drop(black_box(parser.parse(text)))),
            speed(&calls, &breaks),
            speed(&broken, &|text| drop(black_box(restore(text)))),
        ])
    })
}

/// Some 12,000 calls in ReAct's form and nothing else, whole and in pieces.
pub(crate) fn react(rounds: usize) -> Result<Vec<f64>> {
    let count = SIZE / 80;
    let read = |reply: &Reply| reply.calls.len() == count && reply.content.is_empty();
    speeds(rounds, &texts::react(count), read)
}

/// The calls of [`calls`] and [`react`] in pieces, by a parser that is told their format and by one that finds it out.
pub(crate) fn told(rounds: usize) -> Result<Vec<f64>> {
    let (calls, react) = (texts::calls(2_500), texts::react(SIZE / 80));
    let read = |reply: &Reply| !reply.calls.is_empty() && reply.content.is_empty();
    let in_pieces = |text: &str, parser: &Parser| {
        let pieces = texts::pieces(text);
        speed(text, TIMES, || fed(parser, &pieces), read)
    };
    medians(rounds, async || {
        Ok([
            in_pieces(&calls, &parser().format(Format::Hermes))?,
            in_pieces(&calls, &parser())?,
            in_pieces(&react, &parser().format(Format::React))?,
            in_pieces(&react, &parser())?,
        ])
    })
}

/// Millions of bytes per second: in one piece, and in pieces of 8 bytes.
fn speeds(rounds: usize, text: &str, holds: impl Fn(&Reply) -> bool) -> Result<Vec<f64>> {
    let (parser, pieces) = (parser(), texts::pieces(text));
    medians(rounds, async || {
        let whole = speed(text, TIMES, || parser.parse(black_box(text)), &holds)?;
        let in_pieces = speed(text, TIMES, || fed(&parser, &pieces), &holds)?;
        Ok([whole, in_pieces])
    })
}

fn parser() -> Parser {
    let param = |name: &str, kind| (name.to_owned(), kind, false);
    let params = [
        param("q", ParamType::String),
        param("page", ParamType::Integer),
        param("filters", ParamType::Object),
        param("note", ParamType::String),
    ];
    Parser::new(Declared::new().tool_with("find", params).tool("rent").agent("legal"))
        .policy(Bare::On)
}

fn fed(parser: &Parser, pieces: &[&str]) -> Reply {
    let (mut stream, mut events) = (parser.stream(), Vec::new());
    for piece in pieces {
        stream.feed(black_box(piece), &mut events);
        black_box(&events);
        events.clear();
    }
    stream.finish(&mut events)
}

/// The speed at which `read` reads `text`, which it does so many times.
fn speed(
    text: &str,
    times: usize,
    read: impl Fn() -> Reply,
    holds: impl Fn(&Reply) -> bool,
) -> Result<f64> {
    let mut micros = 0.0;
    for _ in 0..times {
        let cpu = Cpu::start();
        let reply = black_box(read());
        micros += cpu.micros();
        ensure(holds(&reply), "the text was read as something else")?;
    }
    Ok((text.len() * times) as f64 / micros)
}

/// Texts that cost others the square of their length: a unit, and how often it stands there.
const TRAPS: [(&str, usize); 6] = [
    ("{", 100_000),
    ("Action: ", 100_000),
    ("Action Input: {", 100_000),
    ("[", 1_000_000),
    ("no line break ", 10_000_000 / 14),
    ("<tool_cal <|python_ta Final Answe Actio Input", 1_000_000 / 45),
];

/// What a text of twice the length costs, as a multiple of twice the cost: 1 is linear.
pub(crate) fn growth(rounds: usize) -> Result<Vec<f64>> {
    over_traps(rounds, |parser, unit, times| {
        let (short, long) = (unit.repeat(times), unit.repeat(2 * times));
        Ok(least(parser, &long)? / least(parser, &short)? / 2.0)
    })
}

/// Millions of bytes per second.
pub(crate) fn traps(rounds: usize) -> Result<Vec<f64>> {
    over_traps(rounds, |parser, unit, times| {
        let text = unit.repeat(times);
        Ok(text.len() as f64 / least(parser, &text)?)
    })
}

fn over_traps(
    rounds: usize,
    measure: impl Fn(&Parser, &str, usize) -> Result<f64>,
) -> Result<Vec<f64>> {
    let parser = parser();
    medians(rounds, async || {
        let mut figures = [0.0; TRAPS.len()];
        for (figure, (unit, times)) in figures.iter_mut().zip(TRAPS) {
            *figure = measure(&parser, unit, times)?;
        }
        Ok(figures)
    })
}

/// The least time of several for one text, in microseconds: whatever else the machine does only adds to it.
fn least(parser: &Parser, text: &str) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let cpu = Cpu::start();
        let reply = black_box(parser.parse(black_box(text)));
        least = least.min(cpu.micros());
        ensure(reply.calls.is_empty(), "a text without calls has one")?;
    }
    Ok(least)
}

/// How many patterns there are, and how much text is made of each.
const PATTERNS: usize = if cfg!(test) { 5 } else { 1_000 };
const LONG: usize = SIZE * 3;
/// How much where it comes letter by letter.
const LETTERS: usize = SIZE / 20;

/// Of random patterns, the worst: what eight times the text costs as a multiple of eight times the time, and the fewest
/// millions of bytes per second; and the same where the text comes letter by letter. In one round, because there are so many
/// of them.
pub(crate) fn patterns(_rounds: usize) -> Result<Vec<f64>> {
    let parser = parser();
    let (mut whole, mut letters) = (Worst::NONE, Worst::NONE);
    for number in 0..PATTERNS {
        let pattern = Pattern::new(number);
        whole.take(&pattern, LONG, |text| drop(black_box(parser.parse(text))));
        letters.take(&pattern, LETTERS, |text| {
            let pieces: Vec<_> = text.split_inclusive(|_| true).collect();
            black_box(fed(&parser, &pieces));
        });
    }
    Ok(vec![whole.growth, whole.speed, letters.growth, letters.speed])
}

/// The worst of what was measured.
struct Worst {
    growth: f64,
    speed: f64,
}

impl Worst {
    const NONE: Self = Self { growth: 0.0, speed: f64::INFINITY };

    /// Takes in what `read` does with so much text of a pattern, and with an eighth of it.
    fn take(&mut self, pattern: &Pattern, size: usize, read: impl Fn(&str)) {
        let (short, long) = (pattern.text(size / 8), pattern.text(size));
        let (mut fast, mut growth) = (0.0_f64, f64::INFINITY);
        // One that seems to grow is measured again: whatever else the machine does only adds to it.
        for _ in 0..5 {
            let (few, many) = (once(&short, &read), once(&long, &read));
            fast = fast.max(long.len() as f64 / many);
            growth = growth.min(many / few * short.len() as f64 / long.len() as f64);
            if growth < 1.1 {
                break;
            }
        }
        self.growth = self.growth.max(growth);
        self.speed = self.speed.min(fast);
    }
}

/// The time for one text, in microseconds.
fn once(text: &str, read: impl Fn(&str)) -> f64 {
    let cpu = Cpu::start();
    read(black_box(text));
    cpu.micros()
}

/// MiB for ten million bytes of ReAct's calls: at most while they are read, and of the reply.
pub(crate) fn memory(_rounds: usize) -> Result<Vec<f64>> {
    let text = texts::react(SIZE / 5);
    let (before, parser) = (resident()?, parser());
    let reply = parser.parse(&text);
    let (most, held) = (most_resident()?, resident()?);
    ensure(reply.calls.len() == SIZE / 5, "the text was read as something else")?;
    Ok(vec![(most - before) / 1024.0, (held - before) / 1024.0])
}
