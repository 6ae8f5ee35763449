//! Where data come from, and of which day they are.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DataError;

/// Where the data of a file come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The day of which the data are.
    #[schemars(with = "String")]
    pub as_of: Date,
    /// Who made them, and what they are.
    pub source: String,
}

impl Origin {
    /// The origin that two texts of a file write; `line` is where they stand.
    pub(super) fn parse(
        file: &str,
        line: usize,
        as_of: &str,
        source: &str,
    ) -> Result<Self, DataError> {
        let as_of = as_of.trim().parse().map_err(|_cause| {
            DataError::at(file, line, format!("`{as_of}` is no day; write it as 2026-06-30"))
        })?;
        if source.trim().is_empty() {
            return Err(DataError::at(
                file,
                line,
                "the source is empty; say where the data come from",
            ));
        }
        Ok(Self { as_of, source: source.trim().to_owned() })
    }

    /// `2026-06-30 기준. 출처: 지어낸 값.`
    #[must_use]
    pub fn said_in_korean(&self) -> String {
        format!("{} 기준. 출처: {}.", self.as_of, self.source)
    }
}
