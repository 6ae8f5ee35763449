//! Right or wrong, and the table.

use std::{collections::BTreeMap, fmt::Write};

use crate::evaluation::Question;

/// True for an answer that names all that it has to and nothing that does not hold any more; for what was never said, for none.
pub(crate) fn is_right(question: &Question, answer: Option<&str>) -> bool {
    match answer {
        None => question.expected.is_empty(),
        Some(answer) => {
            let has = |text: &String| answer.contains(text.as_str());
            !question.expected.is_empty()
                && question.expected.iter().all(has)
                && !question.wrong.iter().any(has)
        }
    }
}

/// What one way came to.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Of each ability the right ones and all.
    abilities: BTreeMap<String, (u64, u64)>,
    tokens: u64,
    millis: f64,
}

impl Table {
    pub(crate) fn add(&mut self, ability: &str, right: bool, tokens: u64, millis: f64) {
        let of_ability = self.abilities.entry(ability.to_owned()).or_default();
        of_ability.0 += u64::from(right);
        of_ability.1 += 1;
        self.tokens += tokens;
        self.millis += millis;
    }

    pub(crate) fn right(&self, ability: &str) -> u64 {
        self.abilities.get(ability).map_or(0, |of_ability| of_ability.0)
    }

    pub(crate) fn questions(&self) -> u64 {
        self.abilities.values().map(|of_ability| of_ability.1).sum()
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.tokens
    }
}

/// The table, in Markdown.
pub(crate) fn drawn(ways: &[(&str, &Table)]) -> String {
    let mut text = String::from("| |");
    let (_, first) = ways[0];
    for (ability, (_, all)) in &first.abilities {
        write!(text, " {ability} ({all}) |").unwrap();
    }
    text += " right | tokens a question | ms a question |\n| --- |";
    text += &" --- |".repeat(first.abilities.len() + 3);
    for (way, table) in ways {
        write!(text, "\n| {way} |").unwrap();
        for (right, _) in table.abilities.values() {
            write!(text, " {right} |").unwrap();
        }
        let right: u64 = table.abilities.values().map(|of_ability| of_ability.0).sum();
        let all = table.questions() as f64;
        let (tokens, millis) = (table.tokens as f64 / all, table.millis / all);
        write!(text, " {right} | {tokens:.0} | {millis:.2} |").unwrap();
    }
    text
}
