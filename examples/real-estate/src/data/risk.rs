//! The words for what a market says, read from `data/market_risk.toml`.

use hanok_figures::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{DataError, Origin};

/// The file that ships with the program.
pub(super) const SHIPPED: &str = include_str!("../../data/market_risk.toml");

/// How dangerous something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Danger {
    /// 낮음.
    Low,
    /// 중간.
    Medium,
    /// 높음.
    High,
}

impl Danger {
    /// The name in Korean.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "낮음",
            Self::Medium => "중간",
            Self::High => "높음",
        }
    }
}

/// A range of values in per cent, and the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// The greatest value. `None` in the last band.
    pub up_to: Option<Number>,
    /// How dangerous such a value is.
    pub level: Danger,
    /// What it says, for a reader: a sentence without its full stop.
    pub words: String,
}

/// Bands in rising order, of which the last has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bands {
    rows: Vec<Band>,
    last: Band,
}

impl Bands {
    /// The band of a value.
    #[must_use]
    pub fn of(&self, value: &Number) -> &Band {
        let fits = |most: &Number| !value.compare(most).is_gt();
        let mut rows = self.rows.iter();
        rows.find(|band| band.up_to.as_ref().is_some_and(fits)).unwrap_or(&self.last)
    }
}

/// The tables for the words about a market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RiskTable {
    /// Where the tables come from.
    pub origin: Origin,
    /// For a deposit as a share of a price.
    pub jeonse_ratio: Bands,
    /// For a change over twelve months.
    pub trend: Bands,
    /// For the distance from an average.
    pub deviation: Bands,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: Spanned<String>,
    source: Spanned<String>,
    jeonse_ratio: Spanned<Vec<Row>>,
    trend: Spanned<Vec<Row>>,
    deviation: Spanned<Vec<Row>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    up_to: Option<Spanned<String>>,
    level: Danger,
    words: Spanned<String>,
}

impl RiskTable {
    /// The tables in `text`, which is TOML as `data/market_risk.toml`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of a row that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, DataError> {
        let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let tables: File = toml::from_str(text).map_err(|error| DataError {
            file: file.into(),
            line: error.span().map(|span| line(span.start)),
            reason: error.message().to_owned(),
        })?;
        let at =
            if tables.source.get_ref().trim().is_empty() { &tables.source } else { &tables.as_of };
        let origin_line = line(at.span().start);
        let bands = |rows: Spanned<Vec<Row>>| bands(file, &line, rows);
        Ok(Self {
            origin: Origin::parse(
                file,
                origin_line,
                tables.as_of.get_ref(),
                tables.source.get_ref(),
            )?,
            jeonse_ratio: bands(tables.jeonse_ratio)?,
            trend: bands(tables.trend)?,
            deviation: bands(tables.deviation)?,
        })
    }

    /// The tables that ship with the program.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: the file is part of the program, and its tests read it.
    pub fn shipped() -> Result<Self, DataError> {
        Self::parse("data/market_risk.toml", SHIPPED)
    }
}

fn bands(
    file: &str,
    line: &impl Fn(usize) -> usize,
    rows: Spanned<Vec<Row>>,
) -> Result<Bands, DataError> {
    let start = line(rows.span().start);
    let mut bands: Vec<Band> = Vec::new();
    let mut last: Option<Band> = None;
    for row in rows.into_inner() {
        let at = line(row.words.span().start);
        if row.words.get_ref().trim().is_empty() {
            return Err(DataError::at(file, at, "the words are empty"));
        }
        if last.is_some() {
            return Err(DataError::at(
                file,
                at,
                "a row follows the one without `up_to`, which is the last",
            ));
        }
        let (level, words) = (row.level, row.words.into_inner());
        let Some(written) = row.up_to else {
            last = Some(Band { up_to: None, level, words });
            continue;
        };
        let at = line(written.span().start);
        let text = written.into_inner();
        let number: Number = text.parse().map_err(|_cause| {
            DataError::at(file, at, format!("`{text}` is no decimal number; write it as \"60\""))
        })?;
        let before = bands.last().and_then(|band| band.up_to.as_ref());
        if before.is_some_and(|before| !before.compare(&number).is_lt()) {
            return Err(DataError::at(
                file,
                at,
                format!("`{text}` is not more than the row before"),
            ));
        }
        bands.push(Band { up_to: Some(number), level, words });
    }
    let last = last.ok_or_else(|| {
        DataError::at(file, start, "the table has no last row, which is one without `up_to`")
    })?;
    Ok(Bands { rows: bands, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_first_band_that_it_does_not_pass() {
        let table = RiskTable::shipped().unwrap();
        for (value, want) in [
            ("0", Danger::Low),
            ("60", Danger::Low),
            ("60.01", Danger::Medium),
            ("80.5", Danger::High),
        ] {
            assert_eq!(table.jeonse_ratio.of(&value.parse().unwrap()).level, want, "{value}");
        }
        assert_eq!(table.trend.of(&"-5.1".parse().unwrap()).words, "크게 내렸습니다");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, want) in [
            ("up_to = \"60\"", "up_to = \"viel\"", "r.toml:7: `viel` is no decimal number"),
            ("up_to = \"70\"", "up_to = \"60\"", "r.toml:12: `60` is not more than the row before"),
            ("up_to = \"60\"\n", "", "r.toml:13: a row follows the one without `up_to`"),
            ("level = \"low\"", "level = \"none\"", "r.toml:8: unknown variant `none`"),
            ("words = \"내렸습니다\"", "words = \"\"", "r.toml:34: the words are empty"),
            ("as_of = \"2026-06-30\"", "as_of = \"2026\"", "r.toml:2: `2026` is no day"),
            (
                "[[trend]]\nlevel = \"medium\"",
                "[[trend]]\nup_to = \"9\"\nlevel = \"medium\"",
                "r.toml:26: the table has no last row",
            ),
        ] {
            assert!(SHIPPED.contains(from), "{from}");
            let error = RiskTable::parse("r.toml", &SHIPPED.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().starts_with(want), "{error}\n{want}");
        }
    }
}
