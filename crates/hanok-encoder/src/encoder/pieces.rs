//! Texts as the pieces that are likeliest together, by a unigram model: Kudo 2018, arXiv:1804.10959.

use std::ops::Range;

use super::{
    normal::Normal,
    wire::{Value, fields},
};
use crate::files::{Fault, ensure};

const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;

/// How much less likely than the least likely piece a character is that is none.
const PENALTY: f64 = 10.0;

#[derive(Debug)]
pub(super) struct Pieces {
    /// In the order of their bytes, with their numbers.
    sorted: Vec<(Box<str>, u32)>,
    scores: Vec<f32>,
    unknown: f64,
    normal: Normal,
}

/// The best way to a place of a text: what it scores, and the last piece on it.
#[derive(Debug, Clone, Copy)]
struct Way {
    score: f64,
    from: usize,
    piece: u32,
}

impl Pieces {
    /// Reads a model of SentencePiece: its field 1 is each piece, its field 3 the normalisation.
    pub(super) fn read(model: &[u8]) -> Result<Self, Fault> {
        let (mut sorted, mut scores, mut rules) = (Vec::new(), Vec::new(), &[][..]);
        for field in fields(model) {
            match field? {
                (1, Value::Bytes(piece)) => {
                    let number = u32::try_from(scores.len());
                    let number = number.map_err(|_over| Fault("too many pieces".to_owned()))?;
                    let (text, score) = piece_of(piece)?;
                    sorted.push((text.into(), number));
                    scores.push(score);
                }
                (3, Value::Bytes(normalisation)) => rules = rules_of(normalisation)?,
                _ => {}
            }
        }
        ensure(scores.len() > END as usize, || format!("{} pieces", scores.len()))?;
        ensure(scores.iter().all(|score| score.is_finite()), || "a score that is none".to_owned())?;
        let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
        sorted.sort();
        Ok(Self {
            sorted,
            scores,
            unknown: f64::from(least) - PENALTY,
            normal: Normal::read(rules)?,
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.scores.len()
    }

    /// The pieces of `text`, between the marks of its beginning and its end.
    pub(super) fn of(&self, text: &str) -> Vec<u32> {
        let text = self.normal.of(text);
        let mut pieces = vec![END];
        let ways = self.ways(&text);
        let mut at = text.len();
        while let Some(way) = ways.get(at).filter(|_| at > 0) {
            pieces.push(way.piece);
            at = way.from;
        }
        if text.is_empty() {
            pieces.push(UNKNOWN);
        }
        pieces.push(BEGIN);
        pieces.reverse();
        pieces
    }

    /// The best way to each place of `text`, in bytes.
    fn ways(&self, text: &str) -> Vec<Way> {
        let mut ways =
            vec![Way { score: f64::NEG_INFINITY, from: 0, piece: UNKNOWN }; text.len() + 1];
        if let Some(start) = ways.first_mut() {
            start.score = 0.0;
        }
        for (from, c) in text.char_indices() {
            let Some(base) = ways.get(from).map(|way| way.score) else { break };
            let mut go = |length: usize, piece: u32, score: f64| {
                let score = base + score;
                if let Some(way) = ways.get_mut(from + length).filter(|way| score > way.score) {
                    *way = Way { score, from, piece };
                }
            };
            let mut alone = false;
            for (length, piece) in self.beginning(text.get(from..).unwrap_or_default()) {
                let score =
                    self.scores.get(piece as usize).copied().map_or(self.unknown, f64::from);
                go(length, piece, score);
                alone |= length == c.len_utf8();
            }
            if !alone {
                go(c.len_utf8(), UNKNOWN, self.unknown);
            }
        }
        ways
    }

    /// The pieces that `text` begins with, the shortest first, with their lengths.
    fn beginning(&self, text: &str) -> impl Iterator<Item = (usize, u32)> {
        let mut among = 0..self.sorted.len();
        (1..)
            .zip(text.bytes())
            .map_while(move |(length, byte)| {
                among = self.narrowed(among.clone(), length - 1, byte);
                // What is as long as what was read stands first; of equal ones the last counts.
                let same =
                    self.sorted.get(among.clone())?.iter().take_while(|(it, _)| it.len() == length);
                let piece = same.last().map(|(_, number)| *number);
                (!among.is_empty()).then_some(piece.map(|piece| (length, piece)))
            })
            .flatten()
    }

    /// Those `among` them, which are alike up to `at`, that have `byte` there.
    fn narrowed(&self, among: Range<usize>, at: usize, byte: u8) -> Range<usize> {
        let pieces = self.sorted.get(among.clone()).unwrap_or_default();
        let there = |(piece, _): &(Box<str>, u32)| piece.as_bytes().get(at).copied();
        let low = pieces.partition_point(|piece| there(piece) < Some(byte));
        let high = pieces.partition_point(|piece| there(piece) <= Some(byte));
        among.start + low..among.start + high
    }
}

/// A piece: field 1 is its text, field 2 its score.
fn piece_of(message: &[u8]) -> Result<(&str, f32), Fault> {
    let (mut text, mut score) = (&[][..], 0.0);
    for field in fields(message) {
        match field? {
            (1, Value::Bytes(bytes)) => text = bytes,
            (2, Value::Four(bytes)) => score = f32::from_le_bytes(bytes),
            _ => {}
        }
    }
    let text =
        std::str::from_utf8(text).map_err(|_bytes| Fault("a piece that is no text".to_owned()))?;
    Ok((text, score))
}

/// The compiled rules of a normalisation: its field 2.
fn rules_of(message: &[u8]) -> Result<&[u8], Fault> {
    let mut rules = &[][..];
    for field in fields(message) {
        if let (2, Value::Bytes(bytes)) = field? {
            rules = bytes;
        }
    }
    Ok(rules)
}
