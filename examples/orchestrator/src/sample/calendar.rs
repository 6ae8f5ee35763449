//! The calendar.

use serde_json::Value;

use super::{
    data::Event,
    desk::{Desk, is_korean},
    protocol::{failed, text},
    when,
};

/// What is said around an event, and is none of it.
const AROUND: &[&str] = &[
    "일정",
    "일정을",
    "일정으로",
    "일정에",
    "추가해",
    "추가",
    "잡아",
    "넣어",
    "줘",
    "주세요",
    "좀",
    "약속",
    "add",
    "an",
    "a",
    "event",
    "to",
    "my",
    "calendar",
    "schedule",
    "please",
    "the",
];

pub(super) fn add(desk: &mut Desk, said: &str) -> Value {
    let when = when::read(said, &desk.now());
    let Some(day) = when.day else {
        return failed(match is_korean(said) {
            true => "날짜가 없습니다: ‘내일’이나 ‘12월 3일’처럼 덧붙여 주세요.",
            false => "There is no day in it: add one, such as `tomorrow`.",
        });
    };
    let bare = |word: &&str| {
        !AROUND.contains(&word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str())
    };
    let title = when.rest.split_whitespace().filter(bare).collect::<Vec<_>>().join(" ");
    let title = match (title.is_empty(), is_korean(said)) {
        (false, _) => title,
        (true, true) => "일정".to_owned(),
        (true, false) => "event".to_owned(),
    };
    let time = when.time.map(|time| format!("{:02}:{:02}", time.hour(), time.minute()));
    let event = Event { day: day.to_string(), time, title };
    let line = line(&event);
    desk.store.data.events.push(event);
    text(match is_korean(said) {
        true => format!("일정을 잡았습니다: {line}"),
        false => format!("The event is on the calendar: {line}"),
    })
}

pub(super) fn list(desk: &Desk, said: &str) -> Value {
    let day = when::read(said, &desk.now()).day.map(|day| day.to_string());
    let mut events: Vec<_> = desk.store.data.events.iter().collect();
    events.retain(|event| day.as_ref().is_none_or(|day| event.day == *day));
    events.sort_by_key(|event| (event.day.clone(), event.time.clone()));
    let of = day.unwrap_or_default();
    if events.is_empty() {
        return text(match is_korean(said) {
            true => format!("{of} 잡힌 일정이 없습니다.").trim_start().to_owned(),
            false => format!("No event is found. {of}").trim_end().to_owned(),
        });
    }
    let head = match is_korean(said) {
        true => format!("일정 {}개:", events.len()),
        false => format!("Events ({}):", events.len()),
    };
    let lines: Vec<_> = events.iter().map(|event| format!("- {}", line(event))).collect();
    text(format!("{head}\n{}", lines.join("\n")))
}

pub(super) fn line(event: &Event) -> String {
    let time = event.time.as_ref().map(|time| format!(" {time}")).unwrap_or_default();
    format!("{}{time} {}", event.day, event.title)
}
