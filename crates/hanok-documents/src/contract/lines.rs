//! A text to its lines, and which of them the page made.

use std::{collections::HashMap, ops::Range};

use super::number::skip_spaces;
use crate::work;

/// What a line is before its words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Blank,
    /// A page's number, or what every page repeats at its head or foot.
    Page,
    /// A row of a table.
    Row,
    Text,
}

/// A line of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// With its line end.
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

/// How often a line stands in a text whose pages repeat it.
const REPEATED: usize = 3;

/// How many other lines stand between: what repeats within fewer is no page's head.
const APART: usize = 8;

/// A head or foot is no longer, in characters.
const MAX_RUNNING: usize = 60;

/// The lines of `text`: they tile it.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push(Line { span: at..at + line.len(), kind: kind(trimmed(line)) });
        work::count(line.len());
        at += line.len();
    }
    mark_running(text, &mut lines);
    lines
}

/// `line` without white space around it.
pub(crate) fn trimmed(line: &str) -> &str {
    work::stripped(line, line.trim())
}

fn kind(line: &str) -> Kind {
    if line.is_empty() {
        Kind::Blank
    } else if is_page_number(line) {
        Kind::Page
    } else if line.starts_with('|') {
        Kind::Row
    } else {
        Kind::Text
    }
}

/// `- 3 -`, `3 / 12`, `Page 3 of 10`, `3쪽`. A number alone may be a cell of a table.
fn is_page_number(line: &str) -> bool {
    work::count(line.len());
    if line.chars().nth(20).is_some() || !line.chars().any(|c| c.is_ascii_digit()) {
        return false;
    }
    let bare: String =
        line.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_lowercase();
    let signs: String = bare.chars().filter(|c| !c.is_ascii_digit()).collect();
    matches!(
        signs.as_str(),
        "--" | "––"
            | "——"
            | "/"
            | "(/)"
            | "-/-"
            | "page"
            | "pageof"
            | "page/"
            | "p."
            | "쪽"
            | "페이지"
            | "/쪽"
            | "/페이지"
    )
}

/// Marks what stands again and again with a page's text between.
fn mark_running(text: &str, lines: &mut [Line]) {
    let shown = |line: &Line| trimmed(text.get(line.span.clone()).unwrap_or_default());
    work::count(2 * lines.len());
    // The place of each among the lines with words, and how often it stood far enough from the last.
    let mut seen: HashMap<&str, (usize, usize, bool)> = HashMap::new();
    let worded = lines.iter().filter(|line| line.kind == Kind::Text);
    for (at, line) in worded.enumerate() {
        let line = shown(line);
        if may_run(line) {
            work::count(line.len());
            let (last, times, apart) = seen.entry(line).or_insert((at, 0, true));
            *apart &= *times == 0 || at - *last > APART;
            (*last, *times) = (at, *times + 1);
        }
    }
    let runs = |line: &str| {
        work::count(line.len());
        seen.get(line).is_some_and(|(_, times, apart)| *apart && *times >= REPEATED)
    };
    for line in lines.iter_mut().filter(|line| line.kind == Kind::Text) {
        if runs(shown(line)) {
            line.kind = Kind::Page;
        }
    }
}

/// Short words that neither end a sentence nor begin with a number of any kind.
fn may_run(line: &str) -> bool {
    work::count(2 * line.len());
    let first = line.chars().next().unwrap_or_default();
    let chars = line.chars().count();
    (4..=MAX_RUNNING).contains(&chars)
        && (first.is_alphabetic() || "([<【〈".contains(first))
        && !line.starts_with('제')
        && !line.ends_with(['.', ',', ':', ';', '다', '!', '?'])
        && line.chars().any(char::is_alphabetic)
}

/// What headings and list items may be dressed in, and what of it says that the line is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dress {
    /// A markdown heading, or bold.
    pub(crate) heading: bool,
    /// An item of a list.
    pub(crate) listed: bool,
}

/// `line` without what dresses its begin.
pub(crate) fn undressed(line: &str) -> (Dress, &str) {
    let mut rest = skip_spaces(line);
    let mut dress = Dress::default();
    if let Some(after) = ["- ", "* ", "+ "].iter().find_map(|mark| rest.strip_prefix(mark)) {
        dress.listed = true;
        rest = skip_spaces(after);
    }
    let is_mark = |c: char| matches!(c, '#' | '*' | '_' | '>' | '■' | '□' | '▣' | '◆' | '◇' | '▶');
    while let Some(mark) = rest.chars().next().filter(|c| is_mark(*c)) {
        dress.heading |= mark != '>';
        rest = skip_spaces(work::stripped(rest, rest.trim_start_matches(mark)));
    }
    (dress, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_are_told_from_numbers() {
        for (line, want) in [
            ("- 3 -", true),
            ("– 12 –", true),
            ("3 / 12", true),
            ("Page 3 of 10", true),
            ("page 3", true),
            ("- 3 / 10 -", true),
            ("3쪽", true),
            ("3", false),
            ("1. 목적", false),
            ("2026/11/21", false),
            ("- 항목 -", false),
            ("1억 원", false),
        ] {
            assert_eq!(is_page_number(line), want, "{line}");
        }
    }

    #[test]
    fn what_every_page_repeats_is_of_the_page() {
        let page = |n: usize| {
            let words: Vec<_> = (0..10).map(|line| format!("{n}쪽의 {line}번째 말이다")).collect();
            format!("주식회사 가나 용역계약서\n{}\n갑의 의무\n갑의 의무\n", words.join("\n"))
        };
        let text: String = (0..4).map(page).collect();
        let lines = lines(&text);
        let pages: Vec<_> = lines.iter().filter(|line| line.kind == Kind::Page).collect();
        assert_eq!(pages.len(), 4);
        assert!(pages.iter().all(|line| text[line.span.clone()].starts_with("주식회사")));
    }

    #[test]
    fn a_headings_dress_is_taken_off() {
        for (line, heading, listed, want) in [
            ("  ## 제5조", true, false, "제5조"),
            ("### **제5조**", true, false, "제5조**"),
            ("- ① 갑은", false, true, "① 갑은"),
            ("> 제5조", false, false, "제5조"),
            ("제5조", false, false, "제5조"),
            ("　제5조", false, false, "제5조"),
        ] {
            assert_eq!(undressed(line), (Dress { heading, listed }, want), "{line:?}");
        }
    }
}
