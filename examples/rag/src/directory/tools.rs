//! The directory's tools, and what a model reads of them.

use std::{fmt::Write, time::Duration};

use hanok_core::Effect;
use hanok_model::{FnTool, InvalidSpec, SharedTool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Directory, DirectoryError, Person, Room, Wanted};

/// The last line of everything that was found.
const SOURCE: &str = "출처: 사내 디렉터리";

/// The most characters of a name that are repeated where nobody is found.
const NAME_CHARS: usize = 40;

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

/// The tools `find_person`, `leave_balance` and `find_room` over `directory`. All of them only read.
///
/// # Errors
///
/// None that a caller could cause: their names and arguments are fixed.
pub fn tools(directory: &Directory) -> Result<Vec<SharedTool>, InvalidSpec> {
    let (people, leave, rooms) = (directory.clone(), directory.clone(), directory.clone());
    let tools = [
        FnTool::new(
            "find_person",
            "직원의 팀, 직책, 내선 번호, 이메일, 연차를 찾습니다. \
                Finds a colleague: team, title, extension, e-mail, leave.",
            move |asked: FindPerson, _call| {
                let found = find_person(&people, &asked.name).map_err(ToolError::failed);
                async move { Ok(found?.into()) }
            },
        )?,
        FnTool::new(
            "leave_balance",
            "직원의 연차 휴가가 며칠 남았는지 알려 줍니다. \
                Tells how many days of leave a colleague was granted, has used and has left.",
            move |asked: LeaveBalance, _call| {
                let found = leave_balance(&leave, &asked.name).map_err(ToolError::failed);
                async move { Ok(found?.into()) }
            },
        )?,
        FnTool::new(
            "find_room",
            "인원과 장비에 맞는 회의실을 찾습니다(층, 좌석, 장비). \
                Finds meeting rooms by seats and equipment.",
            move |asked: FindRoom, _call| {
                let FindRoom { seats, equipment, name } = asked;
                let wanted = Wanted { name, seats, equipment };
                let found = find_room(&rooms, &wanted).map_err(ToolError::failed);
                async move { Ok(found?.into()) }
            },
        )?,
    ];
    let reads =
        |tool: FnTool| SharedTool::new(tool.effect(Effect::Pure).timeout(Duration::from_secs(5)));
    Ok(tools.into_iter().map(reads).collect())
}

fn find_person(directory: &Directory, name: &str) -> Result<String, DirectoryError> {
    let mut people = directory.people(name)?;
    if people.is_empty() {
        people = directory.reached_by(name)?;
    }
    if people.is_empty() {
        return nobody(directory, name);
    }
    Ok(listed(people.iter().map(described)))
}

fn described(person: &Person) -> String {
    let Person { name, team, title, extension, email, leave } = person;
    format!(
        "{name} ({team} {title})\n- 내선: {extension}\n- 이메일: {email}\n- {}년 연차: {leave}",
        leave.year
    )
}

fn leave_balance(directory: &Directory, name: &str) -> Result<String, DirectoryError> {
    let people = directory.people(name)?;
    if people.is_empty() {
        return nobody(directory, name);
    }
    Ok(listed(people.iter().map(|Person { name, team, leave, .. }| {
        format!("- {name} ({team})의 {}년 연차: {leave}", leave.year)
    })))
}

fn nobody(directory: &Directory, name: &str) -> Result<String, DirectoryError> {
    let near = directory.near(name)?;
    let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect();
    let mut text = format!("사내 디렉터리에서 `{shown}`을(를) 찾지 못했습니다.");
    if !near.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(text, " 비슷한 이름: {}", near.join(", "));
    }
    Ok(text)
}

fn find_room(directory: &Directory, wanted: &Wanted) -> Result<String, DirectoryError> {
    let rooms = directory.rooms(wanted)?;
    if !rooms.is_empty() {
        return Ok(listed(rooms.iter().map(|room| format!("- {}", furnished(room)))));
    }
    let all = directory.rooms(&Wanted::default())?;
    let largest = all.iter().max_by_key(|room| room.seats);
    let largest = largest.map(|room| format!(" 가장 큰 곳: {}", furnished(room)));
    Ok(format!("조건에 맞는 회의실을 찾지 못했습니다.{}", largest.unwrap_or_default()))
}

fn furnished(room: &Room) -> String {
    let Room { name, floor, seats, equipment } = room;
    let equipment =
        if equipment.is_empty() { "장비 없음".into() } else { equipment.join(", ") };
    format!("회의실 {name}: {floor}층, {seats}석, {equipment}")
}

/// What was found, one below the other, with the source.
fn listed(found: impl Iterator<Item = String>) -> String {
    found.chain([SOURCE.to_owned()]).collect::<Vec<_>>().join("\n")
}
