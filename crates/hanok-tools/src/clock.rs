//! A moment, told in a time zone.

use std::fmt;

use hanok_core::{Timestamp, near};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::Serialize;
use thiserror::Error;

/// The zone where the machine's is not known.
const UTC: &str = "UTC";

/// Names of zones that people use and the database does not have, with what they most likely mean.
const COMMON_NAMES: [(&str, &str); 10] = [
    ("kst", "Asia/Seoul"),
    ("korea", "Asia/Seoul"),
    ("한국", "Asia/Seoul"),
    ("서울", "Asia/Seoul"),
    ("jst", "Asia/Tokyo"),
    ("일본", "Asia/Tokyo"),
    ("도쿄", "Asia/Tokyo"),
    ("pst", "America/Los_Angeles"),
    ("뉴욕", "America/New_York"),
    ("런던", "Europe/London"),
];

/// How many near names an error lists.
const SUGGESTIONS: usize = 3;

/// A moment as a clock and a calendar on the wall of `zone` show it.
///
/// Displayed as one line: `2026-01-01T09:00:00+09:00, 목요일 (Thursday), Asia/Seoul, UTC+09:00`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DateTimeReport {
    /// ISO 8601 to the second, with the offset: `2026-01-01T09:00:00+09:00`.
    pub iso: String,
    /// `월요일` to `일요일`.
    pub weekday_ko: &'static str,
    /// `Monday` to `Sunday`.
    pub weekday_en: &'static str,
    /// The zone as the database spells it: `Asia/Seoul`.
    pub zone: String,
    /// The offset from UTC at that moment: `+09:00`.
    pub offset: String,
}

impl fmt::Display for DateTimeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { iso, weekday_ko, weekday_en, zone, offset } = self;
        write!(f, "{iso}, {weekday_ko} ({weekday_en}), {zone}, UTC{offset}")
    }
}

/// Why a moment cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ClockError {
    /// No zone has this name. `near` holds those that are spelled like it, possibly none.
    #[error("no time zone `{zone}`; {}", suggest(near))]
    #[allow(missing_docs, reason = "the message names the fields")]
    UnknownZone { zone: String, near: Vec<String> },
    /// The moment is after the year 9999.
    #[error("the time is out of range")]
    OutOfRange,
}

fn suggest(near: &[String]) -> String {
    if near.is_empty() {
        return "use an IANA name such as `Asia/Seoul`, `America/New_York` or `UTC`".to_owned();
    }
    let names: Vec<_> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", names.join(" or "))
}

/// Tells `now` in the IANA time zone `zone`, in any case.
///
/// The zones are those of the database that is compiled in; nothing is read from the machine.
///
/// # Errors
///
/// [`ClockError::UnknownZone`] with near names, [`ClockError::OutOfRange`].
///
/// ```
/// use hanok_core::Timestamp;
/// use hanok_tools::datetime_in;
///
/// let now = Timestamp(1_767_225_600_000);
/// let report = datetime_in(now, "america/new_york")?;
/// assert_eq!(
///     report.to_string(),
///     "2025-12-31T19:00:00-05:00, 수요일 (Wednesday), America/New_York, UTC-05:00",
/// );
///
/// let wrong = datetime_in(now, "Seoul").unwrap_err();
/// assert_eq!(wrong.to_string(), "no time zone `Seoul`; did you mean `Asia/Seoul`?");
/// # Ok::<(), hanok_tools::ClockError>(())
/// ```
pub fn datetime_in(now: Timestamp, zone: &str) -> Result<DateTimeReport, ClockError> {
    let named = zone.trim();
    let zone = get(named)?;
    let moment =
        i64::try_from(now.0).ok().and_then(|now| jiff::Timestamp::from_millisecond(now).ok());
    let zoned = moment.ok_or(ClockError::OutOfRange)?.to_zoned(zone);

    let (weekday_ko, weekday_en) = weekday(zoned.weekday());
    Ok(DateTimeReport {
        iso: zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        weekday_ko,
        weekday_en,
        zone: zoned.time_zone().iana_name().unwrap_or(named).to_owned(),
        offset: zoned.strftime("%:z").to_string(),
    })
}

/// The zone of the machine, if it has a name that is known here, or else UTC.
pub(crate) fn machine_zone() -> String {
    let machine = TimeZone::try_system().ok();
    let named = machine.as_ref().and_then(TimeZone::iana_name);
    named.and_then(|named| known_zone(named).ok()).unwrap_or_else(|| UTC.to_owned())
}

/// The name of the zone `named` as the database spells it.
pub(crate) fn known_zone(named: &str) -> Result<String, ClockError> {
    let named = named.trim();
    Ok(get(named)?.iana_name().unwrap_or(named).to_owned())
}

fn get(named: &str) -> Result<TimeZone, ClockError> {
    let zones = TimeZoneDatabase::bundled();
    zones.get(named).map_err(|_not_there| unknown(named, &zones))
}

fn weekday(weekday: jiff::civil::Weekday) -> (&'static str, &'static str) {
    use jiff::civil::Weekday;
    match weekday {
        Weekday::Monday => ("월요일", "Monday"),
        Weekday::Tuesday => ("화요일", "Tuesday"),
        Weekday::Wednesday => ("수요일", "Wednesday"),
        Weekday::Thursday => ("목요일", "Thursday"),
        Weekday::Friday => ("금요일", "Friday"),
        Weekday::Saturday => ("토요일", "Saturday"),
        Weekday::Sunday => ("일요일", "Sunday"),
    }
}

/// The error for a name that the database does not have. A long one is cut.
fn unknown(named: &str, zones: &TimeZoneDatabase) -> ClockError {
    let zone: String = named.chars().take(48).flat_map(char::escape_debug).collect();
    let lower = named.to_lowercase();
    let common = COMMON_NAMES.iter().find(|(name, _)| *name == lower);
    let near = match common {
        Some((_, meant)) => vec![(*meant).to_owned()],
        None => {
            let known: Vec<_> = zones.available().map(|name| name.as_str().to_owned()).collect();
            near(&lower, &known, SUGGESTIONS)
        }
    };
    ClockError::UnknownZone { zone, near }
}
