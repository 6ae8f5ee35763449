//! Notes.

use serde_json::Value;

use super::{
    data::Entry,
    desk::{Desk, is_korean},
    protocol::{failed, text},
};

/// What is said around a note, and is none of it.
const AROUND: &[&str] = &[
    "메모해",
    "메모로",
    "메모에",
    "메모",
    "적어",
    "두고",
    "줘",
    "주세요",
    "놔",
    "기록해",
    "추가해",
    "추가",
    "남겨",
    "라고",
    "이라고",
    "좀",
    "해",
    "add",
    "a",
    "note",
    "notes",
    "that",
    "write",
    "down",
    "please",
    "to",
    "찾아",
    "보여",
    "찾아봐",
    "있어",
    "있나",
    "find",
    "my",
    "the",
    "about",
    "show",
    "list",
    "목록",
    "전부",
    "모두",
    "다",
    "all",
    "지워",
    "삭제해",
    "삭제",
    "delete",
    "remove",
    "관련",
    "내",
    "뭐",
    "적었지",
    "했지",
];

/// The words of a text that are not said around it.
fn subject(text: &str) -> String {
    let text = match quoted(text) {
        Some(quoted) => return quoted.to_owned(),
        None => text,
    };
    let bare = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !word.is_empty() && !AROUND.contains(&word.as_str())
    };
    text.split_whitespace().filter(bare).collect::<Vec<_>>().join(" ")
}

/// What stands between quotation marks.
fn quoted(text: &str) -> Option<&str> {
    let marks = [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('「', '」')];
    marks.iter().find_map(|(open, close)| {
        let (_, after) = text.split_once(*open)?;
        let (inside, _) = after.split_once(*close)?;
        Some(inside.trim()).filter(|inside| !inside.is_empty())
    })
}

pub(super) fn add(desk: &mut Desk, said: &str) -> Value {
    let note = match subject(said) {
        note if note.is_empty() => said.to_owned(),
        note => note,
    };
    desk.store.data.notes.push(Entry { text: note.clone() });
    let count = desk.store.data.notes.len();
    text(match is_korean(said) {
        true => format!("메모를 적어 두었습니다: {note} (모두 {count}개)"),
        false => format!("The note is written down: {note} ({count} in all)"),
    })
}

pub(super) fn find(desk: &Desk, said: &str) -> Value {
    let found = matching(desk, said);
    if found.is_empty() {
        return text(match is_korean(said) {
            true => "맞는 메모가 없습니다.".to_owned(),
            false => "No note is found.".to_owned(),
        });
    }
    let head = match is_korean(said) {
        true => format!("메모 {}개를 찾았습니다:", found.len()),
        false => format!("Notes ({}):", found.len()),
    };
    let lines =
        found.iter().map(|at| desk.store.data.notes.get(*at).map(|note| note.text.as_str()));
    let lines: Vec<_> = lines.flatten().map(|note| format!("- {note}")).collect();
    text(format!("{head}\n{}", lines.join("\n")))
}

pub(super) fn delete(desk: &mut Desk, said: &str) -> Value {
    if subject(said).is_empty() {
        return failed(match is_korean(said) {
            true => "어느 메모인지 쓰세요: 모두 지우지는 않습니다.",
            false => "Say which note: not all of them are deleted.",
        });
    }
    let found = matching(desk, said);
    let mut at = 0;
    desk.store.data.notes.retain(|_| {
        at += 1;
        !found.contains(&(at - 1))
    });
    text(match (is_korean(said), found.len()) {
        (true, 0) => "지울 메모가 없습니다.".to_owned(),
        (true, count) => format!("메모 {count}개를 지웠습니다."),
        (false, 0) => "No note is there to delete.".to_owned(),
        (false, count) => format!("Deleted {count} of the notes."),
    })
}

/// The positions of the notes that have all words of what is said; of all where nothing is said.
pub(super) fn matching(desk: &Desk, said: &str) -> Vec<usize> {
    let subject = subject(said).to_lowercase();
    let words: Vec<&str> = subject.split_whitespace().collect();
    let has = |note: &str| {
        let note = note.to_lowercase();
        words.iter().all(|word| note.contains(stem(word)))
    };
    let notes = desk.store.data.notes.iter().enumerate();
    notes.filter(|(_, note)| has(&note.text)).map(|(at, _)| at).collect()
}

/// A word without a particle at its end.
fn stem(word: &str) -> &str {
    let particles = ["이라는", "라는", "에", "은", "는", "이", "가", "을", "를", "의", "도"];
    let rests = particles.iter().filter_map(|particle| word.strip_suffix(particle));
    rests.filter(|rest| rest.chars().count() >= 2).min_by_key(|rest| rest.len()).unwrap_or(word)
}
