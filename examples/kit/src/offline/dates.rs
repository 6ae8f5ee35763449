//! Days and times in words, against the day and the time that a prompt says it is.

use jiff::{
    Span,
    civil::{Date, DateTime, Time, Weekday},
};

use crate::offline::tables;

/// What a prompt says that it is: `지금: 2026-11-30T14:11+09:00, 월요일, Asia/Seoul`, or the day alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Now {
    at: DateTime,
    offset: String,
}

impl Now {
    /// The last line of a prompt that says it.
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        prompt.lines().rev().find_map(Self::of_line)
    }

    fn of_line(line: &str) -> Option<Self> {
        let (label, said) = line.trim().split_once(": ")?;
        let first = said.split([',', '[', ' ']).next()?;
        let date: Date = first.get(..10)?.parse().ok()?;
        let Some((time, sign, offset)) = first.get(10..).and_then(timed) else {
            let (_, offset) = said.split_once("UTC")?;
            let is_short = label.chars().count() < 12 && first.len() == 10;
            return is_short.then(|| Self { at: date.into(), offset: offset.trim().to_owned() });
        };
        Some(Self { at: date.to_datetime(time), offset: format!("{sign}{offset}") })
    }

    fn written(&self, at: DateTime) -> String {
        format!("{}{}", at.strftime("%Y-%m-%dT%H:%M:%S"), self.offset)
    }
}

/// `T14:11+09:00`
fn timed(text: &str) -> Option<(Time, char, &str)> {
    let text = text.strip_prefix('T')?;
    let at = text.find(['+', '-', 'Z'])?;
    let (time, offset) = text.split_at_checked(at)?;
    match offset.strip_prefix('Z') {
        Some(_) => Some((time.parse().ok()?, '+', "00:00")),
        None => Some((time.parse().ok()?, offset.chars().next()?, offset.get(1..)?)),
    }
}

/// The days and the time that a text names, and the rest of it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct When {
    day: Option<Date>,
    /// How many days are meant, from `day` on.
    days: i64,
    time: Option<Time>,
    /// How long something lasts.
    pub(crate) minutes: Option<u32>,
    /// The text without all of these.
    pub(crate) rest: String,
}

impl When {
    /// The moment. A time without a day is the next such time; a day without a time is no moment.
    pub(crate) fn moment(&self, now: &Now) -> Option<String> {
        let time = self.time?;
        let next = || {
            let today = now.at.date().to_datetime(time);
            if now.at < today { Some(today) } else { today.checked_add(Span::new().days(1)).ok() }
        };
        let at = self.day.map(|day| day.to_datetime(time)).or_else(next)?;
        Some(now.written(at))
    }

    /// From the beginning of the days to their end.
    pub(crate) fn span(&self, now: &Now) -> Option<(String, String)> {
        let from = self.day?;
        let to = from.checked_add(Span::new().days(self.days)).ok()?;
        Some((now.written(from.into()), now.written(to.into())))
    }
}

/// What stands before a day or a time, and says nothing without it.
const BEFORE: [&str; 4] = ["at", "on", "for", "by"];

/// Reads `text`, where it is `now`.
pub(crate) fn read(text: &str, now: &Now) -> When {
    let today = now.at.date();
    let mut when = When { days: 1, ..When::default() };
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |at: usize| {
        let word = words.get(at).copied().unwrap_or_default();
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
    };
    let (mut rest, mut at) = (Vec::new(), 0);
    while let Some(written) = words.get(at) {
        // The word, or what stands before a day or a time, and it.
        let skip = usize::from(BEFORE.contains(&bare(at).as_str()));
        let read = [0, skip].into_iter().find_map(|skip| {
            let read = one(&bare(at + skip), &bare(at + skip + 1), today, &mut when)?;
            Some(skip + read)
        });
        match read {
            Some(read) => at += read,
            None => {
                rest.push(*written);
                at += 1;
            }
        }
    }
    when.rest = rest.join(" ");
    when
}

/// Reads `word`, and `next` behind it: how many of the two were read, none where the word is of no day and no time.
fn one(word: &str, next: &str, today: Date, when: &mut When) -> Option<usize> {
    let week = |word: &str, of: &[&str]| of.iter().any(|name| begins(word, name));
    let is_next = word == "next" || week(word, &["다음", "다음주"]);
    let is_this = word == "this" || week(word, &["이번", "이번주"]);
    if is_next || is_this {
        let joined = word.ends_with('주') || week(word, &["다음주", "이번주"]);
        let is_week = joined || begins(next, "주") || next == "week";
        let weekday = weekday(next);
        if !is_week && weekday.is_none() {
            return None;
        }
        let monday = monday(today, is_next)?;
        (when.day, when.days) = (Some(monday), 7);
        if let Some(weekday) = weekday.filter(|_| joined || word.is_ascii()) {
            (when.day, when.days) = (in_week(monday, weekday), 1);
            return Some(2);
        }
        return Some(if joined { 1 } else { 2 });
    }
    if let Some(days) = named(&tables::DAYS, word) {
        when.day = today.checked_add(Span::new().days(days)).ok();
        return Some(1);
    }
    if let Some(weekday) = weekday(word) {
        when.day = match when.day.filter(|_| when.days == 7) {
            Some(monday) => in_week(monday, weekday),
            None => today.nth_weekday(1, weekday).ok(),
        };
        when.days = 1;
        return Some(1);
    }
    if let Some(month) = number(word, "월").and_then(|month| i8::try_from(month).ok()) {
        let day = number(next, "일").and_then(|day| i8::try_from(day).ok())?;
        when.day = Some(upcoming(today, month, day)?);
        return Some(2);
    }
    if let Ok(date) = word.parse::<Date>() {
        when.day = Some(date);
        return Some(1);
    }
    if let Some((minutes, read)) = lasts(word, next) {
        when.minutes = Some(when.minutes.unwrap_or_default().saturating_add(minutes));
        return Some(read);
    }
    let is = |half: &[&str]| half.contains(&word);
    let half =
        is(&tables::SECOND_HALF).then_some(true).or(is(&tables::FIRST_HALF).then_some(false));
    let (said, read) = if half.is_some() { (next, 2) } else { (word, 1) };
    if half.is_none() && word == "반" && when.time.is_some() {
        when.time = when.time.and_then(|time| Time::new(time.hour(), 30, 0, 0).ok());
        return Some(1);
    }
    when.time = Some(time(said, half)?);
    Some(read)
}

/// The number that a table of `name=number` has for `word`.
fn named(table: &'static [&'static str], word: &str) -> Option<i8> {
    tables::pairs(table).find(|(name, _)| begins(word, name))?.1.parse().ok()
}

/// Whether `word` is `name`, with at most two letters joined to it.
fn begins(word: &str, name: &str) -> bool {
    let joined = word.strip_prefix(name);
    joined.is_some_and(|joined| joined.chars().count() <= if name.is_ascii() { 1 } else { 2 })
}

fn weekday(word: &str) -> Option<Weekday> {
    Weekday::from_monday_zero_offset(named(&tables::WEEKDAYS, word)?).ok()
}

/// The Monday of this week, or of the next.
fn monday(today: Date, is_next: bool) -> Option<Date> {
    let back = i64::from(today.weekday().to_monday_zero_offset());
    today.checked_add(Span::new().days(if is_next { 7 - back } else { -back })).ok()
}

fn in_week(monday: Date, weekday: Weekday) -> Option<Date> {
    monday.checked_add(Span::new().days(i64::from(weekday.to_monday_zero_offset()))).ok()
}

/// The number that stands before `unit`, with at most two letters joined behind.
fn number(word: &str, unit: &str) -> Option<u32> {
    let (digits, joined) = word.split_once(unit)?;
    (joined.chars().count() <= 2).then(|| digits.parse().ok()).flatten()
}

/// How many minutes `word` says, or `word` and `next`, and how many of the two.
fn lasts(word: &str, next: &str) -> Option<(u32, usize)> {
    let of = |text: &str| number(text, "시간").map(|hours| hours.saturating_mul(60));
    let joined = of(word).or_else(|| number(word, "분"));
    if let Some(minutes) = joined {
        return Some((minutes, if matches!(next, "동안" | "간") { 2 } else { 1 }));
    }
    let count: u32 = word.parse().ok()?;
    match next {
        "minutes" | "minute" | "min" | "mins" => Some((count, 2)),
        "hours" | "hour" => Some((count.saturating_mul(60), 2)),
        _ => None,
    }
}

/// The next such day.
fn upcoming(today: Date, month: i8, day: i8) -> Option<Date> {
    let date = Date::new(today.year(), month, day).ok()?;
    if date < today { Date::new(today.year() + 1, month, day).ok() } else { Some(date) }
}

/// A time: `3시`, `15:30`, `3pm`. One before seven that does not say its half is of the second: nobody meets at three in the night.
fn time(word: &str, half: Option<bool>) -> Option<Time> {
    let (word, half) = match (word.strip_suffix("pm"), word.strip_suffix("am")) {
        (Some(rest), _) => (rest, Some(true)),
        (_, Some(rest)) => (rest, Some(false)),
        _ => (word, half),
    };
    let (hour, minute): (i8, i8) = match (word.split_once(':'), word.split_once('시')) {
        (Some((hour, minute)), _) => (hour.parse().ok()?, minute.get(..2)?.parse().ok()?),
        (None, Some((hour, joined))) => {
            let minute = joined.split_once('분').and_then(|(minute, _)| minute.parse().ok());
            (hour.parse().ok()?, minute.unwrap_or(if joined.starts_with('반') { 30 } else { 0 }))
        }
        _ if half.is_some() => (word.parse().ok()?, 0),
        _ => return None,
    };
    let hour = match half {
        Some(true) if (1..12).contains(&hour) => hour + 12,
        Some(false) if hour == 12 => 0,
        None if (1..7).contains(&hour) && !word.starts_with('0') => hour + 12,
        _ => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Now {
        // A Thursday.
        Now::of("Be kind.\n\n지금: 2026-11-26T10:00+09:00, 목요일, Asia/Seoul").unwrap()
    }

    #[test]
    fn a_prompt_says_what_day_it_is() {
        for (line, want) in [
            ("지금: 2026-11-26T10:00+09:00, 목요일, Asia/Seoul", Some("2026-11-26T10:00:00+09:00")),
            ("Now: 2026-11-26T10:00:00-05:00[America/New_York]", Some("2026-11-26T10:00:00-05:00")),
            ("지금: 2026-11-26T10:00Z", Some("2026-11-26T10:00:00+00:00")),
            ("오늘: 2026-11-26, 목요일, Asia/Seoul, UTC+09:00", Some("2026-11-26T00:00:00+09:00")),
            ("The contract: 2026-11-26 is its day", None),
            ("2026-11-26", None),
        ] {
            let read = Now::of(line).map(|now| now.written(now.at));
            assert_eq!(read.as_deref(), want, "{line}");
        }
    }

    #[test]
    fn moments_are_read_out_of_words() {
        for (text, want, minutes, rest) in [
            ("내일 오후 3시에 팀 회의", "11-27T15:00", None, "팀 회의"),
            ("다음 주 월요일 10시 반 치과", "11-30T10:30", None, "치과"),
            ("다음주 월요일 10시 치과", "11-30T10:00", None, "치과"),
            ("모레 저녁 7시 저녁 약속", "11-28T19:00", None, "저녁 약속"),
            ("12월 3일 14:30 면담 30분", "12-03T14:30", Some(30), "면담"),
            ("dentist tomorrow at 3pm for 2 hours", "11-27T15:00", Some(120), "dentist"),
            ("next friday 10:00 call at home", "12-04T10:00", None, "call at home"),
            ("friday 4pm review", "11-27T16:00", None, "review"),
            ("2026-12-24 18:00 party", "12-24T18:00", None, "party"),
            ("내일 3시에 2시간 동안 회의", "11-27T15:00", Some(120), "회의"),
            ("새벽 3시 출발", "11-27T03:00", None, "출발"),
            ("11시 출발", "11-26T11:00", None, "출발"),
        ] {
            let when = read(text, &now());
            let want = format!("2026-{want}:00+09:00");
            assert_eq!(when.moment(&now()), Some(want), "{text}");
            assert_eq!((when.minutes, &*when.rest), (minutes, rest), "{text}");
        }
        for (text, rest) in [("금요일까지 보고", "보고"), ("점심 약속", "점심 약속")]
        {
            let when = read(text, &now());
            assert_eq!((when.moment(&now()), &*when.rest), (None, rest), "{text}");
        }
    }

    #[test]
    fn days_are_read_from_their_beginning_to_their_end() {
        for (text, want) in [
            ("내일 일정", Some(("11-27", "11-28"))),
            ("다음 주 일정", Some(("11-30", "12-07"))),
            ("이번 주 금요일 일정", Some(("11-27", "11-28"))),
            ("어제 일정이 뭐 있었어?", Some(("11-25", "11-26"))),
            ("일정 목록", None),
        ] {
            let day = |day: &str| format!("2026-{day}T00:00:00+09:00");
            let want = want.map(|(from, to)| (day(from), day(to)));
            assert_eq!(read(text, &now()).span(&now()), want, "{text}");
        }
    }
}
