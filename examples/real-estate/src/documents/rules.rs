//! What is looked for in a contract, read from `data/contract_rules.toml`.

use serde::Deserialize;
use toml::Spanned;

use super::findings::{FindingKind, Risk};
use crate::data::DataError;
use crate::data::limits::Source;

/// The file that ships with the program.
const SHIPPED: &str = include_str!("../../data/contract_rules.toml");

/// Something that a sentence of a contract says, or that none does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which no other rule has.
    pub id: String,
    /// What it finds.
    pub kind: FindingKind,
    /// How bad it is.
    pub risk: Risk,
    /// The groups of words, of each of which a sentence has one. Without spaces.
    all: Vec<Vec<String>>,
    /// The words that a sentence has not. Without spaces.
    none: Vec<String>,
    /// What is wrong, for a reader.
    pub finding: String,
    /// What to do about it, for a reader.
    pub advice: String,
    /// Where it stands.
    pub source: Source,
}

impl Rule {
    /// Whether a sentence, which has no spaces, says it.
    pub(super) fn matches(&self, sentence: &str) -> bool {
        let has = |word: &String| sentence.contains(word.as_str());
        self.all.iter().all(|group| group.iter().any(has)) && !self.none.iter().any(has)
    }
}

/// The rules, in the order of their file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractRules {
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: Spanned<String>,
    kind: FindingKind,
    risk: Risk,
    all: Spanned<Vec<Vec<String>>>,
    none: Spanned<Vec<String>>,
    finding: Spanned<String>,
    advice: Spanned<String>,
    law: Spanned<String>,
    article: Spanned<String>,
    as_of: Spanned<String>,
}

impl ContractRules {
    /// The rules in `text`, which is TOML as `data/contract_rules.toml`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of what is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let fault = |at: Option<usize>, reason: String| {
            let before = at.and_then(|at| text.get(..at));
            let line = before.map(|before| before.matches('\n').count() + 1);
            DataError { file: file.into(), line, reason }
        };
        let rows: File = toml::from_str(text).map_err(|error| {
            fault(error.span().map(|span| span.start), error.message().to_owned())
        })?;
        if rows.rule.is_empty() {
            return Err(fault(None, "there is no rule; write one under `[[rule]]`".to_owned()));
        }
        let mut rules: Vec<Rule> = Vec::new();
        for row in rows.rule {
            if rules.iter().any(|rule| rule.id == *row.id.get_ref()) {
                let reason = format!("the rule `{}` stands twice", row.id.get_ref());
                return Err(fault(Some(row.id.span().start), reason));
            }
            for field in [&row.id, &row.finding, &row.advice, &row.law, &row.article] {
                if field.get_ref().trim().is_empty() {
                    return Err(fault(Some(field.span().start), "this text is empty".to_owned()));
                }
            }
            let is_wrong = |word: &String| word.is_empty() || word.contains(char::is_whitespace);
            let groups = row.all.get_ref();
            let no_words = groups.is_empty() || groups.iter().any(Vec::is_empty);
            if no_words || groups.iter().flatten().any(is_wrong) {
                let reason = "each group of `all` has words, and a word has no spaces";
                return Err(fault(Some(row.all.span().start), reason.to_owned()));
            }
            if row.none.get_ref().iter().any(is_wrong) {
                let reason = "a word of `none` has no spaces and is not empty";
                return Err(fault(Some(row.none.span().start), reason.to_owned()));
            }
            let day = row.as_of.get_ref();
            let as_of = day.parse().map_err(|_cause| {
                let reason = format!("`{day}` is no day; write it as \"2025-05-29\"");
                fault(Some(row.as_of.span().start), reason)
            })?;
            let (law, article) = (row.law.into_inner(), row.article.into_inner());
            rules.push(Rule {
                id: row.id.into_inner(),
                kind: row.kind,
                risk: row.risk,
                all: row.all.into_inner(),
                none: row.none.into_inner(),
                finding: row.finding.into_inner(),
                advice: row.advice.into_inner(),
                source: Source { law, article, as_of, note: None },
            });
        }
        Ok(Self { rules })
    }

    /// The rules that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/contract_rules.toml", SHIPPED)
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, want) in [
            (
                "id = \"increase_at_will\"",
                "id = \"renewal_waived\"",
                "r.toml:17: the rule `renewal_waived` stands twice",
            ),
            ("[[\"부속물\"]", "[[\"부속 물\"]", "r.toml:68: each group of `all` has words"),
            ("article = \"제536조\"", "article = \"\"", "r.toml:97: this text is empty"),
            (
                "kind = \"replaced\"\nrisk = \"medium\"",
                "kind = \"bad\"\nrisk = \"medium\"",
                "r.toml:66: unknown variant `bad`",
            ),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = ContractRules::parse("r.toml", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}");
        }
        let error = ContractRules::parse("r.toml", "").unwrap_err();
        assert_eq!(error.to_string(), "r.toml: there is no rule; write one under `[[rule]]`");
    }
}
