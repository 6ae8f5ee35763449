//! A text that a tool gave, as passages with their sources, and those as sentences, list items and rows.

/// A piece of a text under one heading, of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) heading: String,
    /// As it was written behind `출처:` or `Source:`.
    pub(crate) source: Option<String>,
    pub(crate) units: Vec<Unit>,
}

/// What is answered with whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// The paragraph, list or table it is in, counted from 0.
    pub(crate) block: usize,
    /// Whether it is an item below a clause: `1.` below `①`.
    pub(crate) is_deep: bool,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sentence,
    Item,
    /// A row of a table, with its columns named.
    Row,
}

/// A longer text is not an observation that anybody reads to its end.
const MOST_CHARS: usize = 64 * 1024;

/// As long a passage is read.
const MOST_UNITS: usize = 1_000;

/// The passages of `text`. A text without sources is one passage.
pub(crate) fn passages(text: &str) -> Vec<Passage> {
    let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or(text);
    let sourced = text.lines().any(|line| source(line).is_some());
    let mut all = Vec::new();
    let mut open = Draft::default();
    for line in text.lines() {
        if let Some(source) = source(line) {
            all.push(std::mem::take(&mut open).done(Some(source)));
        } else if let Some(heading) = labelled(line, &["제목", "Title", "Heading"]) {
            open.passage.heading = heading.to_owned();
        } else if let Some(content) = labelled(line, &["내용", "Content"]) {
            if sourced {
                // What stands above the first content only announces it.
                open.forget();
            }
            open.line(content);
        } else {
            open.line(line);
        }
    }
    let rest = open.done(None);
    if !rest.units.is_empty() {
        all.push(rest);
    }
    all.retain(|passage| !passage.units.is_empty() || !passage.heading.is_empty());
    all
}

/// The source that a line names.
pub(crate) fn source(line: &str) -> Option<String> {
    labelled(line, &["출처", "Source"]).filter(|source| !source.is_empty()).map(str::to_owned)
}

fn labelled<'a>(line: &'a str, labels: &[&str]) -> Option<&'a str> {
    labels.iter().find_map(|label| Some(line.strip_prefix(label)?.strip_prefix(':')?.trim()))
}

#[derive(Debug, Default)]
struct Draft {
    passage: Passage,
    block: usize,
    /// Lines of prose that go on in the next line.
    prose: String,
    columns: Vec<String>,
    item_open: bool,
}

impl Draft {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() || text.chars().all(|c| matches!(c, '-' | '=' | '*' | '_')) {
            self.end_block();
        } else if text.starts_with('#') {
            self.end_block();
            self.head(text.trim_start_matches('#').trim());
        } else if text.starts_with('|') {
            self.row(text);
        } else if let Some(item) = item(text) {
            self.end_prose();
            self.item_open = true;
            self.push(item, Kind::Item);
            let is_deep = text.starts_with(|c: char| c.is_ascii_digit());
            self.passage.units.iter_mut().last().into_iter().for_each(|it| it.is_deep = is_deep);
        } else if self.item_open && line.starts_with([' ', '\t']) {
            // An item that goes on.
            if let Some(last) = self.passage.units.last_mut() {
                last.text.push(' ');
                last.text.push_str(text);
            }
        } else {
            self.prose(text);
        }
    }

    /// The headings above are named by whoever made the passage; the one in the text repeats the last.
    fn head(&mut self, heading: &str) {
        if self.passage.heading.is_empty() {
            self.passage.heading = heading.to_owned();
        } else if !self.passage.heading.contains(heading) {
            self.passage.heading.push_str(" > ");
            self.passage.heading.push_str(heading);
        }
    }

    fn prose(&mut self, text: &str) {
        if self.item_open {
            self.end_block();
        }
        self.columns.clear();
        if !self.prose.is_empty() {
            self.prose.push(' ');
        }
        self.prose.push_str(text);
    }

    /// A row is told with the names of its columns; the first of the table names them.
    fn row(&mut self, text: &str) {
        self.end_prose();
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        if cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
            return;
        }
        if self.columns.is_empty() {
            self.columns = cells.into_iter().map(str::to_owned).collect();
            return;
        }
        let mut said = cells.first().map_or(String::new(), |first| (*first).to_owned());
        for (at, (column, cell)) in self.columns.iter().zip(&cells).skip(1).enumerate() {
            said.push_str(if at == 0 { ": " } else { ", " });
            said.push_str(&format!("{column} {cell}"));
        }
        self.push(&said, Kind::Row);
    }

    fn end_prose(&mut self) {
        let prose = std::mem::take(&mut self.prose);
        for sentence in sentences(&prose) {
            self.push(sentence, Kind::Sentence);
        }
        if !prose.is_empty() {
            self.block += 1;
        }
    }

    fn end_block(&mut self) {
        self.end_prose();
        self.columns.clear();
        self.item_open = false;
        self.block += 1;
    }

    fn push(&mut self, text: &str, kind: Kind) {
        let text = text.trim();
        if !text.is_empty() && self.passage.units.len() < MOST_UNITS {
            let (text, block) = (text.to_owned(), self.block);
            self.passage.units.push(Unit { text, kind, block, is_deep: false });
        }
    }

    fn forget(&mut self) {
        self.prose.clear();
        self.passage.units.clear();
    }

    fn done(mut self, source: Option<String>) -> Passage {
        self.end_block();
        // A chapter's heading in front of its first article.
        let Passage { heading, units, .. } = &mut self.passage;
        units.retain(|unit| !heading.contains(unit.text.as_str()));
        Passage { source, ..self.passage }
    }
}

/// The text of a list's line: `- …`, `* …`, `• …`, `1. …`, `2) …`, `① …`.
fn item(line: &str) -> Option<&str> {
    if let Some(rest) =
        line.strip_prefix(['-', '*', '•', '·']).and_then(|rest| rest.strip_prefix(' '))
    {
        return Some(rest);
    }
    if line.starts_with(|c: char| ('①'..='⑳').contains(&c)) {
        return line.get('①'.len_utf8()..);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    if !(1..=2).contains(&digits) {
        return None;
    }
    rest.strip_prefix(['.', ')'])?.strip_prefix(' ')
}

/// The sentences of a paragraph. A point ends one where a blank follows and no number goes before.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = matches!(c, '.' | '?' | '!' | '。' | '？')
            && next.is_none_or(char::is_whitespace)
            && !before.is_some_and(|before: char| before.is_ascii_digit());
        if ends {
            let end = at + c.len_utf8();
            sentences.extend(text.get(from..end));
            from = end;
        }
        before = Some(c);
    }
    sentences.extend(text.get(from..));
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(passages: &[Passage]) -> String {
        let unit = |unit: &Unit| format!("{:?}{} {}", unit.kind, unit.block, unit.text);
        let passage = |passage: &Passage| {
            let units: Vec<_> = passage.units.iter().map(unit).collect();
            format!(
                "<{}> [{}] {}",
                passage.heading,
                units.join(" | "),
                passage.source.as_deref().unwrap_or("-")
            )
        };
        passages.iter().map(passage).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn results_of_a_search_are_passages_with_sources() {
        let text = "[Results]\nContent: ## Rest\nLunch is at 11.5 h. Then\nwork goes on.\n- one\n- two\nSource: a.md\n\n\
            Content: | who | days |\n| --- | --- |\n| all | 3 |\nSource: b.pdf";
        assert_eq!(
            shown(&passages(text)),
            "<Rest> [Sentence1 Lunch is at 11.5 h. | Sentence1 Then work goes on. | Item2 one | Item2 two] a.md\n\
             <> [Row1 all: days 3] b.pdf"
        );
    }

    #[test]
    fn a_text_without_sources_is_one_passage() {
        assert_eq!(shown(&passages("1 + 1 = 2")), "<> [Sentence0 1 + 1 = 2] -");
        assert_eq!(shown(&passages("")), "");
    }
}
