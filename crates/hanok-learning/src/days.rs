//! Days, as a text names them.

use hanok_core::Timestamp;
use serde::{Deserialize, Serialize};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// The days of a place on earth, by its offset from UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Days {
    offset: i64,
}

impl Days {
    /// The days where clocks are `minutes` before those of UTC: 540 in Korea.
    ///
    /// ```
    /// use hanok_core::Timestamp;
    /// use hanok_learning::Days;
    ///
    /// let evening = Timestamp(1_772_409_600_000);
    /// assert_eq!(Days::default().name(evening), "2026-03-02");
    /// assert_eq!(Days::ahead_of_utc(540).name(Timestamp(evening.0 - 1)), "2026-03-02");
    /// assert_eq!(Days::default().name(Timestamp(evening.0 - 1)), "2026-03-01");
    /// ```
    #[must_use]
    pub fn ahead_of_utc(minutes: i16) -> Self {
        Self { offset: i64::from(minutes) * MINUTE }
    }

    /// The day of `time`, as `2026-03-02` (ISO 8601).
    #[must_use]
    pub fn name(self, time: Timestamp) -> String {
        let millis = i64::try_from(time.0).unwrap_or(i64::MAX).saturating_add(self.offset);
        let (year, month, day) = civil(millis.div_euclid(DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }
}

/// The date of a day, counted from 1970-01-01 (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, want) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (789, (1972, 2, 29)),
            (11_016, (2000, 2, 29)),
            (20_514, (2026, 3, 2)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(civil(days), want, "{days}");
        }
        assert_eq!(Days::ahead_of_utc(-1).name(Timestamp(0)), "1969-12-31");
        assert!(Days::default().name(Timestamp(u64::MAX)).ends_with("-17"));
    }
}
