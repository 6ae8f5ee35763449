//! The tools, and the server that has them.

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{
        router::tool::ToolRouter,
        tool::{InputResponses, IntoCallToolResult as _, ToolCallContext},
        wrapper::Parameters,
    },
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
        CreateTaskResult, DetailedTask, DiscoverResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ElicitationAction, ErrorCode, GetTaskParams, GetTaskResult, InputRequest,
        InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ServerCapabilities, ServerConfig, Task, TaskPayload, TaskStatus,
    },
    service::RequestContext,
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    data::{Data, Report, Store},
    moment::Moment,
    units::{Unit, convert},
};

/// The key in `_meta` under which a client names a call that it may make again.
const CALL_KEY: &str = "hanok/callKey";

/// The time between two polls that the server wishes for, in milliseconds.
const POLL_MILLIS: u64 = 100;

/// The minutes for which a room is booked, unless they are said.
const BOOKED_MINUTES: u32 = 60;

/// The server.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    store: Arc<Store>,
    now: Option<Timestamp>,
    report_millis: i64,
    is_old: bool,
}

/// A meeting room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Room {
    #[serde(rename = "대청")]
    Daecheong,
    #[serde(rename = "누마루")]
    Numaru,
    #[serde(rename = "사랑방")]
    Sarangbang,
}

impl Room {
    const ALL: [Self; 3] = [Self::Daecheong, Self::Numaru, Self::Sarangbang];

    /// Its name, and its seats.
    fn of(self) -> (&'static str, u32) {
        match self {
            Self::Daecheong => ("대청", 12),
            Self::Numaru => ("누마루", 6),
            Self::Sarangbang => ("사랑방", 4),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewNote {
    /// 적어 둘 글
    #[schemars(length(min = 1, max = 2_000))]
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoteQuery {
    /// 메모에 있는 말. 없으면 모든 메모
    #[schemars(length(min = 1, max = 2_000))]
    query: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NotesToDelete {
    /// 지울 메모에 있는 말
    #[schemars(length(min = 1, max = 2_000))]
    query: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEvent {
    /// 일정의 제목
    #[schemars(length(min = 1, max = 2_000))]
    title: String,
    /// 시작하는 때
    starts_at: Moment,
    /// 몇 분 동안인지
    #[schemars(range(min = 1, max = 100_000))]
    duration_minutes: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Period {
    /// 이때부터
    from: Option<Moment>,
    /// 이때 앞까지
    to: Option<Moment>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Conversion {
    /// 바꿀 값
    value: f64,
    /// 값의 단위
    from: Unit,
    /// 바꿀 단위
    to: Unit,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBooking {
    /// 회의실
    room: Option<Room>,
    /// 몇 명이 쓰는지
    #[schemars(range(min = 1, max = 12))]
    people: Option<u32>,
    /// 시작하는 때. 없으면 지금
    starts_at: Option<Moment>,
    /// 몇 분 동안인지. 없으면 60
    #[schemars(range(min = 1, max = 100_000))]
    duration_minutes: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewReport {
    /// 보고서의 제목
    #[schemars(length(min = 1, max = 2_000))]
    topic: Option<String>,
}

/// The request of a call.
type Call = RequestContext<RoleServer>;

/// What a call came to, or why it could not.
type Said = Result<String, String>;

#[tool_router]
impl Desk {
    /// 메모를 하나 적어 둡니다.
    #[tool(annotations(destructive_hint = false, idempotent_hint = true))]
    async fn add_note(&self, Parameters(new): Parameters<NewNote>, call: Call) -> Said {
        self.store.change(key(&call), |data| {
            let text = new.text.trim();
            data.notes.push(text.to_owned());
            Ok(format!("메모를 적어 두었습니다: {text} (모두 {}개)", data.notes.len()))
        })
    }

    /// 적어 둔 메모를 찾습니다.
    #[tool(annotations(read_only_hint = true))]
    async fn find_notes(&self, Parameters(of): Parameters<NoteQuery>) -> Said {
        let (notes, query) = (self.read()?.notes, of.query.unwrap_or_default());
        let found: Vec<_> = notes.iter().filter(|note| has(note, &query)).collect();
        Ok(match found.len() {
            0 => "맞는 메모가 없습니다.".to_owned(),
            count => format!("메모 {count}개를 찾았습니다:{}", list(found)),
        })
    }

    /// 맞는 메모를 지웁니다. 되돌릴 수 없습니다.
    #[tool(annotations(destructive_hint = true))]
    async fn delete_notes(&self, Parameters(of): Parameters<NotesToDelete>, call: Call) -> Said {
        self.store.change(key(&call), |data| {
            if of.query.trim().is_empty() {
                return Err("어느 메모인지 쓰세요: 모두 지우지는 않습니다.".to_owned());
            }
            let before = data.notes.len();
            data.notes.retain(|note| !has(note, &of.query));
            Ok(match before - data.notes.len() {
                0 => "지울 메모가 없습니다.".to_owned(),
                count => format!("메모 {count}개를 지웠습니다."),
            })
        })
    }

    /// 일정을 하나 잡습니다.
    #[tool(annotations(destructive_hint = false, idempotent_hint = true))]
    async fn add_event(&self, Parameters(new): Parameters<NewEvent>, call: Call) -> Said {
        self.store.change(key(&call), |data| {
            let line = line(&new);
            data.events.push(new);
            Ok(format!("일정을 잡았습니다: {line}"))
        })
    }

    /// 잡힌 일정을 보여 줍니다.
    #[tool(annotations(read_only_hint = true))]
    async fn list_events(&self, Parameters(of): Parameters<Period>) -> Said {
        let mut events = self.read()?.events;
        events.retain(|event| {
            of.from.as_ref().is_none_or(|from| from.at <= event.starts_at.at)
                && of.to.as_ref().is_none_or(|to| event.starts_at.at < to.at)
        });
        events.sort_by_key(|event| event.starts_at.at);
        Ok(match events.len() {
            0 => "그때에 잡힌 일정이 없습니다.".to_owned(),
            count => format!("일정 {count}개:{}", list(events.iter().map(line))),
        })
    }

    /// 값의 단위를 바꿉니다: 길이, 무게, 넓이, 부피, 온도.
    #[tool(annotations(read_only_hint = true))]
    async fn convert_units(&self, Parameters(of): Parameters<Conversion>) -> Said {
        convert(of.value, of.from, of.to)
    }

    /// 회의실을 예약합니다. 어느 회의실인지, 몇 명인지 모르면 비워 두면 사람에게 물어봅니다.
    #[tool(annotations(destructive_hint = false, idempotent_hint = true))]
    async fn book_room(
        &self,
        Parameters(mut new): Parameters<NewBooking>,
        InputResponses(answers): InputResponses,
        call: Call,
    ) -> Result<CallToolResponse, ErrorData> {
        if new.room.is_none() || new.people.is_none() {
            let answer = match answers.and_then(|mut answers| answers.remove(QUESTION)) {
                Some(answer) => serde_json::from_value(answer).map_err(unfit)?,
                None if self.is_old => {
                    let asked = call.peer.create_elicitation(question(&new)?).await;
                    asked.map_err(|error| fault(error.to_string()))?
                }
                None => {
                    let request = InputRequest::Elicitation(ElicitRequest::new(question(&new)?));
                    let requests = [(QUESTION.to_owned(), request)].into();
                    let asked = InputRequiredResult::new(Some(requests), Some(QUESTION.to_owned()));
                    return Ok(asked.into());
                }
            };
            let ElicitResult { action: ElicitationAction::Accept, content: Some(form), .. } =
                answer
            else {
                let said = "회의실을 잡지 않았습니다: 답하지 않기로 하셨습니다.";
                return said.to_owned().into_call_tool_result();
            };
            let form: NewBooking = serde_json::from_value(form).map_err(unfit)?;
            (new.room, new.people) = (new.room.or(form.room), new.people.or(form.people));
        }
        self.booked(new, &call).into_call_tool_result()
    }

    /// 회의실과 그 예약을 보여 줍니다.
    #[tool(annotations(read_only_hint = true))]
    async fn list_rooms(&self) -> Said {
        let bookings = self.read()?.bookings;
        let rooms = Room::ALL.map(|room| {
            let taken = bookings.iter().filter(|booking| booking.room == Some(room));
            let taken = taken.map(|it| {
                let from = it.starts_at.as_ref().map(Moment::shown).unwrap_or_default();
                format!("{from} ({}명)", it.people.unwrap_or_default())
            });
            let taken: Vec<_> = taken.collect();
            let taken = if taken.is_empty() { "없음".to_owned() } else { taken.join(", ") };
            format!("{}: {}명까지, 예약 {taken}", room.of().0, room.of().1)
        });
        Ok(format!("회의실:{}", list(rooms)))
    }

    /// 메모와 일정으로 보고서를 만듭니다. 시간이 걸립니다.
    #[tool(annotations(destructive_hint = false))]
    async fn build_report(
        &self,
        Parameters(new): Parameters<NewReport>,
        call: Call,
    ) -> Result<CallToolResponse, ErrorData> {
        let (key, mut id) = (key(&call), String::new());
        let report = Report { topic: new.topic, began: self.now(), cancelled: false };
        // A call that comes again under its key is told of the same task.
        let began = self.store.change("", |data| {
            let number = data.reports.len() + 1;
            id = if key.is_empty() { format!("report-{number}") } else { format!("report-{key}") };
            Ok(data.reports.entry(id.clone()).or_insert(report).began.to_string())
        });
        let task = task(&id, TaskStatus::Working, &began.map_err(fault)?);
        Ok(CreateTaskResult::new(task).into())
    }
}

impl Desk {
    /// The server over `store`; `now` is the time that it is, unless the clock says it.
    pub(crate) fn new(
        store: Store,
        now: Option<Timestamp>,
        report_millis: i64,
        is_old: bool,
    ) -> Self {
        Self { store: Arc::new(store), now, report_millis, is_old }
    }

    fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    fn read(&self) -> Result<Data, String> {
        self.store.read().map_err(|error| error.to_string())
    }

    /// Books a room, once for the key of the call.
    fn booked(&self, mut new: NewBooking, call: &Call) -> Said {
        let (Some(room), Some(people)) = (new.room, new.people) else {
            return Err("어느 회의실을 몇 명이 쓰는지 있어야 합니다.".to_owned());
        };
        let (name, seats) = room.of();
        self.store.change(key(call), |data| {
            if people > seats {
                return Err(format!(
                    "{name}에는 {seats}명까지 앉습니다: {people}명은 너무 많습니다."
                ));
            }
            let from = new.starts_at.get_or_insert_with(|| self.now().into()).shown();
            let minutes = *new.duration_minutes.get_or_insert(BOOKED_MINUTES);
            data.bookings.push(new);
            Ok(format!(
                "{from}부터 {minutes}분 동안 회의실 {name}을(를) {people}명으로 잡았습니다."
            ))
        })
    }

    /// The tools that are offered for now.
    fn router(&self) -> ToolRouter<Self> {
        let mut router = Self::tool_router();
        for route in router.map.values_mut() {
            // Nothing leaves the desk.
            let annotations = route.attr.annotations.get_or_insert_default();
            annotations.open_world_hint = Some(false);
            annotations.read_only_hint.get_or_insert(false);
        }
        router.map.retain(|name, _| !self.store.is_closed(name));
        router
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let old = vec![ProtocolVersion::V_2025_11_25];
        if self.is_old { old.into() } else { ProtocolVersion::KNOWN_VERSIONS.into() }
    }

    async fn discover(&self, _: Call) -> Result<DiscoverResult, ErrorData> {
        if self.is_old {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "server/discover", None));
        }
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Call,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.router().list_all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: Call,
    ) -> Result<CallToolResponse, ErrorData> {
        let router = self.router();
        if router.get(&request.name).is_some() {
            self.store.ledger(&request.name, key(&call)).map_err(fault)?;
        }
        router.call(ToolCallContext::new(self, request, call)).await
    }

    async fn get_task(&self, of: GetTaskParams, _: Call) -> Result<GetTaskResult, ErrorData> {
        self.store.ledger("poll", &of.task_id).map_err(fault)?;
        let data = self.store.read().map_err(fault)?;
        let unknown = || ErrorData::invalid_params("no such task", None);
        let report = data.reports.get(&of.task_id).ok_or_else(unknown)?;
        let passed = self.now().as_millisecond() - report.began.as_millisecond();
        let payload = match (report.cancelled, passed >= self.report_millis) {
            (true, _) => TaskPayload::Cancelled,
            (false, true) => {
                let text = ContentBlock::text(written(&data, report.topic.as_deref()));
                let result = serde_json::to_value(CallToolResult::success(vec![text]));
                let result = result.and_then(serde_json::from_value).map_err(unfit)?;
                TaskPayload::Completed { result }
            }
            (false, false) => TaskPayload::Working,
        };
        let task = task(&of.task_id, payload.status(), &report.began.to_string());
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    async fn cancel_task(&self, of: CancelTaskParams, _: Call) -> Result<(), ErrorData> {
        self.store.ledger("cancel", &of.task_id).map_err(fault)?;
        let cancelled = self.store.change("", |data| {
            let report = data.reports.get_mut(&of.task_id).ok_or("no such task")?;
            report.cancelled = true;
            Ok(String::new())
        });
        cancelled.map(drop).map_err(|error| ErrorData::invalid_params(error, None))
    }
}

/// The name of the one question.
const QUESTION: &str = "room";

/// The question for what a booking lacks.
fn question(new: &NewBooking) -> Result<ElicitRequestParams, ErrorData> {
    let rooms = Room::ALL.map(|room| room.of().0);
    let room = json!({"type": "string", "title": "회의실", "enum": rooms});
    let people = json!({"type": "integer", "title": "몇 명", "minimum": 1, "maximum": 12});
    let (message, required, properties) = match (new.room, new.people) {
        (None, Some(_)) => ("어느 회의실을 씁니까?", json!(["room"]), json!({"room": room})),
        (Some(_), None) => ("몇 명이 씁니까?", json!(["people"]), json!({"people": people})),
        _ => (
            "어느 회의실을 몇 명이 씁니까?",
            json!(["room", "people"]),
            json!({"room": room, "people": people}),
        ),
    };
    let form = json!({"type": "object", "required": required, "properties": properties});
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(form).map_err(unfit)?,
    })
}

/// The report: what notes and events there are.
fn written(data: &Data, topic: Option<&str>) -> String {
    let topic = topic.map(|topic| format!("‘{topic}’ ")).unwrap_or_default();
    let (notes, events) = (data.notes.len(), data.events.len());
    let mut sorted: Vec<_> = data.events.iter().collect();
    sorted.sort_by_key(|event| event.starts_at.at);
    let lines = data.notes.iter().cloned().chain(sorted.into_iter().map(line));
    format!(
        "{topic}보고서를 다 만들었습니다. 메모 {notes}개, 일정 {events}개입니다.{}",
        list(lines)
    )
}

fn task(id: &str, status: TaskStatus, began: &str) -> Task {
    Task::new(id, status, began, began).with_poll_interval_ms(POLL_MILLIS)
}

/// An event as a line.
fn line(event: &NewEvent) -> String {
    let lasts = event.duration_minutes.map(|minutes| format!(" ({minutes}분)"));
    format!("{} {}{}", event.starts_at.shown(), event.title, lasts.unwrap_or_default())
}

/// A line for each.
fn list(all: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    all.into_iter().map(|it| format!("\n- {it}")).collect()
}

/// Whether a note has all words of `query`.
fn has(note: &str, query: &str) -> bool {
    let (note, query) = (note.to_lowercase(), query.to_lowercase());
    query.split_whitespace().all(|word| note.contains(word))
}

/// The key of a call, which is empty where the client names none.
fn key(call: &Call) -> &str {
    call.meta.0.0.get(CALL_KEY).and_then(Value::as_str).unwrap_or_default()
}

fn fault(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn unfit(error: serde_json::Error) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}
