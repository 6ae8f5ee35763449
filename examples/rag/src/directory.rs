//! The internal directory as tools: people, their leave, meeting rooms.
//!
//! It is a small SQLite file that ships with the example, opened for reading only. What a model asks for is bound as a
//! parameter and never becomes SQL.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hanok_core::{BoxError, Effect};
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError};
use kit::failure::Failure;
use rusqlite::{Connection, OpenFlags, Row, ToSql};
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};

/// What marks the file as a directory of this example, and the form of its tables: `PRAGMA application_id` and `user_version`.
const FORM: (i32, i32) = (0x686e_6b64, 1);

/// The most people or rooms that one question shows.
const MOST: usize = 10;

/// How many near names are shown where there is none.
const NEAR: usize = 3;

/// The most characters of a name that are repeated where nobody is found.
const NAME_CHARS: usize = 40;

/// The last line of everything that was found.
const SOURCE: &str = "출처: 사내 디렉터리";

const PEOPLE: &str = "SELECT name, team, title, extension, email, year, granted, used, remaining
    FROM person JOIN leave_balance ON person_id = id AND
        year = (SELECT max(year) FROM leave_balance WHERE person_id = id)";

/// How somebody may be called, the surest first.
const BY_NAME: [&str; 2] = ["name = ?1", "?1 <> '' AND instr(name, ?1) > 0"];
const BY_ADDRESS: [&str; 1] = ["?1 IN (team, extension, email)"];

const ROOMS: &str = "SELECT name, floor, seats, coalesce((
        SELECT group_concat(equipment, ', ' ORDER BY equipment) FROM room_equipment WHERE room_id = id
    ), '장비 없음') AS equipment FROM room";

const FITTING: &str = "instr(name, ?1) > 0 AND seats >= ?2 AND (?3 = '' OR EXISTS (
    SELECT 1 FROM room_equipment WHERE room_id = id
        AND (instr(equipment, ?3) > 0 OR instr(?3, equipment) > 0)))";

/// What `find_person` takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindPerson {
    /// 이름. A person's name or a part of it; also a team, an extension or an e-mail address.
    name: String,
}

/// What `leave_balance` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct LeaveBalance {
    /// 이름. The person's name.
    name: String,
}

/// What `find_room` takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindRoom {
    /// 인원. How many people need a seat.
    #[serde(default)]
    seats: Option<u32>,
    /// 장비. Equipment the room must have: 빔프로젝터, 화상회의, 화이트보드, 모니터, 마이크.
    #[serde(default)]
    equipment: Option<String>,
    /// 회의실 이름. The name of one room, if that is asked for.
    #[serde(default)]
    name: Option<String>,
}

/// The directory that ships with the example, where the example was built.
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join("directory.sqlite")
}

/// The tools `find_person`, `leave_balance` and `find_room` over `directory`. All of them only read.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn tools(directory: &Directory) -> Result<Vec<SharedTool>, InvalidSpec> {
    Ok(vec![
        tool(
            directory,
            "find_person",
            "직원의 팀, 직책, 내선 번호, 이메일, 연차를 찾습니다. \
                Finds a colleague: team, title, extension, e-mail, leave.",
            |directory, FindPerson { name }| {
                directory.people(&name, &[&BY_NAME[..], &BY_ADDRESS].concat(), contact)
            },
        )?,
        tool(
            directory,
            "leave_balance",
            "직원의 연차 휴가가 며칠 남았는지 알려 줍니다. \
                Tells how many days of leave a colleague was granted, has used and has left.",
            |directory, LeaveBalance { name }| directory.people(&name, &BY_NAME, leave),
        )?,
        tool(
            directory,
            "find_room",
            "인원과 장비에 맞는 회의실을 찾습니다(층, 좌석, 장비). \
                Finds meeting rooms by seats and equipment.",
            Directory::fitting_rooms,
        )?,
    ])
}

fn tool<A: DeserializeOwned + JsonSchema + Send + 'static>(
    directory: &Directory,
    name: &str,
    description: &str,
    find: fn(&Directory, A) -> rusqlite::Result<String>,
) -> Result<SharedTool, InvalidSpec> {
    let directory = directory.clone();
    let tool = FnTool::new(name, description, move |asked, _| {
        let found = find(&directory, asked).map_err(ToolError::failed);
        async move { Ok(found?.into()) }
    })?;
    Ok(SharedTool::new(tool.effect(Effect::Pure).timeout(Duration::from_secs(5))))
}

/// People and rooms, read from a file. Clones share it.
#[derive(Debug, Clone)]
pub struct Directory(Arc<Mutex<Connection>>);

impl Directory {
    /// Opens the file at `path` for reading and checks it. Nothing is written, and no file is made beside it.
    ///
    /// # Errors
    ///
    /// [`Failure::Unreadable`] when there is no such file, or it is damaged or something else.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let unreadable =
            |error| Failure::unreadable("사내 디렉터리를", format!("{}: {error}", path.display()));
        let connection = opened(path).map_err(unreadable)?;
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// The rows of a query, each as `shown`.
    fn rows(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        shown: fn(&Row<'_>) -> rusqlite::Result<String>,
    ) -> rusqlite::Result<Vec<String>> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.prepare(sql)?.query_map(parameters, shown)?.collect()
    }

    /// The people who are called `name` in the first of these `ways` in which anybody is, else the names that are written most
    /// like it.
    fn people(
        &self,
        name: &str,
        ways: &[&str],
        shown: fn(&Row<'_>) -> rusqlite::Result<String>,
    ) -> rusqlite::Result<String> {
        let wanted = bare(name);
        for way in ways {
            let sql = format!("{PEOPLE} WHERE {way} ORDER BY name, team LIMIT {MOST}");
            let found = self.rows(&sql, &[&wanted], shown)?;
            if !found.is_empty() {
                return Ok(listed(found));
            }
        }
        let known = self.rows("SELECT DISTINCT name FROM person", &[], |row| row.get(0))?;
        let known = known.into_iter();
        let mut near: Vec<(usize, String)> =
            known.filter_map(|known| Some((difference(&wanted, &known)?, known))).collect();
        near.sort();
        let near: Vec<String> = near.into_iter().take(NEAR).map(|(_, name)| name).collect();
        let asked: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
        let nobody = format!("사내 디렉터리에서 `{asked}`을(를) 찾지 못했습니다.");
        Ok(match near.is_empty() {
            true => nobody,
            false => format!("{nobody} 비슷한 이름: {}", near.join(", ")),
        })
    }

    /// The rooms that are as they are asked for, the smallest first, else the largest one.
    fn fitting_rooms(&self, asked: FindRoom) -> rusqlite::Result<String> {
        let FindRoom { seats, equipment, name } = asked;
        let (name, equipment) = (name.unwrap_or_default(), equipment.unwrap_or_default());
        let fitting = format!("{ROOMS} WHERE {FITTING} ORDER BY seats, name LIMIT {MOST}");
        let wanted: [&dyn ToSql; 3] = [&name.trim(), &seats.unwrap_or(0), &closed_up(&equipment)];
        let found = self.rows(&fitting, &wanted, room)?;
        if !found.is_empty() {
            return Ok(listed(found.into_iter().map(|room| format!("- {room}"))));
        }
        let largest = self.rows(&format!("{ROOMS} ORDER BY seats DESC LIMIT 1"), &[], room)?;
        let largest = largest.iter().map(|room| format!(" 가장 큰 곳: {room}"));
        Ok(format!("조건에 맞는 회의실을 찾지 못했습니다.{}", largest.collect::<String>()))
    }
}

/// The file at `path`, if it is whole and one of ours.
fn opened(path: &Path) -> Result<Connection, BoxError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if (number("application_id")?, number("user_version")?) != FORM {
        return Err("it is no directory of this example, or one of another version".into());
    }
    let found: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if found == "ok" { Ok(connection) } else { Err(found.into()) }
}

fn contact(row: &Row<'_>) -> rusqlite::Result<String> {
    let said = |column| row.get::<_, String>(column);
    let (name, team, title) = (said("name")?, said("team")?, said("title")?);
    let (extension, email, days) = (said("extension")?, said("email")?, days(row)?);
    Ok(format!("{name} ({team} {title})\n- 내선: {extension}\n- 이메일: {email}\n- {days}"))
}

fn leave(row: &Row<'_>) -> rusqlite::Result<String> {
    let said = |column| row.get::<_, String>(column);
    Ok(format!("- {} ({})의 {}", said("name")?, said("team")?, days(row)?))
}

/// The leave of one person in one year. A quarter of a day is two hours.
fn days(row: &Row<'_>) -> rusqlite::Result<String> {
    let days = |column| row.get::<_, f64>(column);
    let (granted, used, left) = (days("granted")?, days("used")?, days("remaining")?);
    let year: i64 = row.get("year")?;
    Ok(format!("{year}년 연차: 부여 {granted}일, 사용 {used}일, 남음 {left}일"))
}

fn room(row: &Row<'_>) -> rusqlite::Result<String> {
    let (name, equipment): (String, String) = (row.get("name")?, row.get("equipment")?);
    let (floor, seats): (i64, i64) = (row.get("floor")?, row.get("seats")?);
    Ok(format!("회의실 {name}: {floor}층, {seats}석, {equipment}"))
}

/// What was found, one below the other, with the source.
fn listed(found: impl IntoIterator<Item = String>) -> String {
    found.into_iter().chain([SOURCE.to_owned()]).collect::<Vec<_>>().join("\n")
}

/// A name without blanks, and without what is said behind it: `김 하늘 님` is `김하늘`.
fn bare(name: &str) -> String {
    let name = closed_up(name);
    let called = ["님", "씨"].iter().find_map(|word| name.strip_suffix(word));
    called.map_or(name.clone(), str::to_owned)
}

/// `빔 프로젝터` as the file writes it.
fn closed_up(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// How many characters of two names of one length differ; `None` when more than one in two do.
fn difference(wanted: &str, known: &str) -> Option<usize> {
    let length = known.chars().count();
    if wanted.chars().count() != length {
        return None;
    }
    let different = wanted.chars().zip(known.chars()).filter(|(a, b)| a != b).count();
    (different * 2 <= length).then_some(different)
}
