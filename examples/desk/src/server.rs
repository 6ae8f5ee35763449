//! The tools, and the server that has them.

use std::{borrow::Cow, io, sync::Arc};

use jiff::Timestamp;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::{
        router::tool::ToolRouter,
        tool::{InputResponses, ToolCallContext},
        wrapper::Parameters,
    },
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
        CreateTaskResult, DetailedTask, DiscoverResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationSchema, GetTaskParams, GetTaskResult,
        InputRequest, InputRequiredResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig, Task, TaskPayload, TaskStatus,
    },
    service::RequestContext,
    tool, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    data::{Booking, Data, Event, Note, Report, Store},
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewEvent {
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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewBooking {
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

/// What a call came to.
type Came = Result<CallToolResponse, ErrorData>;

#[tool_router]
impl Desk {
    /// 메모를 하나 적어 둡니다.
    #[tool(annotations(destructive_hint = false, idempotent_hint = true))]
    async fn add_note(&self, Parameters(new): Parameters<NewNote>, call: Call) -> Came {
        self.change(&call, |data| {
            data.notes.push(Note { text: new.text.trim().to_owned() });
            Ok(format!("메모를 적어 두었습니다: {} (모두 {}개)", new.text.trim(), data.notes.len()))
        })
    }

    /// 적어 둔 메모를 찾습니다.
    #[tool(annotations(read_only_hint = true))]
    async fn find_notes(&self, Parameters(of): Parameters<NoteQuery>) -> Came {
        let notes = self.store.read().map_err(fault)?.notes;
        let query = of.query.unwrap_or_default();
        let found = notes.iter().filter(|note| has(note, &query));
        let lines: Vec<_> = found.map(|note| format!("\n- {}", note.text)).collect();
        Ok(said(match lines.len() {
            0 => "맞는 메모가 없습니다.".to_owned(),
            count => format!("메모 {count}개를 찾았습니다:{}", lines.concat()),
        }))
    }

    /// 맞는 메모를 지웁니다. 되돌릴 수 없습니다.
    #[tool(annotations(destructive_hint = true))]
    async fn delete_notes(&self, Parameters(of): Parameters<NotesToDelete>, call: Call) -> Came {
        self.change(&call, |data| {
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
    async fn add_event(&self, Parameters(new): Parameters<NewEvent>, call: Call) -> Came {
        self.change(&call, |data| {
            let event =
                Event { starts_at: new.starts_at, minutes: new.duration_minutes, title: new.title };
            let line = line(&event);
            data.events.push(event);
            Ok(format!("일정을 잡았습니다: {line}"))
        })
    }

    /// 잡힌 일정을 보여 줍니다.
    #[tool(annotations(read_only_hint = true))]
    async fn list_events(&self, Parameters(of): Parameters<Period>) -> Came {
        let mut events = self.store.read().map_err(fault)?.events;
        events.retain(|event| {
            of.from.as_ref().is_none_or(|from| from.at <= event.starts_at.at)
                && of.to.as_ref().is_none_or(|to| event.starts_at.at < to.at)
        });
        events.sort_by_key(|event| event.starts_at.at);
        let lines: Vec<_> = events.iter().map(|event| format!("\n- {}", line(event))).collect();
        Ok(said(match lines.len() {
            0 => "그때에 잡힌 일정이 없습니다.".to_owned(),
            count => format!("일정 {count}개:{}", lines.concat()),
        }))
    }

    /// 값의 단위를 바꿉니다: 길이, 무게, 넓이, 부피, 온도.
    #[tool(annotations(read_only_hint = true))]
    async fn convert_units(&self, Parameters(of): Parameters<Conversion>) -> Came {
        Ok(convert(of.value, of.from, of.to).map_or_else(refused, said))
    }

    /// 회의실을 예약합니다. 어느 회의실인지, 몇 명인지 모르면 비워 두면 사람에게 물어봅니다.
    #[tool(annotations(destructive_hint = false, idempotent_hint = true))]
    async fn book_room(
        &self,
        Parameters(mut new): Parameters<NewBooking>,
        InputResponses(answers): InputResponses,
        call: Call,
    ) -> Came {
        if new.room.is_none() || new.people.is_none() {
            let answer = match answers.and_then(|mut answers| answers.remove(QUESTION)) {
                Some(answer) => serde_json::from_value(answer).map_err(unfit)?,
                None if self.is_old => call
                    .peer
                    .create_elicitation(question(&new)?)
                    .await
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
                None => return Ok(asked(question(&new)?)),
            };
            let ElicitResult { action: ElicitationAction::Accept, content: Some(form), .. } =
                answer
            else {
                return Ok(said("회의실을 잡지 않았습니다: 답하지 않기로 하셨습니다."));
            };
            let form: NewBooking = serde_json::from_value(form).map_err(unfit)?;
            (new.room, new.people) = (new.room.or(form.room), new.people.or(form.people));
        }
        let (Some(room), Some(people)) = (new.room, new.people) else {
            return Ok(refused("어느 회의실을 몇 명이 쓰는지 있어야 합니다."));
        };
        let ((name, seats), starts_at) =
            (room.of(), new.starts_at.unwrap_or_else(|| self.now().into()));
        self.change(&call, |data| {
            if people > seats {
                return Err(format!(
                    "{name}에는 {seats}명까지 앉습니다: {people}명은 너무 많습니다."
                ));
            }
            let minutes = new.duration_minutes.unwrap_or(BOOKED_MINUTES);
            let from = starts_at.shown();
            data.bookings.push(Booking { room, people, starts_at, minutes });
            Ok(format!(
                "{from}부터 {minutes}분 동안 회의실 {name}을(를) {people}명으로 잡았습니다."
            ))
        })
    }

    /// 회의실과 그 예약을 보여 줍니다.
    #[tool(annotations(read_only_hint = true))]
    async fn list_rooms(&self) -> Came {
        let bookings = self.store.read().map_err(fault)?.bookings;
        let lines = Room::ALL.map(|room| {
            let taken = bookings.iter().filter(|booking| booking.room == room);
            let taken: Vec<_> =
                taken.map(|it| format!("{} ({}명)", it.starts_at.shown(), it.people)).collect();
            let taken = if taken.is_empty() { "없음".to_owned() } else { taken.join(", ") };
            format!("\n- {}: {}명까지, 예약 {taken}", room.of().0, room.of().1)
        });
        Ok(said(format!("회의실:{}", lines.concat())))
    }

    /// 메모와 일정으로 보고서를 만듭니다. 시간이 걸립니다.
    #[tool(annotations(destructive_hint = false))]
    async fn build_report(&self, Parameters(new): Parameters<NewReport>, call: Call) -> Came {
        let (key, mut id) = (key(&call), String::new());
        let report = Report { topic: new.topic, began: self.now(), cancelled: false };
        // A call that comes again under its key is told of the same task.
        let begun = self.store.change("", |data| {
            let number = data.reports.len() + 1;
            id = if key.is_empty() { format!("report-{number}") } else { format!("report-{key}") };
            let known = data.reports.entry(id.clone()).or_insert(report);
            Ok(known.began.to_string())
        });
        let began = begun.map_err(fault)?.unwrap_or_default();
        Ok(CreateTaskResult::new(task(&id, TaskStatus::Working, &began)).into())
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

    /// Makes a call that writes, once for its key.
    fn change(
        &self,
        call: &Call,
        change: impl FnOnce(&mut Data) -> Result<String, String>,
    ) -> Came {
        let came = self.store.change(key(call), change).map_err(fault)?;
        Ok(came.map_or_else(refused, said))
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
            return Err(ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                "server/discover",
                None,
            ));
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

    async fn call_tool(&self, request: CallToolRequestParams, call: Call) -> Came {
        let router = self.router();
        if router.get(&request.name).is_none() {
            return Err(ErrorData::invalid_params(
                format!("no tool is called `{}`", request.name),
                None,
            ));
        }
        self.store.ledger(&request.name, key(&call)).map_err(fault)?;
        router.call(ToolCallContext::new(self, request, call)).await
    }

    async fn get_task(&self, of: GetTaskParams, _: Call) -> Result<GetTaskResult, ErrorData> {
        self.store.ledger("poll", &of.task_id).map_err(fault)?;
        let data = self.store.read().map_err(fault)?;
        let report = data.reports.get(&of.task_id).ok_or_else(unknown)?;
        let passed = self.now().as_millisecond() - report.began.as_millisecond();
        let payload = match (report.cancelled, passed >= self.report_millis) {
            (true, _) => TaskPayload::Cancelled,
            (false, true) => {
                TaskPayload::Completed { result: written(&data, report.topic.as_deref())? }
            }
            (false, false) => TaskPayload::Working,
        };
        let task = task(&of.task_id, payload.status(), &report.began.to_string());
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    async fn cancel_task(&self, of: CancelTaskParams, _: Call) -> Result<(), ErrorData> {
        self.store.ledger("cancel", &of.task_id).map_err(fault)?;
        let cancelled = self.store.change("", |data| {
            let report = data.reports.get_mut(&of.task_id).ok_or_else(String::new)?;
            report.cancelled = true;
            Ok(String::new())
        });
        cancelled.map_err(fault)?.map(drop).map_err(|_none| unknown())
    }
}

/// The name of the one question.
const QUESTION: &str = "room";

/// The question for what a booking lacks.
fn question(new: &NewBooking) -> Result<ElicitRequestParams, ErrorData> {
    let rooms = Room::ALL.map(|room| room.of().0);
    let room = ("room", json!({"type": "string", "title": "회의실", "enum": rooms}));
    let people =
        ("people", json!({"type": "integer", "title": "몇 명", "minimum": 1, "maximum": 12}));
    let lacks = [(new.room.is_none(), room), (new.people.is_none(), people)];
    let lacks = lacks.into_iter().filter_map(|(lacks, field)| lacks.then_some(field));
    let (names, properties): (Vec<_>, serde_json::Map<_, _>) =
        lacks.map(|(name, field)| (name, (name.to_owned(), field))).unzip();
    let message = match *names {
        ["room"] => "어느 회의실을 씁니까?",
        ["people"] => "몇 명이 씁니까?",
        _ => "어느 회의실을 몇 명이 씁니까?",
    };
    let form = json!({"type": "object", "required": names, "properties": properties});
    let form = serde_json::from_value(form).and_then(ElicitationSchema::from_json_schema);
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: form.map_err(unfit)?,
    })
}

/// The result that asks before the call is made.
fn asked(question: ElicitRequestParams) -> CallToolResponse {
    let request = InputRequest::Elicitation(ElicitRequest::new(question));
    let requests = [(QUESTION.to_owned(), request)].into();
    InputRequiredResult::new(Some(requests), Some(QUESTION.to_owned())).into()
}

/// The report: what notes and events there are.
fn written(data: &Data, topic: Option<&str>) -> Result<serde_json::Map<String, Value>, ErrorData> {
    let topic = topic.map(|topic| format!("‘{topic}’ ")).unwrap_or_default();
    let (notes, events) = (data.notes.len(), data.events.len());
    let mut sorted: Vec<_> = data.events.iter().collect();
    sorted.sort_by_key(|event| event.starts_at.at);
    let lines = data.notes.iter().map(|note| note.text.clone()).chain(sorted.into_iter().map(line));
    let lines: Vec<_> = lines.map(|line| format!("\n- {line}")).collect();
    let text = format!(
        "{topic}보고서를 다 만들었습니다. 메모 {notes}개, 일정 {events}개입니다.{}",
        lines.concat()
    );
    let result = CallToolResult::success(vec![ContentBlock::text(text)]);
    let result = serde_json::to_value(result).and_then(serde_json::from_value);
    result.map_err(unfit)
}

fn task(id: &str, status: TaskStatus, began: &str) -> Task {
    Task::new(id, status, began, began).with_poll_interval_ms(POLL_MILLIS)
}

/// An event as a line.
fn line(event: &Event) -> String {
    let lasts = event.minutes.map(|minutes| format!(" ({minutes}분)")).unwrap_or_default();
    format!("{} {}{lasts}", event.starts_at.shown(), event.title)
}

/// Whether a note has all words of `query`.
fn has(note: &Note, query: &str) -> bool {
    let (note, query) = (note.text.to_lowercase(), query.to_lowercase());
    query.split_whitespace().all(|word| note.contains(word))
}

/// The key of a call, which is empty where the client names none.
fn key(call: &Call) -> &str {
    call.meta.0.0.get(CALL_KEY).and_then(Value::as_str).unwrap_or_default()
}

/// The result of a call that did its work.
fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// The result of a call that could not.
fn refused(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

fn fault(error: io::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn unfit(error: serde_json::Error) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}

fn unknown() -> ErrorData {
    ErrorData::invalid_params("no such task", None)
}
