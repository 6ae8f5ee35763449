//! A moment, as it was written.

use jiff::{Timestamp, Zoned, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hours that clocks in Korea are ahead of UTC.
const KOREA: i8 = 9;

/// A moment in the words of RFC 3339: it is shown on the clock of whoever wrote it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", inline, extend("format" = "date-time"))]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    written: String,
}

impl Moment {
    /// The day and the time.
    pub(crate) fn shown(&self) -> String {
        self.written.chars().take("2026-11-30T14:11".len()).collect::<String>().replace('T', " ")
    }
}

impl TryFrom<String> for Moment {
    type Error = jiff::Error;

    fn try_from(written: String) -> Result<Self, jiff::Error> {
        Ok(Self { at: written.parse()?, written })
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.written
    }
}

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        let zone = TimeZone::fixed(jiff::tz::offset(KOREA));
        let written = Zoned::new(at, zone).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        Self { at, written }
    }
}
