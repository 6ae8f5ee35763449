//! Meeting rooms: which one, and for how many, is asked back.

use serde_json::{Value, json};

use super::{
    data::Booking,
    desk::{Desk, is_korean},
    protocol::{failed, text, text_at},
};

/// The rooms, each with its seats.
const ROOMS: [(&str, u32); 3] = [("대청", 12), ("누마루", 6), ("사랑방", 4)];

/// Asks for what is missing, and books with what comes back. The client sends the purpose with both requests.
pub(super) fn book(desk: &mut Desk, said: &str, params: &Value) -> Value {
    if params.get("requestState").is_none_or(Value::is_null) {
        return question(is_korean(said));
    }
    let answer = params.pointer("/inputResponses/room").unwrap_or(&Value::Null);
    if text_at(answer, "/action") != Some("accept") {
        return text(match is_korean(said) {
            true => "회의실을 잡지 않았습니다: 답하지 않기로 하셨습니다.",
            false => "No room is booked: the question was not answered.",
        });
    }
    let room = text_at(answer, "/content/room").unwrap_or_default();
    let people = answer
        .pointer("/content/people")
        .and_then(Value::as_u64)
        .and_then(|people| u32::try_from(people).ok());
    let (Some((room, seats)), Some(people)) =
        (ROOMS.iter().find(|(name, _)| *name == room), people)
    else {
        return failed("no such room");
    };
    if people > *seats {
        return failed(match is_korean(said) {
            true => format!("{room}에는 {seats}명까지 앉습니다: {people}명은 너무 많습니다."),
            false => format!("{room} has {seats} seats: {people} are too many."),
        });
    }
    let booking = Booking { room: (*room).to_owned(), people, purpose: said.to_owned() };
    desk.store.data.bookings.push(booking);
    text(match is_korean(said) {
        true => format!("회의실 {room}을(를) {people}명으로 잡았습니다."),
        false => format!("The room {room} is booked for {people}."),
    })
}

fn question(korean: bool) -> Value {
    let names: Vec<_> = ROOMS.iter().map(|(name, _)| name).collect();
    let (message, room, people) = match korean {
        true => ("어느 회의실을 몇 명이 씁니까?", "회의실", "몇 명"),
        false => ("Which room, and for how many?", "room", "people"),
    };
    let form = json!({
        "type": "object", "required": ["room", "people"],
        "properties": {
            "room": {"type": "string", "title": room, "enum": names},
            "people": {"type": "integer", "title": people, "minimum": 1, "maximum": 12},
        },
    });
    json!({
        "resultType": "input_required", "requestState": "room",
        "inputRequests": {"room": {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": form}}},
    })
}

pub(super) fn list(desk: &Desk, said: &str) -> Value {
    let line = |(name, seats): &(&str, u32)| {
        let taken = desk.store.data.bookings.iter().filter(|booking| booking.room == *name);
        let taken: Vec<_> = taken.map(|it| format!("{} ({})", it.purpose, it.people)).collect();
        match (taken.is_empty(), is_korean(said)) {
            (true, true) => format!("- {name}: {seats}명, 예약 없음"),
            (true, false) => format!("- {name}: {seats} seats, free"),
            (false, true) => format!("- {name}: {seats}명, 예약: {}", taken.join(", ")),
            (false, false) => format!("- {name}: {seats} seats, booked: {}", taken.join(", ")),
        }
    };
    let lines: Vec<_> = ROOMS.iter().map(line).collect();
    let head = if is_korean(said) { "회의실:" } else { "Rooms:" };
    text(format!("{head}\n{}", lines.join("\n")))
}
