//! A moment in its zones.

use hanok_core::Timestamp;
use hanok_tools::{ClockError, datetime_in};
use proptest::prelude::*;

/// 2026-11-22T00:30:15.250Z, a Sunday.
const NOW: Timestamp = Timestamp(1_795_307_415_250);

#[test]
fn a_moment_is_told_as_the_wall_clock_of_a_zone_shows_it() {
    for (zone, want) in [
        ("Asia/Seoul", "2026-11-22T09:30:15+09:00, 일요일 (Sunday), Asia/Seoul, UTC+09:00"),
        (" asia/seoul\n", "2026-11-22T09:30:15+09:00, 일요일 (Sunday), Asia/Seoul, UTC+09:00"),
        ("UTC", "2026-11-22T00:30:15+00:00, 일요일 (Sunday), UTC, UTC+00:00"),
        (
            "America/New_York",
            "2026-11-21T19:30:15-05:00, 토요일 (Saturday), America/New_York, UTC-05:00",
        ),
        ("Asia/Kathmandu", "2026-11-22T06:15:15+05:45, 일요일 (Sunday), Asia/Kathmandu, UTC+05:45"),
    ] {
        assert_eq!(datetime_in(NOW, zone).unwrap().to_string(), want, "{zone:?}");
    }
}

#[test]
fn the_offset_is_that_of_the_moment() {
    let summer = Timestamp(1_782_864_000_000);
    assert_eq!(datetime_in(summer, "America/New_York").unwrap().offset, "-04:00");
    assert_eq!(datetime_in(NOW, "America/New_York").unwrap().offset, "-05:00");
}

#[test]
fn an_unknown_zone_lists_near_names() {
    for (zone, want) in [
        ("", "no time zone ``; use an IANA name such as `Asia/Seoul`, `America/New_York` or `UTC`"),
        ("Seoul", "no time zone `Seoul`; did you mean `Asia/Seoul`?"),
        ("Asia/Soul", "no time zone `Asia/Soul`; did you mean `Asia/Seoul`?"),
        ("KST", "no time zone `KST`; did you mean `Asia/Seoul`?"),
        ("서울", "no time zone `서울`; did you mean `Asia/Seoul`?"),
        ("new york", "no time zone `new york`; did you mean `America/New_York`?"),
        (
            "Mars/Olympus",
            "no time zone `Mars/Olympus`; use an IANA name such as `Asia/Seoul`, `America/New_York` or `UTC`",
        ),
        (
            "../../etc/passwd",
            "no time zone `../../etc/passwd`; use an IANA name such as `Asia/Seoul`, `America/New_York` or `UTC`",
        ),
        (
            "a\u{1b}b",
            "no time zone `a\\u{1b}b`; use an IANA name such as `Asia/Seoul`, `America/New_York` or `UTC`",
        ),
    ] {
        assert_eq!(datetime_in(NOW, zone).unwrap_err().to_string(), want, "{zone:?}");
    }
}

#[test]
fn a_moment_that_no_calendar_holds_is_an_error() {
    assert_eq!(datetime_in(Timestamp(u64::MAX), "UTC"), Err(ClockError::OutOfRange));
    assert_eq!(datetime_in(Timestamp(253_402_300_800_000), "UTC"), Err(ClockError::OutOfRange));
    assert_eq!(datetime_in(Timestamp(0), "UTC").unwrap().iso, "1970-01-01T00:00:00+00:00");
}

proptest! {
    /// P59
    #[test]
    fn no_zone_and_no_moment_makes_it_panic(now in any::<u64>(), zone in ".{0,80}") {
        let _report = datetime_in(Timestamp(now), &zone);
    }
}
