//! Templates of documents: Markdown with the names of what is filled in.
//!
//! A line is a heading (`# …`), an item (`- …`) or a paragraph. `{{name}}` is where a value stands. A line that begins with
//! `{{?name}}` is left out when the name has no value, and one with `{{*name}}` stands once for each of its values.

use std::collections::BTreeMap;

use super::page::{Block, BlockKind, Page};
use crate::data::DataError;

/// The values by their names. Several of one name are for lines that repeat.
pub(super) type Values = BTreeMap<String, Vec<String>>;

/// What stands where a value is missing.
const BLANK: &str = "(…………)";

/// A template, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    kind: BlockKind,
    when: When,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum When {
    Always,
    /// If the name has a value.
    Has(String),
    /// Once for each value.
    Each(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(String),
}

impl Template {
    /// The template in `text`, whose values have one of `names`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line that has an unknown name or an open bracket.
    pub fn parse(file: &str, text: &str, names: &[&str]) -> Result<Self, DataError> {
        let mut lines = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let fault =
                |reason: String| DataError { file: file.into(), line: Some(at + 1), reason };
            let read = Line::read(line.trim()).map_err(fault)?;
            for name in read.names() {
                if !names.contains(&name) {
                    let all = names.join(", ");
                    return Err(fault(format!("there is no value `{name}`; there are {all}")));
                }
            }
            lines.push(read);
        }
        Ok(Self { lines })
    }

    /// The page with `values` filled in, and blanks where there are none.
    pub(super) fn fill(&self, values: &Values) -> Page {
        let mut blocks = Vec::new();
        for line in &self.lines {
            match &line.when {
                When::Always => blocks.push(line.filled(values, None)),
                When::Has(name) if has(values, name) => blocks.push(line.filled(values, None)),
                When::Has(_) => {}
                When::Each(name) => {
                    for value in values.get(name).into_iter().flatten() {
                        blocks.push(line.filled(values, Some((name, value))));
                    }
                }
            }
        }
        Page { blocks }
    }
}

fn has(values: &Values, name: &str) -> bool {
    values.get(name).is_some_and(|values| !values.is_empty())
}

impl Line {
    fn read(line: &str) -> Result<Self, String> {
        let (when, line) = When::read(line)?;
        let marks = line.chars().take_while(|c| *c == '#').count();
        let (kind, text) = match line.get(marks..).and_then(|rest| rest.strip_prefix(' ')) {
            Some(text) if (1..=3).contains(&marks) => {
                (BlockKind::Heading(u8::try_from(marks).unwrap_or(3)), text)
            }
            _ => match line.strip_prefix("- ") {
                Some(text) => (BlockKind::Item, text),
                None => (BlockKind::Paragraph, line),
            },
        };
        let pieces = pieces(text)?;
        // A value at the beginning could look like an article or an item.
        if !matches!(pieces.first(), Some(Piece::Text(_))) {
            return Err("a line begins with words of its own, not with a value".to_owned());
        }
        Ok(Self { kind, when, pieces })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let when = match &self.when {
            When::Always => None,
            When::Has(name) | When::Each(name) => Some(name.as_str()),
        };
        let values = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(name) => Some(name.as_str()),
        });
        when.into_iter().chain(values)
    }

    fn filled(&self, values: &Values, own: Option<(&String, &String)>) -> Block {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(name) => {
                    let own = own.filter(|own| own.0 == name).map(|own| own.1);
                    let value = own.or_else(|| values.get(name)?.first());
                    text.push_str(value.map_or(BLANK, String::as_str));
                }
            }
        }
        Block::new(self.kind, &text)
    }
}

impl When {
    fn read(line: &str) -> Result<(Self, &str), String> {
        for (mark, when) in [("{{?", Self::Has as fn(String) -> Self), ("{{*", Self::Each)] {
            if let Some(rest) = line.strip_prefix(mark) {
                let (name, rest) = rest.split_once("}}").ok_or(OPEN)?;
                return Ok((when(name.to_owned()), rest.trim_start()));
            }
        }
        Ok((Self::Always, line))
    }
}

const OPEN: &str = "`{{` is not closed; write `}}` behind the name";

fn pieces(mut text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    while let Some((before, rest)) = text.split_once("{{") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        let (name, behind) = rest.split_once("}}").ok_or(OPEN)?;
        pieces.push(Piece::Value(name.to_owned()));
        text = behind;
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_owned()));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, want) in [
            ("a\n\nb {{c}}", "t.md:3: there is no value `c`; there are name"),
            ("{{?name}} a {{name", "t.md:1: `{{` is not closed; write `}}` behind the name"),
            ("- {{name}}", "t.md:1: a line begins with words of its own, not with a value"),
        ] {
            let error = Template::parse("t.md", text, &["name"]).unwrap_err();
            assert_eq!(error.to_string(), want);
        }
    }

    #[test]
    fn lines_are_left_out_repeated_and_filled() {
        let text = "# 제목\n{{?name}} 이름: {{name}}\n{{?none}} 없음\n{{*many}} - 하나: {{many}}\n빈칸: {{none}}";
        let template = Template::parse("t.md", text, &["name", "none", "many"]).unwrap();
        let values = Values::from([
            ("name".into(), vec!["{{many}} # 제1조".into()]),
            ("many".into(), vec!["가".into(), "나".into()]),
        ]);
        let page = template.fill(&values);
        let texts: Vec<&str> = page.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(
            texts,
            ["제목", "이름: {{many}} # 제1조", "하나: 가", "하나: 나", "빈칸: (…………)"]
        );
    }
}
