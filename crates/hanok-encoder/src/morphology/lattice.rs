//! The cheapest way through a word.

use super::{
    Files,
    dictionary::{Dictionary, Reading},
};

/// An unknown word has no more characters than this, as in MeCab.
const LONGEST: usize = 24;

/// How a word begins and ends, where nothing stands before and behind.
const EDGE: u16 = 0;

/// So many readings are looked at in one place. mecab-ko-dic has some dozens.
const MOST: usize = 1_024;

/// A reading at its place, and the cheapest way to it.
#[derive(Debug, Clone, Copy)]
struct Node<'a> {
    surface: &'a str,
    found: Found<'a>,
    cost: i64,
    before: Option<usize>,
}

/// A reading, and the dictionary that has it.
#[derive(Debug, Clone, Copy)]
struct Found<'a> {
    reading: Reading,
    dictionary: &'a Dictionary,
}

/// What `word` is made of: each part, and what the dictionary says of it.
pub(super) fn cheapest<'a>(files: &'a Files, word: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut nodes: Vec<Node<'a>> = Vec::new();
    // By where they end.
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); word.len() + 1];
    for (at, _) in word.char_indices() {
        let before = ending.get(at).cloned().unwrap_or_default();
        if at > 0 && before.is_empty() {
            continue;
        }
        let Some(rest) = word.get(at..) else { continue };
        for (length, found) in readings(files, rest) {
            let reading = found.reading;
            let Some(surface) = rest.get(..length) else { continue };
            let blank = files.penalties.iter().find(|(part, _)| at == 0 && *part == reading.part);
            let own = blank.map_or(0, |(_, cost)| *cost);
            let cheapest = match at {
                0 => Some((files.matrix.of(EDGE, reading), None)),
                _ => cheapest_of(files, &nodes, &before, reading),
            };
            if let (Some((cost, before)), Some(ending)) = (cheapest, ending.get_mut(at + length)) {
                ending.push(nodes.len());
                nodes.push(Node { surface, found, cost: cost + own, before });
            }
        }
    }
    let last = ending.pop().unwrap_or_default().into_iter();
    let last = last.filter_map(|at| {
        let node = nodes.get(at)?;
        Some((node.cost + files.matrix.cost(node.found.reading.right, EDGE), at))
    });
    let mut at = last.min().map(|(_, at)| at);
    let mut way = Vec::new();
    while let Some(node) = at.and_then(|at| nodes.get(at)) {
        way.push((node.surface, node.found.dictionary.feature(node.found.reading)));
        at = node.before;
    }
    way.reverse();
    way
}

/// What `reading` costs behind the cheapest of `before`, and which that is.
fn cheapest_of(
    files: &Files,
    nodes: &[Node<'_>],
    before: &[usize],
    reading: Reading,
) -> Option<(i64, Option<usize>)> {
    let ways = before.iter().filter_map(|at| {
        let node = nodes.get(*at)?;
        Some((node.cost + files.matrix.of(node.found.reading.right, reading), Some(*at)))
    });
    ways.min()
}

/// What `text` may begin with: the length, and what is known of it.
fn readings<'a>(files: &'a Files, text: &'a str) -> Vec<(usize, Found<'a>)> {
    let known = files.words.beginning(text.as_bytes());
    let known = known.filter(|(length, _)| *length > 0 && text.is_char_boundary(*length));
    let found = |reading| Found { reading, dictionary: &files.words };
    let known = known.take(MOST).map(|(length, reading)| (length, found(reading)));
    let mut all: Vec<_> = known.collect();
    let Some(first) = text.chars().next() else { return all };
    let kind = files.kinds.of(first);
    if !all.is_empty() && !kind.always() {
        return all;
    }
    let unknown = files.unknown.exactly(files.kinds.name(kind));
    let like: Vec<usize> = text
        .char_indices()
        .take_while(|(at, c)| *at == 0 || kind.like(files.kinds.of(*c)))
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    let whole = like.last().copied().filter(|_| kind.groups() && like.len() <= LONGEST);
    let short = like.iter().copied().take(kind.length().max(1));
    let mut lengths: Vec<usize> = whole.into_iter().chain(short).collect();
    lengths.sort_unstable();
    lengths.dedup();
    for length in lengths {
        let found = |reading: &Reading| Found { reading: *reading, dictionary: &files.unknown };
        all.extend(unknown.iter().map(|reading| (length, found(reading))));
    }
    all
}
