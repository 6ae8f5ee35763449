//! The date of HTTP (RFC 9110, 5.6.7), in the one form that a server may send: `Sun, 06 Nov 1994 08:49:37 GMT`.

use hanok_core::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The moment that `text` names, from 1970 to 9999. The day of the week is not looked at.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (_, date) = text.split_once(", ")?;
    let fields: Vec<_> = date.split(' ').collect();
    let [day, month, year, time, "GMT"] = fields[..] else { return None };
    let month = u64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let (day, year) = (number(day, 2)?, number(year, 4)?);
    let clock: Vec<_> = time.split(':').map(|part| number(part, 2)).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = clock[..] else { return None };
    // A leap second is the last of its minute once more.
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let days = days(year, month, day)?;
    Some(Timestamp((((days * 24 + hours) * 60 + minutes) * 60 + seconds.min(59)) * 1_000))
}

/// A number of so many digits.
fn number(text: &str, digits: usize) -> Option<u64> {
    let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// The days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let length = match month {
        2 => 28 + u64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if year < 1970 || !(1..=length).contains(&day) {
        return None;
    }
    // The days of a year before the first of each month, and the leap days of all years before.
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let before = BEFORE.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let leap_days = leaps(year - 1) - leaps(1969) + u64::from(month > 2 && leap(year));
    Some((year - 1970) * 365 + leap_days + before + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_moment_or_none() {
        for (text, want) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Tue, 29 Feb 2000 23:59:59 GMT", Some(951_868_799)),
            ("Sat, 31 Dec 2016 23:59:60 GMT", Some(1_483_228_799)),
            ("Mon, 01 Mar 2100 00:00:00 GMT", Some(4_107_542_400)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(253_402_300_799)),
            ("Mon, 29 Feb 2100 00:00:00 GMT", None),
            ("Thu, 31 Apr 2026 00:00:00 GMT", None),
            ("Thu, 00 Apr 2026 00:00:00 GMT", None),
            ("Wed, 31 Dec 1969 23:59:59 GMT", None),
            ("Sun, 6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 +0900", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Not 1994 08:49:37 GMT", None),
            ("Sun, +6 Nov 1994 08:49:37 GMT", None),
            ("", None),
        ] {
            let want = want.map(|seconds: u64| Timestamp(seconds * 1_000));
            assert_eq!(parse(text), want, "{text:?}");
        }
    }

    #[test]
    fn each_day_follows_the_one_before() {
        let mut before = None;
        for year in 1970..2110 {
            for (month, day) in (1..=12).flat_map(|month| (1..=31).map(move |day| (month, day))) {
                if let Some(day) = days(year, month, day) {
                    assert_eq!(day, before.map_or(0, |before| before + 1), "{year}-{month}");
                    before = Some(day);
                }
            }
        }
    }
}
