//! Amounts: which a question asks for, and whether a text has one.

use crate::offline::tables;

/// Whether the question asks for an amount.
pub(crate) fn is_asked(question: &str) -> bool {
    let question = question.to_lowercase();
    units_for(&question).is_some() || counted(&question).is_some()
}

/// The units of an answer to what the question asks for.
fn units_for(question: &str) -> Option<Vec<&'static str>> {
    let mut answers = tables::ANSWERS.iter().filter_map(|item| item.split_once('='));
    let asks = |(asks, _): &(&str, &str)| asks.split('/').any(|ask| question.contains(ask));
    answers.find(asks).map(|(_, units)| units.split('/').collect())
}

/// Whether a text has an amount of what the question asks for.
pub(crate) fn is_answer(question: &str, text: &str) -> bool {
    let lower = question.to_lowercase();
    if let Some(unit) = counted(&lower) {
        return has_amount(text, &[unit]);
    }
    if lower.contains("누구에게") || lower.contains("누구한테") {
        return text.contains("에게");
    }
    units_for(&lower).is_some_and(|units| {
        has_amount(text, &units) || tables::AMOUNTS.iter().any(|amount| text.contains(amount))
    })
}

/// The unit that is asked for: `몇 줄까지` is about 줄.
pub(crate) fn counted(question: &str) -> Option<&str> {
    let behind = question.split("몇 ").nth(1)?;
    let word = behind.split(|c: char| !c.is_alphanumeric()).next()?;
    let stem = tables::PARTICLES
        .iter()
        .filter_map(|end| word.strip_suffix(end))
        .filter(|stem| !stem.is_empty());
    stem.min_by_key(|stem| stem.len()).or(Some(word)).filter(|unit| !unit.is_empty())
}

/// Whether one of `units` stands behind a number.
fn has_amount(text: &str, units: &[&str]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let behind = rest.get(at..).unwrap_or_default();
        let behind =
            behind.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
        let unit = behind.trim_start_matches(['만', '천', '억', '백']);
        if units
            .iter()
            .any(|wanted| unit.trim_start().starts_with(wanted) || behind.starts_with(wanted))
        {
            return true;
        }
        rest = behind;
    }
    let written =
        |numeral: &str| units.iter().any(|unit| text.contains(&format!("{numeral}{unit}")));
    tables::NUMERALS.iter().any(|numeral| written(numeral))
}

#[cfg(test)]
mod tests {
    use super::is_answer;

    #[test]
    fn an_amount_answers_a_question_for_its_kind() {
        for (question, text, want) in [
            ("며칠이야?", "연 3일이다", true),
            ("며칠이야?", "사흘을 쉰다", true),
            ("며칠이야?", "3번 한다", false),
            ("얼마야?", "5만 원을 준다", true),
            ("얼마야?", "$ 표시가 없다", false),
            ("몇 줄까지 돼?", "70줄 이하", true),
            ("몇 줄까지 돼?", "70쪽 이하", false),
            ("몇 명이 봐?", "두 명이 본다", true),
            ("누구에게 말해?", "반장에게 말한다", true),
            ("how many lamps?", "12 lamps", true),
            ("왜 그래?", "3일", false),
        ] {
            assert_eq!(is_answer(question, text), want, "{question} {text}");
        }
    }
}
