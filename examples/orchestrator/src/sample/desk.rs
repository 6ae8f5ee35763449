//! The tools, and which part of the data each is about.

use std::io;

use jiff::Zoned;
use serde_json::{Value, json};

use super::{
    calendar,
    data::Store,
    notes,
    protocol::{Fault, text_at},
    report, rooms, units,
};

/// The clock.
pub(super) type Clock = Box<dyn Fn() -> Zoned>;

/// The server's data and clock.
pub(super) struct Desk {
    pub(super) store: Store,
    clock: Clock,
    /// The milliseconds that a report takes.
    pub(super) report_millis: i64,
}

/// What a call may do to the data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It reads.
    Reads,
    /// It adds something, once for each key.
    Adds,
    /// It takes something away.
    Deletes,
    /// It begins something that goes on by itself.
    Begins,
}

/// A tool: its name, what it does to the data, its description, and its one argument with what that is.
type Listed = (&'static str, Does, &'static str, &'static str, &'static str);

const TOOLS: [Listed; 9] = [
    (
        "add_note",
        Does::Adds,
        "메모를 하나 적어 둡니다. 이런 말에 씁니다: 메모해, 적어, 메모 추가, 기록해, add a note, note that, write down, note down",
        "text",
        "적어 둘 말",
    ),
    (
        "find_notes",
        Does::Reads,
        "적어 둔 메모를 찾습니다. 이런 말에 씁니다: 메모 찾, 메모 보여, 메모 목록, 메모 있, 뭐 적, 무엇을 적, 메모에, find notes, my notes, show notes, list notes",
        "text",
        "찾을 말",
    ),
    (
        "delete_notes",
        Does::Deletes,
        "맞는 메모를 지웁니다. 되돌릴 수 없습니다. 이런 말에 씁니다: 메모 지, 메모 삭제, 메모를 없애, delete the note, delete notes, remove the note",
        "text",
        "지울 메모에 있는 말",
    ),
    (
        "add_event",
        Does::Adds,
        "일정을 하나 잡습니다. 날짜와 시각은 말에서 읽습니다. 이런 말에 씁니다: 일정 추가, 일정 잡, 일정 넣, 약속 잡, 회의 잡, 일정으로, 예약해 줘 일정, schedule a, add an event, add to my calendar",
        "text",
        "무슨 일정인지, 날짜와 시각과 함께",
    ),
    (
        "list_events",
        Does::Reads,
        "잡힌 일정을 보여 줍니다. 이런 말에 씁니다: 일정 보여, 일정 알려, 일정 있, 일정이 뭐, 일정 목록, 일정 확인, 무슨 일정, 약속 있, show my calendar, what is on my calendar, list events",
        "text",
        "어느 날의 일정인지",
    ),
    (
        "convert",
        Does::Reads,
        "단위를 바꿉니다: 길이, 무게, 넓이, 부피, 온도. 이런 말에 씁니다: 몇 마일, 몇 킬로, 몇 미터, 몇 센티, 몇 인치, 몇 피트, 몇 파운드, 몇 그램, 몇 온스, 몇 제곱, 몇 평, 몇 리터, 몇 갤런, 화씨, 섭씨, 마일로, 킬로미터로, 미터로, 센티로, 센티미터로, 인치로, 피트로, 파운드로, 킬로그램으로, 킬로로, 그램으로, 온스로, 평으로, 리터로, 갤런으로, 변환, 환산, convert, in square, in meters, in feet, in grams, in ounces, in liters, in gallons, in cm, in miles, in km, in kilometers, in pounds, in kg, in fahrenheit, in celsius, in inches",
        "text",
        "값과 단위와 바꿀 단위",
    ),
    (
        "book_room",
        Does::Adds,
        "회의실을 잡습니다. 어느 방인지, 몇 명인지는 되묻습니다. 이런 말에 씁니다: 회의실 예약, 회의실 잡, 회의실을 예약, 회의실을 잡, 방을 예약, book a room, book a meeting room, reserve a room",
        "text",
        "무엇 때문에 잡는지",
    ),
    (
        "list_rooms",
        Does::Reads,
        "회의실과 그 예약을 보여 줍니다. 이런 말에 씁니다: 회의실 예약 현황, 회의실 목록, 어떤 회의실, 회의실이 있, 회의실 보여, which rooms, list rooms, what rooms",
        "text",
        "무엇을 알고 싶은지",
    ),
    (
        "build_report",
        Does::Begins,
        "메모와 일정으로 보고서를 만듭니다. 시간이 걸립니다. 이런 말에 씁니다: 보고서, 리포트, report",
        "text",
        "보고서의 주제",
    ),
];

impl Desk {
    pub(super) fn new(store: Store, clock: Clock, report_millis: i64) -> Self {
        Self { store, clock, report_millis }
    }

    pub(super) fn now(&self) -> Zoned {
        (self.clock)()
    }

    /// The tools, as the protocol lists them.
    pub(super) fn tools(&self) -> Value {
        let tool = |(name, does, about, argument, said): &Listed| {
            json!({
                "name": name, "description": about,
                "inputSchema": {
                    "type": "object", "properties": {*argument: {"type": "string", "description": said, "minLength": 1, "maxLength": 2_000}},
                    "required": [argument], "additionalProperties": false,
                },
                "annotations": {
                    "readOnlyHint": *does == Does::Reads, "idempotentHint": matches!(does, Does::Adds | Does::Reads),
                    "destructiveHint": *does == Does::Deletes, "openWorldHint": false,
                },
            })
        };
        let closed = self.store.closed();
        let is_open = |tool: &&Listed| closed.lines().all(|closed| closed.trim() != tool.0);
        TOOLS.iter().filter(is_open).map(tool).collect()
    }

    /// Does a call. One that writes and was made under its key before has its result and does nothing.
    pub(super) fn call(&mut self, params: &Value) -> io::Result<Result<Value, Fault>> {
        let name = text_at(params, "/name").unwrap_or_default();
        let is_closed = self.store.closed().lines().any(|closed| closed.trim() == name);
        let Some((_, does, ..)) = TOOLS.iter().find(|tool| tool.0 == name && !is_closed) else {
            return Ok(Err(Fault::parameters(format!("no tool is called `{name}`"))));
        };
        let text = text_at(params, "/arguments/text").unwrap_or_default().trim().to_owned();
        if text.is_empty() {
            return Ok(Err(Fault::parameters("`text` is empty")));
        }
        let key = text_at(params, "/_meta/hanok~1callKey").unwrap_or_default().to_owned();
        // The ledger has every call that came, also one whose result is at hand.
        self.store.ledger(name, &key)?;
        let _held = self.store.hold()?;
        if *does != Does::Reads
            && !key.is_empty()
            && let Some(made) = self.store.data.made.get(&key)
        {
            return Ok(Ok(made.clone()));
        }
        let result = match name {
            "add_note" => notes::add(self, &text),
            "find_notes" => notes::find(self, &text),
            "delete_notes" => notes::delete(self, &text),
            "add_event" => calendar::add(self, &text),
            "list_events" => calendar::list(self, &text),
            "convert" => units::convert(&text),
            "book_room" => rooms::book(self, &text, params),
            "list_rooms" => rooms::list(self, &text),
            _ => report::begin(self, &text, &key),
        };
        let asks = text_at(&result, "/resultType") == Some("input_required");
        let is_done = !asks && result.get("isError") != Some(&json!(true));
        if *does != Does::Reads && is_done {
            if !key.is_empty() {
                self.store.data.made.insert(key, result.clone());
            }
            self.store.save()?;
        }
        Ok(Ok(result))
    }

    /// The state of a task.
    pub(super) fn task(&mut self, id: &str) -> io::Result<Result<Value, Fault>> {
        self.store.ledger("poll", id)?;
        let _held = self.store.hold()?;
        Ok(report::state(self, id).ok_or_else(|| Fault::parameters("no such task")))
    }

    /// Stops a task.
    pub(super) fn cancel(&mut self, id: &str) -> io::Result<Result<Value, Fault>> {
        self.store.ledger("cancel", id)?;
        let _held = self.store.hold()?;
        let Some(report) = self.store.data.reports.get_mut(id) else {
            return Ok(Err(Fault::parameters("no such task")));
        };
        report.cancelled = true;
        self.store.save()?;
        Ok(Ok(super::protocol::complete(json!({}))))
    }
}

/// Whether a text is Korean: the answers are in its language.
pub(super) fn is_korean(text: &str) -> bool {
    text.chars().any(|c| ('가'..='힣').contains(&c))
}

#[cfg(test)]
mod tests {
    use std::{
        env, fs,
        path::{Path, PathBuf},
        process, thread,
    };

    use jiff::{Timestamp, tz::TimeZone};

    use super::*;

    /// A folder of a test's own, which it takes away.
    fn folder(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("hanok-desk-{name}-{}", process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn desk(folder: &Path) -> Desk {
        let store = Store::open(Some(folder.to_owned())).unwrap();
        let clock = || Zoned::new(Timestamp::UNIX_EPOCH, TimeZone::UTC);
        Desk::new(store, Box::new(clock), 0)
    }

    /// The words of the result of a call under `key`.
    fn call(desk: &mut Desk, tool: &str, words: &str, key: &str) -> String {
        let arguments = json!({"text": words});
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"hanok/callKey": key}});
        let result = desk.call(&params).unwrap().unwrap();
        text_at(&result, "/content/0/text").unwrap().to_owned()
    }

    /// Two processes on one folder: neither loses what the other wrote, and a call that one has made is not made by the other.
    #[test]
    fn two_servers_share_one_folder() {
        let folder = folder("shared");
        let (mut one, mut other) = (desk(&folder), desk(&folder));
        let made = call(&mut one, "add_note", "우유 사기", "1");
        call(&mut other, "add_note", "빵 사기", "2");
        for desk in [&mut one, &mut other] {
            assert_eq!(call(desk, "add_note", "우유 사기", "1"), made);
            let notes = call(desk, "find_notes", "메모 목록", "3");
            assert_eq!(notes, "메모 2개를 찾았습니다:\n- 우유 사기\n- 빵 사기");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn servers_that_write_at_once_wait_for_each_other() {
        let folder = folder("at-once");
        thread::scope(|scope| {
            for process in ["a", "b", "c"] {
                let folder = &folder;
                scope.spawn(move || {
                    let mut desk = desk(folder);
                    for round in 0..10 {
                        let key = format!("{process}{round}");
                        call(&mut desk, "add_note", &format!("\"{key}\"라고 적어 줘"), &key);
                    }
                });
            }
        });
        let store = Store::open(Some(folder.clone())).unwrap();
        assert_eq!((store.data.notes.len(), store.data.made.len()), (30, 30));
        fs::remove_dir_all(folder).unwrap();
    }
}
