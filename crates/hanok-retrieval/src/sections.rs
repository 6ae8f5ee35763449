//! A text to its sections, by the headings in it.

use std::ops::Range;

use crate::structure::{self, Heading};

/// A heading with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// From the heading's first byte to the next heading.
    pub(crate) span: Range<usize>,
    /// The path of headings, joined by ` > `.
    pub(crate) heading: String,
}

/// A heading's share of the path, in characters: the path is repeated in every passage.
const MAX_LABEL: usize = 100;

struct Mark<'a> {
    at: usize,
    /// Where the heading's line ends.
    end: usize,
    heading: Heading<'a>,
}

/// The sections of `text`, in order and without a gap. Without any heading, its pages.
pub(crate) fn sections(text: &str, pages: &[usize]) -> Vec<Section> {
    let marks = marks(text);
    if marks.is_empty() {
        let starts = pages.iter().copied().filter(|page| *page > 0);
        let mut sections = Vec::new();
        let mut from = 0;
        for to in starts.chain([text.len()]) {
            sections.push(Section { span: from..to, heading: String::new() });
            from = to;
        }
        return sections;
    }
    under(text, &marks)
}

fn under(text: &str, marks: &[Mark<'_>]) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut path: Vec<(u8, String)> = Vec::new();
    // What stands before the first heading is a section without one.
    let first = marks.first().map_or(text.len(), |mark| mark.at);
    let preface = text.get(..first).unwrap_or_default();
    let mut from = 0;
    if !preface.trim().is_empty() {
        sections.push(Section { span: 0..first, heading: String::new() });
        from = first;
    }
    let ends = marks.iter().skip(1).map(Some).chain([None]);
    for (mark, next) in marks.iter().zip(ends) {
        path.retain(|(rank, _)| *rank < mark.heading.rank);
        path.push((mark.heading.rank, mark.heading.label.chars().take(MAX_LABEL).collect()));

        let end = next.map_or(text.len(), |next| next.at);
        let body = text.get(mark.end..end).unwrap_or_default();
        // A heading with nothing but deeper headings below it stands with the first of them.
        let bare = mark.heading.alone && body.trim().is_empty();
        if bare && next.is_some_and(|next| next.heading.rank > mark.heading.rank) {
            continue;
        }
        let labels: Vec<&str> = path.iter().map(|(_, label)| label.as_str()).collect();
        sections.push(Section { span: from..end, heading: labels.join(" > ") });
        from = end;
    }
    sections
}

fn marks(text: &str) -> Vec<Mark<'_>> {
    let mut marks = Vec::new();
    let (mut at, mut fenced, mut after_blank) = (0, false, true);
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        let rest = text.get(end..).unwrap_or_default();
        if !fenced
            && after_blank
            && let Some((heading, under)) = structure::underlined(line, rest)
        {
            marks.push(Mark { at: start, end: end + under, heading });
            continue;
        }
        let heading = if fenced { None } else { structure::heading(line.trim_end()) };
        let heading = heading.or_else(|| {
            let (_, heading) = structure::numbered(line).filter(|_| after_blank && !fenced)?;
            is_followed_by_text(rest).then_some(heading)
        });
        after_blank = line.trim().is_empty() || heading.is_some();
        marks.extend(heading.map(|heading| Mark { at: start, end, heading }));
    }
    marks
}

/// Whether the next line with anything on it is no list item: `1. 목적` above `2. 범위` is one
/// item of two, above a paragraph it is a heading.
fn is_followed_by_text(rest: &str) -> bool {
    let next = rest.lines().find(|line| !line.trim().is_empty());
    next.is_some_and(|line| structure::numbered(line.trim()).is_none())
}
