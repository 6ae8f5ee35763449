//! Visual lines to text.

use hanok_retrieval::backend as structure;

/// A line as it stands on the page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// How far it stands below the line before, in points; negative when above, as in a next column.
    pub(crate) step: f32,
    /// Where it ends, in points from the left.
    pub(crate) end: f32,
}

/// Joins the lines of a page to paragraphs: a break that the page's width made becomes a space, one
/// that the writer made stays.
///
/// Whether a page breaks Korean between or inside words cannot be seen; a space is right for the
/// former, and the bigrams of both halves are found either way.
pub(crate) fn join(lines: &[Line]) -> String {
    let lines: Vec<&Line> = lines.iter().filter(|line| !is_page_number(&line.text)).collect();
    let usual = usual_step(&lines);
    let right = lines.iter().map(|line| line.end).fold(0.0, f32::max);
    let mut text = String::new();
    let mut before: Option<&Line> = None;
    for line in lines {
        let shown = line.text.trim();
        if shown.is_empty() {
            continue;
        }
        if let Some(before) = before {
            text.push_str(between(before, line, usual, right));
        }
        text.push_str(shown);
        before = Some(line);
    }
    text
}

fn between(before: &Line, line: &Line, usual: f32, right: f32) -> &'static str {
    if line.step > usual * 1.35 {
        "\n\n"
    } else if structure::begins(line.text.trim())
        || structure::heading(before.text.trim()).is_some_and(|heading| heading.alone)
        || before.end < right * 0.8
    {
        "\n"
    } else {
        " "
    }
}

/// The distance of two lines of one paragraph: a quarter of the distances are shorter. Where most
/// paragraphs have one or two lines, the median would be the distance of paragraphs.
fn usual_step(lines: &[&Line]) -> f32 {
    let mut steps: Vec<f32> =
        lines.iter().map(|line| line.step).filter(|step| *step > 0.0).collect();
    steps.sort_by(f32::total_cmp);
    steps.get(steps.len() / 4).copied().unwrap_or(f32::MAX)
}

/// `- 3 -`, `3 / 12`: says nothing and would stand in the middle of a sentence.
fn is_page_number(line: &str) -> bool {
    let line = line.trim();
    let bare = line.chars().filter(|c| !c.is_whitespace());
    let marked = line.starts_with('-') && line.ends_with('-') || line.contains('/');
    marked
        && line.chars().any(|c| c.is_ascii_digit())
        && bare.clone().count() <= 9
        && bare.clone().all(|c| c.is_ascii_digit() || matches!(c, '-' | '/'))
        && bare.filter(|c| *c == '/').count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_of_the_page_is_a_space_and_one_of_the_writer_stays() {
        let line = |text: &str, step, end| Line { text: text.to_owned(), step, end };
        let page = [
            line("제1장 총칙", 0.0, 120.0),
            line("제1조(목적) 이 지침은 회사의 정보를", 30.0, 500.0),
            line("보호하는 것을 목적으로 한다.", 18.0, 300.0),
            line("제2조(정의) 용어는 다음과 같다.", 18.0, 490.0),
            line("1. 자산: 회사가 가진 것", 18.0, 200.0),
            line("- 2 -", 18.0, 300.0),
        ];
        assert_eq!(
            join(&page),
            "제1장 총칙\n\n제1조(목적) 이 지침은 회사의 정보를 보호하는 것을 목적으로 한다.\n\
             제2조(정의) 용어는 다음과 같다.\n1. 자산: 회사가 가진 것"
        );
    }

    #[test]
    fn page_numbers_are_told_from_numbers() {
        for (line, want) in [
            ("- 3 -", true),
            ("3 / 12", true),
            ("-3-", true),
            ("3", false),
            ("2026/11/21", false),
            ("- 항목 -", false),
        ] {
            assert_eq!(is_page_number(line), want, "{line}");
        }
    }
}
