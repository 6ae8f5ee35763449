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
    /// An item of a list or a row of a table, and no sentence.
    pub(crate) is_item: bool,
}

/// A longer text is not an observation that anybody reads to its end.
const MOST_CHARS: usize = 64 * 1024;

/// The passages of `text`. A text without sources is one passage.
pub(crate) fn passages(text: &str) -> Vec<Passage> {
    let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or(text);
    let sourced = text.lines().any(|line| source(line).is_some());
    let (mut all, mut open) = (Vec::new(), Draft::default());
    for line in text.lines() {
        if let Some(source) = source(line) {
            all.push(std::mem::take(&mut open).done(Some(source)));
        } else if let Some(heading) = labelled(line, &["제목", "Title", "Heading"]) {
            open.passage.heading = heading.to_owned();
        } else if let Some(content) = labelled(line, &["내용", "Content"]) {
            if sourced {
                // What stands above the first content only announces it.
                open.prose.clear();
                open.passage.units.clear();
            }
            open.line(content);
        } else {
            open.line(line);
        }
    }
    all.push(open.done(None));
    all.retain(|passage| !passage.units.is_empty() || passage.source.is_some());
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
    /// Lines of prose that go on in the next line.
    prose: String,
    columns: Vec<String>,
}

impl Draft {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() || text.chars().all(|c| matches!(c, '-' | '=' | '*' | '_')) {
            self.end();
        } else if text.starts_with('#') {
            self.end();
            let (heading, new) = (&mut self.passage.heading, text.trim_start_matches('#').trim());
            // The one in the text repeats the last of those that whoever made the passage names.
            if !heading.contains(new) {
                let joined = if heading.is_empty() { "" } else { " > " };
                heading.extend([joined, new]);
            }
        } else if text.starts_with('|') {
            self.row(text);
        } else if let Some(item) = item(text) {
            self.end();
            self.push(item, true);
        } else if line.starts_with([' ', '\t'])
            && self.prose.is_empty()
            && let Some(last) = self.passage.units.last_mut().filter(|last| last.is_item)
        {
            last.text.extend([" ", text]);
        } else {
            self.columns.clear();
            self.prose.extend([if self.prose.is_empty() { "" } else { " " }, text]);
        }
    }

    /// A row is told with the names of its columns; the first of the table names them.
    fn row(&mut self, text: &str) {
        let columns = std::mem::take(&mut self.columns);
        self.end();
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        if columns.is_empty() {
            self.columns = cells.into_iter().map(str::to_owned).collect();
            return;
        }
        if !cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':'))) {
            let said = columns.iter().zip(&cells).skip(1);
            let said: Vec<_> = said.map(|(column, cell)| format!("{column} {cell}")).collect();
            let first = cells.first().copied().unwrap_or_default();
            self.push(&format!("{first}: {}", said.join(", ")), true);
        }
        self.columns = columns;
    }

    /// Ends a paragraph, or a table.
    fn end(&mut self) {
        self.columns.clear();
        let prose = std::mem::take(&mut self.prose);
        sentences(&prose).into_iter().for_each(|sentence| self.push(sentence, false));
    }

    fn push(&mut self, text: &str, is_item: bool) {
        let text = text.trim().to_owned();
        // A chapter's heading in front of its first article.
        if !text.is_empty() && !self.passage.heading.contains(&text) {
            self.passage.units.push(Unit { text, is_item });
        }
    }

    fn done(mut self, source: Option<String>) -> Passage {
        self.end();
        Passage { source, ..self.passage }
    }
}

/// The text of a list's line: `- …`, `* …`, `• …`, `1. …`, `2) …`, `① …`.
fn item(line: &str) -> Option<&str> {
    if line.starts_with(|c: char| ('①'..='⑳').contains(&c)) {
        return line.get('①'.len_utf8()..);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match line.len() - rest.len() {
        0 => line.strip_prefix(['-', '*', '•', '·'])?.strip_prefix(' '),
        1 | 2 => rest.strip_prefix(['.', ')'])?.strip_prefix(' '),
        _ => None,
    }
}

/// The sentences of a paragraph. A point ends one where a blank follows and no number goes before.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut from) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let (before, behind) = (text.get(..at), text.get(end..));
        let is_number = before.is_some_and(|it| it.ends_with(|c: char| c.is_ascii_digit()));
        let is_end = behind.is_some_and(|it| it.is_empty() || it.starts_with(char::is_whitespace));
        if matches!(c, '.' | '?' | '!' | '。' | '？') && is_end && !is_number {
            sentences.extend(text.get(from..end));
            from = end;
        }
    }
    sentences.extend(text.get(from..));
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_a_search_are_passages_with_sources() {
        let text = "[Results]\nContent: ## Rest\nLunch is at 11.5 h. Then\nwork goes on.\n- one\n- two\nSource: a.md\n\n\
            Content: | who | days |\n| --- | --- |\n| all | 3 |\nSource: b.pdf";
        let shown = |passage: &Passage| {
            let units: Vec<_> = passage.units.iter().map(|unit| unit.text.as_str()).collect();
            format!("<{}> {} {:?}", passage.heading, units.join(" | "), passage.source)
        };
        let shown: Vec<_> = passages(text).iter().map(shown).collect();
        let want = [
            "<Rest> Lunch is at 11.5 h. | Then work goes on. | one | two Some(\"a.md\")",
            "<> all: days 3 Some(\"b.pdf\")",
        ];
        assert_eq!(shown, want);
        assert_eq!(passages("1 + 1 = 2").len(), 1);
    }
}
