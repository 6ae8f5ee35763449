//! A reader of prompts: rules that read what was sent, the same for every way, and nothing else.
//!
//! It answers with the lines of the user's own words that have most of the question's words, weighed by how rare they are among the
//! lines; of lines that fit alike the newest, and for what is so now one that says that it still holds. A line that asks states nothing.
//! Where the best line lacks too much of the question it answers nothing.

use std::collections::{BTreeMap, BTreeSet};

use hanok_checkpoint::index_terms;

/// The share of a question's words that a line has to have.
const ENOUGH: f64 = 0.34;

/// Words that ask, and say nothing of what is asked for.
const ASKING: &[&str] = &[
    "내가",
    "제가",
    "내",
    "제",
    "나의",
    "우리",
    "지금",
    "요즘",
    "뭐였지",
    "뭐였죠",
    "뭐지",
    "뭐죠",
    "뭐라고",
    "했지",
    "했죠",
    "했더라",
    "누구지",
    "누구죠",
    "누구라고",
    "누구시죠",
    "어디지",
    "어디죠",
    "어디라고",
    "언제지",
    "언제죠",
    "언제쯤이죠",
    "언제라고",
    "언제부터지",
    "언제까지지",
    "언제",
    "얼마지",
    "얼마라고",
    "얼마가",
    "얼마",
    "모두",
    "말해",
    "줘",
    "주게",
    "알려",
    "무슨",
    "며칠이지",
    "어떻게",
    "된다고",
    "어떤",
    "걸로",
    "어느",
    "게",
    "한",
    "몇",
    "다니는",
    "일하는",
    "때문에",
    "곳을",
    "것을",
    "이름이",
    "이름을",
];

/// A line of the prompt.
struct Line<'a> {
    day: &'a str,
    text: &'a str,
    terms: BTreeSet<String>,
}

/// The answer that stands in `prompt`; `None` where none does.
pub(crate) fn read(prompt: &str, question: &str) -> Option<String> {
    let lines: Vec<_> = prompt.lines().filter_map(line).collect();
    let wanted = question_terms(question);
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for term in lines.iter().flat_map(|line| &line.terms) {
        *counts.entry(term).or_default() += 1.0;
    }
    let all: f64 = lines.len() as f64;
    let weight = |term: &String| -> f64 {
        (1.0_f64 + all / (1.0 + counts.get(term.as_str()).copied().unwrap_or_default())).ln()
    };
    // What no line has is missing in each of them.
    let whole: f64 = wanted.iter().map(weight).sum();
    let score = |line: &Line<'_>| {
        let has = wanted.iter().filter(|term| line.terms.contains(*term));
        has.map(weight).sum::<f64>() / whole
    };
    let mut scored: Vec<_> = lines.iter().map(|line| (score(line), line)).collect();
    scored.retain(|(score, _)| *score >= ENOUGH);
    let best = scored.iter().map(|(score, _)| *score).max_by(f64::total_cmp)?;
    let several = question.contains("모두");
    let is_current = ["지금", "요즘"].iter().any(|word| question.contains(word));
    // A line that says since when something is so, and not until when.
    let holds = |line: &Line<'_>| is_current && line.text.contains(" –]");
    let share = |line: &Line<'_>| match holds(line) {
        true => 0.0,
        false if several => 0.7,
        false => 0.85,
    };
    scored.retain(|(score, line)| *score >= best * share(line));
    if several {
        let texts: Vec<_> = scored.iter().map(|(_, line)| line.text).collect();
        return Some(texts.join("\n"));
    }
    let (_, newest) = scored.iter().max_by(|a, b| {
        let newer = holds(a.1).cmp(&holds(b.1)).then(a.1.day.cmp(b.1.day));
        newer.then(a.0.total_cmp(&b.0))
    })?;
    Some(format!("[{}] {}", newest.day, now(newest.text)))
}

/// The terms of what a question asks for.
fn question_terms(question: &str) -> BTreeSet<String> {
    let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.filter(|word| !ASKING.contains(word));
    words.flat_map(|word| index_terms(bare(word))).collect()
}

/// A word of three syllables or more without its particle.
fn bare(word: &str) -> &str {
    const PARTICLES: &[&str] =
        &["에서", "으로", "은", "는", "이", "가", "을", "를", "에", "의", "도", "로", "과", "와"];
    let is_long = |rest: &&str| rest.chars().count() >= 2;
    PARTICLES.iter().find_map(|end| word.strip_suffix(end).filter(is_long)).unwrap_or(word)
}

/// A line with the day that it names: first in brackets, or at its end in parentheses.
fn line(text: &str) -> Option<Line<'_>> {
    let text = text.trim().trim_start_matches("- ");
    let (day, text) = match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((day, rest)) => (day, rest),
        None => {
            let (rest, place) = text.rsplit_once(" (")?;
            (place.split_once(',')?.0, rest)
        }
    };
    // An episode says its day, and its place says it again.
    let text = match text.rsplit_once(" (") {
        Some((rest, place)) if place.starts_with(day) => rest,
        _ => text,
    };
    // An episode has the answer behind the question.
    let text = text.split(" / ").next().unwrap_or(text).trim_start_matches("사용자: ");
    let asks = text.ends_with('?') || text.ends_with("줘") || text.starts_with("도우미: ");
    let terms = index_terms(text).into_iter().collect();
    (!asks).then_some(Line { day, text, terms })
}

/// What holds of a line that says until when something did: `now [since –]; before [since – until]`.
fn now(text: &str) -> &str {
    text.split_once(" –]; ").map_or(text, |(now, _)| now)
}
