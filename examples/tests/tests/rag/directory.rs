//! The internal directory: what its tools say, and what they do where the file is not what it should be.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{sync::Arc, time::Duration};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Effect, Timestamp};
use hanok_model::{SharedTool, Tool};
use hanok_state::Arguments;
use kit::failure::Failure;
use rag::directory::{Directory, shipped, tools};
use rusqlite::{Connection, types::Value};

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn directory() -> Directory {
    Directory::open(&shipped()).unwrap()
}

fn tool(name: &str) -> SharedTool {
    tools(&directory()).unwrap().into_iter().find(|tool| tool.spec().name() == name).unwrap()
}

async fn observation(name: &str, arguments: &str) -> String {
    let call = Call::new(CallKey::new("test"), Arc::new(Stopped));
    match tool(name).run(&Arguments::new(arguments), &call).await {
        Ok(output) => output.text,
        Err(error) => error.report(),
    }
}

#[test]
fn the_tools_only_read() {
    let tools = tools(&directory()).unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name().to_owned()).collect();
    assert_eq!(names, ["find_person", "leave_balance", "find_room"]);
    assert!(tools.iter().all(|tool| tool.effect() == Effect::Pure));
}

#[tokio::test]
async fn people_are_found_by_name_team_or_extension() {
    let haneul = "김하늘 (플랫폼팀 책임)\n- 내선: 2104\n- 이메일: haneul.kim@hanoksoft.example\n\
        - 2026년 연차: 부여 20일, 사용 7.5일, 남음 12.5일\n출처: 사내 디렉터리";
    for asked in ["김하늘", " 김 하늘 님", "하늘", "2104", "haneul.kim@hanoksoft.example"]
    {
        let arguments = Arguments::from_value(&serde_json(asked)).unwrap();
        assert_eq!(observation("find_person", arguments.as_str()).await, haneul, "{asked}");
    }
    let designers = observation("find_person", r#"{"name":"디자인팀"}"#).await;
    assert!(designers.contains("장한결") && designers.contains("임다온"), "{designers}");
    // Two people of one name.
    let namesakes = observation("leave_balance", r#"{"name":"박서연"}"#).await;
    assert_eq!(namesakes.matches("박서연").count(), 2, "{namesakes}");
}

fn serde_json(name: &str) -> std::collections::BTreeMap<&str, &str> {
    [("name", name)].into()
}

#[tokio::test]
async fn leave_is_told_in_days() {
    assert_eq!(
        observation("leave_balance", r#"{"name":"김하늘"}"#).await,
        "- 김하늘 (플랫폼팀)의 2026년 연차: 부여 20일, 사용 7.5일, 남음 12.5일\n출처: 사내 디렉터리"
    );
}

#[tokio::test]
async fn an_unknown_name_is_said_to_be_unknown_with_near_ones() {
    for (tool, name, want) in [
        (
            "find_person",
            "김하는",
            "사내 디렉터리에서 `김하는`을(를) 찾지 못했습니다. 비슷한 이름: 김하늘",
        ),
        ("leave_balance", "홍길동", "사내 디렉터리에서 `홍길동`을(를) 찾지 못했습니다."),
        ("find_person", "", "사내 디렉터리에서 ``을(를) 찾지 못했습니다."),
        ("find_person", "%", "사내 디렉터리에서 `%`을(를) 찾지 못했습니다."),
        ("find_person", "' OR 1=1 --", "사내 디렉터리에서 `' OR 1=1 --`을(를) 찾지 못했습니다."),
    ] {
        let arguments = Arguments::from_value(&serde_json(name)).unwrap();
        assert_eq!(observation(tool, arguments.as_str()).await, want, "{name:?}");
    }
}

#[tokio::test]
async fn rooms_are_found_by_seats_and_equipment() {
    for (arguments, want) in [
        (
            r#"{"seats":13,"equipment":"빔 프로젝터"}"#,
            "- 회의실 별채: 5층, 16석, 빔프로젝터, 화상회의, 화이트보드\n- 회의실 대청: 3층, 24석, 마이크, 빔프로젝터, 화상회의, 화이트보드\n출처: 사내 디렉터리",
        ),
        (r#"{"name":"다락"}"#, "- 회의실 다락: 6층, 2석, 장비 없음\n출처: 사내 디렉터리"),
        (
            r#"{"seats":100}"#,
            "조건에 맞는 회의실을 찾지 못했습니다. 가장 큰 곳: 회의실 대청: 3층, 24석, 마이크, 빔프로젝터, 화상회의, 화이트보드",
        ),
    ] {
        assert_eq!(observation("find_room", arguments).await, want, "{arguments}");
    }
    let all = observation("find_room", "{}").await;
    let seats = all.lines().filter_map(|line| line.split_once("층, ")?.1.split_once('석'));
    let seats: Vec<u32> = seats.map(|(seats, _)| seats.parse().unwrap()).collect();
    assert!(seats.len() >= 8 && seats.is_sorted(), "{all}");
    assert!(
        observation("find_room", r#"{"seats":-1}"#).await.starts_with("the arguments do not fit")
    );
}

#[test]
fn the_file_is_made_of_the_text_beside_it() {
    let text = include_str!("../../../rag/data/directory.sql");
    let made = Connection::open_in_memory().unwrap();
    made.execute_batch(text).unwrap();
    let ships = Connection::open(shipped()).unwrap();
    for table in ["person", "leave_balance", "room", "room_equipment"] {
        let all = |connection: &Connection| -> Vec<Vec<Value>> {
            let sql = format!("SELECT * FROM {table} ORDER BY 1, 2");
            let mut query = connection.prepare(&sql).unwrap();
            let columns = query.column_count();
            let rows = query.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
            rows.unwrap().collect::<Result<_, _>>().unwrap()
        };
        assert_eq!(all(&made), all(&ships), "{table}");
    }
}

#[test]
fn a_file_that_is_missing_damaged_or_another_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    for missing in [folder.path().join("none.sqlite"), folder.path().to_owned()] {
        let error = Directory::open(&missing).unwrap_err();
        assert!(matches!(error, Failure::Unreadable { .. }), "{error:?}");
        let begin = format!("사내 디렉터리를 읽을 수 없습니다: {}", missing.display());
        assert!(error.line().starts_with(&begin), "{}", error.line());
    }

    let whole = std::fs::read(shipped()).unwrap();
    let mut torn = whole.clone();
    torn.truncate(whole.len() / 2);
    let mut overwritten = whole.clone();
    overwritten.iter_mut().skip(4_096).step_by(7).for_each(|byte| *byte ^= 0x55);
    let other = folder.path().join("other.sqlite");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE person (name)").unwrap();
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("no database", b"hello".to_vec()),
        ("torn", torn),
        ("overwritten", overwritten),
        ("another database", std::fs::read(other).unwrap()),
    ] {
        let path = folder.path().join("directory ?#%.sqlite");
        std::fs::write(&path, bytes).unwrap();
        let error = Directory::open(&path).unwrap_err();
        assert!(matches!(error, Failure::Unreadable { .. }), "{what}: {error:?}");
    }
}

#[test]
fn opening_leaves_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("사내 디렉터리 100%.sqlite");
    std::fs::copy(shipped(), &path).unwrap();
    let directory = Directory::open(&path).unwrap();
    assert_eq!(tools(&directory).unwrap().len(), 3);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
