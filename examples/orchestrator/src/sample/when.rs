//! Days and times in words.

use jiff::{
    Span, Zoned,
    civil::{Date, Time, Weekday},
};

/// A day and a time that a text names, and the rest of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct When {
    pub(super) day: Option<Date>,
    pub(super) time: Option<Time>,
    pub(super) rest: String,
}

/// The days that are counted from today.
const DAYS: [(&str, i64); 9] = [
    ("오늘", 0),
    ("내일", 1),
    ("모레", 2),
    ("글피", 3),
    ("어제", -1),
    ("today", 0),
    ("tomorrow", 1),
    ("yesterday", -1),
    ("tonight", 0),
];

/// The days of the week.
const WEEKDAYS: [(&str, Weekday); 14] = [
    ("월요일", Weekday::Monday),
    ("화요일", Weekday::Tuesday),
    ("수요일", Weekday::Wednesday),
    ("목요일", Weekday::Thursday),
    ("금요일", Weekday::Friday),
    ("토요일", Weekday::Saturday),
    ("일요일", Weekday::Sunday),
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Reads `text`, where `now` is now.
pub(super) fn read(text: &str, now: &Zoned) -> When {
    let (today, mut when, mut rest) = (now.date(), When::default(), Vec::new());
    let (mut half, mut next_week) = (None, false);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        at += 1;
        if matches!(bare.as_str(), "다음" | "다음주" | "next")
            || bare.starts_with("다음주") && bare.chars().count() <= 4
        {
            next_week = true;
            at += usize::from(words.get(at).is_some_and(|word| matches!(*word, "주" | "week")));
            continue;
        }
        if matches!(bare.as_str(), "오전" | "오후" | "저녁" | "아침" | "밤" | "am" | "pm")
        {
            half = Some(!matches!(bare.as_str(), "오전" | "아침" | "am"));
            continue;
        }
        if matches!(bare.as_str(), "at" | "on" | "반") && when.time.is_none_or(|_| bare != "반") {
            continue;
        }
        if bare == "반" {
            when.time = when.time.and_then(|time| Time::new(time.hour(), 30, 0, 0).ok());
            continue;
        }
        if let Some((_, days)) = DAYS.iter().find(|(name, _)| begins(&bare, name)) {
            when.day = today.checked_add(Span::new().days(*days)).ok();
            continue;
        }
        if let Some((_, weekday)) = WEEKDAYS.iter().find(|(name, _)| begins(&bare, name)) {
            when.day = upcoming(today, *weekday, next_week);
            continue;
        }
        if let Some(month) = number(&bare, "월") {
            let day = words.get(at).and_then(|next| number(next, "일"));
            let date = day.and_then(|day| date(today, month, day));
            if date.is_some() {
                when.day = date;
                at += 1;
                continue;
            }
        }
        if let Ok(date) = bare.parse::<Date>() {
            when.day = Some(date);
            continue;
        }
        if let Some(time) = time(&bare, half) {
            when.time = Some(time);
            continue;
        }
        rest.push(*word);
    }
    when.rest = rest.join(" ");
    when
}

/// Whether `word` is `name`, with at most two letters joined to it.
fn begins(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|joined| joined.chars().count() <= 2)
}

/// The next `weekday` after today, or that of the next week.
fn upcoming(today: Date, weekday: Weekday, next_week: bool) -> Option<Date> {
    if !next_week {
        return today.nth_weekday(1, weekday).ok();
    }
    let monday = today.nth_weekday(1, Weekday::Monday).ok()?;
    let days = i64::from(weekday.to_monday_zero_offset());
    monday.checked_add(Span::new().days(days)).ok()
}

/// The number that stands before `unit`, with at most two letters joined behind.
fn number(word: &str, unit: &str) -> Option<i8> {
    let (digits, joined) = word.split_once(unit)?;
    (joined.chars().count() <= 2).then(|| digits.parse().ok()).flatten()
}

/// The next such day.
fn date(today: Date, month: i8, day: i8) -> Option<Date> {
    let date = Date::new(today.year(), month, day).ok()?;
    if date < today { Date::new(today.year() + 1, month, day).ok() } else { Some(date) }
}

/// A time: `3시`, `15:30`, `3pm`.
fn time(word: &str, half: Option<bool>) -> Option<Time> {
    let (word, half) = match (word.strip_suffix("pm"), word.strip_suffix("am")) {
        (Some(rest), _) => (rest, Some(true)),
        (_, Some(rest)) => (rest, Some(false)),
        _ => (word, half),
    };
    let named = half.is_some();
    let (hour, minute): (i8, i8) = match (word.split_once(':'), word.split_once('시')) {
        (Some((hour, minute)), _) => (hour.parse().ok()?, minute.get(..2)?.parse().ok()?),
        (None, Some((hour, joined))) => {
            let minute = joined.split_once('분').and_then(|(minute, _)| minute.parse().ok());
            (hour.parse().ok()?, minute.unwrap_or(if joined.starts_with('반') { 30 } else { 0 }))
        }
        _ if named => (word.parse().ok()?, 0),
        _ => return None,
    };
    let hour = match half {
        Some(true) if (1..12).contains(&hour) => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_and_times_are_read_out_of_words() {
        // A Thursday.
        let now = date(2026, 11, 26).at(10, 0, 0, 0).in_tz("UTC").unwrap();
        for (text, day, hour, rest) in [
            ("내일 오후 3시에 팀 회의", (11, 27), Some((15, 0)), "팀 회의"),
            ("다음 주 월요일 10시 반 치과", (11, 30), Some((10, 30)), "치과"),
            ("금요일까지 보고", (11, 27), None, "보고"),
            ("12월 3일 14:30 면담", (12, 3), Some((14, 30)), "면담"),
            ("dentist tomorrow at 3pm", (11, 27), Some((15, 0)), "dentist"),
            ("next week friday call", (12, 4), None, "call"),
            ("2026-12-24 party", (12, 24), None, "party"),
        ] {
            let when = read(text, &now);
            let (month, of_month) = day;
            assert_eq!(when.day, Some(date(2026, month, of_month)), "{text}");
            assert_eq!(when.time.map(|time| (time.hour(), time.minute())), hour, "{text}");
            assert_eq!(when.rest, rest, "{text}");
        }
        assert_eq!(read("점심 약속", &now).day, None);
    }
}
