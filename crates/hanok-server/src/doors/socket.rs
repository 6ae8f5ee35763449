//! Sessions over a WebSocket: whoever connects sees all runs of a session, whoever has begun them.
//!
//! A browser, which sets no headers, offers the protocols `hanok` and `token.TOKEN`; the server takes `hanok`.

use std::{collections::BTreeSet, time::Duration};

use axum::{
    Router,
    extract::{
        Path, Query, State,
        ws::{
            CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code,
            rejection::WebSocketUpgradeRejection,
        },
    },
    http::{HeaderMap, StatusCode, header::SEC_WEBSOCKET_PROTOCOL},
    response::Response,
    routing::get,
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use hanok_checkpoint::Checkpointer as _;
use hanok_core::{Position, RequestId, RunId, Token};
use hanok_graph::{Event, EventId, EventKind, EventPlace, Follow, Mode, Pending};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    approve::new_answer,
    chat::{done, failed},
    session::Session,
    todo::todo,
};
use crate::{
    error::ServeError,
    http::{
        auth::{Role, Signed},
        follow_run::place_before,
        limits::check_depth,
        problem::Problem,
        result::{json_of, put, shown},
        service::{Service, token},
    },
    rows::run::{RunRow, Stop},
};

/// The protocol that the server speaks, and what stands before a token among those that a client offers.
const PROTOCOL: &str = "hanok";
const TOKEN: &str = "token.";

/// The largest message of a client, in bytes.
const LARGEST: usize = 64 * 1024;

/// How often a client is asked whether it lives, and how often it may say nothing to that.
const PING: Duration = Duration::from_secs(15);
const SILENT: u32 = 3;

/// How long a client may take to read a message.
const STUCK: Duration = Duration::from_secs(30);

/// How long the last events of a run that is over may take.
const LAST: Duration = Duration::from_secs(1);

/// The runs that are remembered as told.
const REMEMBERED: usize = 1_000;

/// The modes that are followed.
const MODES: [Mode; 3] = [Mode::Messages, Mode::Custom, Mode::Interrupts];

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/ws/{session}", get(connect))
}

#[derive(Debug, Deserialize)]
struct Asked {
    graph: Option<String>,
    /// The `id` of the last message that the client has seen.
    after: Option<String>,
}

async fn connect(
    State(server): State<Service>,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let token = token(&headers).or_else(|| offered(&headers)).map(str::to_owned);
    let signed = server.recogniser.recognise(token.as_deref()).await;
    let signed = signed.ok_or_else(Problem::unsigned)?;
    signed.needs(Role::Read)?;
    server.limits.request(&signed)?;
    let upgrade = upgrade
        .map_err(|error| Problem::new(error.status(), "HNK-440", error.body_text()))?
        .protocols([PROTOCOL])
        .max_message_size(LARGEST)
        .max_frame_size(LARGEST);
    let session = server.session(&signed, &name, asked.graph.as_deref()).await?;
    let permit = std::sync::Arc::clone(&server.sockets).try_acquire_owned();
    let permit = permit.map_err(|_closed_or_none| {
        let detail = "too many sockets are open; try again later";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "HNK-441", detail)
    })?;
    let permits = (permit, server.limits.stream(&signed)?);
    let begins = begins(&server, &session, asked.after.as_deref()).await?;
    Ok(upgrade.on_upgrade(async move |socket| {
        let connected = Connected::new(server, signed, token, session, socket);
        connected.talk(begins).await;
        drop(permits);
    }))
}

/// The token that a client offers as a protocol.
fn offered(headers: &HeaderMap) -> Option<&str> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(','));
    offered.map(str::trim).find_map(|protocol| protocol.strip_prefix(TOKEN))
}

/// What whoever connects is told at once, and the place of what comes next.
#[derive(Default)]
struct Begins {
    first: Vec<Value>,
    after: Option<EventPlace>,
    /// What is recorded up to here is told at once.
    at: Position,
}

async fn begins(
    server: &Service,
    session: &Session,
    last: Option<&str>,
) -> Result<Begins, Problem> {
    let thread = &*session.thread;
    if let Some(last) = last {
        let place: EventPlace =
            last.parse().map_err(|error| Problem::unprocessable(format!("{error}")))?;
        // One of another life of the thread is refused.
        thread.replay(Some(place.after), None).await?;
        return Ok(Begins { after: Some(place), ..Begins::default() });
    }
    // The run first: if it ends meanwhile, its last events are told all the same.
    let running = server.runs.rows().queue(&session.key).await?.queue.running;
    let row = match running {
        Some(run) => server.runs.rows().run(&session.key, run).await?,
        None => None,
    };
    let Some(head) = thread.log().store().head(&session.key).await? else {
        return Ok(Begins::default());
    };
    let at = head.position;
    let now = EventPlace::from(EventId::last_of(head.life, at));
    let after = match row {
        // What it tells live is shown from its beginning.
        Some(held) => place_before(thread, &held.row).await?,
        None => Some(now),
    };
    let views = thread.views(Some(at)).await?;
    let state = thread.state(Some(at)).await?.map(|state| state.to_json()).transpose();
    let state = state.map_err(|error| ServeError::NoJson(error.to_string()))?;
    let todo = state.and_then(|state| todo(&state, &views));
    let open = views.iter().flat_map(|view| &view.requests).map(required);
    let first = open.chain(todo).map(|json| numbered(json, Some(now))).collect();
    Ok(Begins { first, after, at })
}

/// What a client sends.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    /// Begins a run with a message of a user.
    Message { message: String },
    /// Answers a request.
    Answer { request_id: RequestId, value: Value, digest: Option<String> },
    /// Stops the run that is under way, or is the next.
    Cancel,
}

/// A run that was waited for, and the place that it was begun behind.
type EndedRun = (Result<RunRow, ServeError>, Option<EventPlace>);

/// A client that is connected. `None` of a socket ends it.
struct Connected {
    server: Service,
    signed: Signed,
    token: Option<String>,
    session: Session,
    socket: WebSocket,
    /// The runs whose ends are waited for.
    ends: FuturesUnordered<BoxFuture<'static, EndedRun>>,
    /// The runs whose ends were told.
    told: BTreeSet<RunId>,
    /// The pings since the client was heard.
    silent: u32,
}

/// What happens next.
enum Next {
    Heard(Option<Result<Message, axum::Error>>),
    Event(Option<Event>),
    Ended(Result<RunRow, ServeError>, Option<EventPlace>),
    Ping,
    Drains,
}

impl Connected {
    fn new(
        server: Service,
        signed: Signed,
        token: Option<String>,
        session: Session,
        socket: WebSocket,
    ) -> Self {
        let (ends, told) = Default::default();
        Self { server, signed, token, session, socket, ends, told, silent: 0 }
    }

    async fn talk(mut self, begins: Begins) {
        let mut follow = self.session.thread.follow(begins.after, Some(&MODES));
        let mut goes_on = Some(());
        for json in &begins.first {
            goes_on = self.tell(json).await;
        }
        let clock = self.server.runs.clock();
        let mut ping = clock.sleep(PING).fuse();
        while goes_on.is_some() {
            goes_on = match self.next(&mut follow, &mut ping).await {
                Next::Heard(Some(Ok(message))) => self.hear(message).await,
                Next::Heard(Some(Err(error))) => self.refuse(&error).await,
                Next::Event(Some(event)) => self.event(&event, begins.at).await,
                Next::Ended(row, id) => self.ended(row, id).await,
                Next::Ping => {
                    ping = clock.sleep(PING).fuse();
                    self.ping().await
                }
                Next::Drains => self.close(close_code::AWAY, "the server is about to end").await,
                // What follows cannot be read: the client comes back.
                Next::Event(None) => self.close(close_code::AGAIN, "connect again").await,
                Next::Heard(None) => None,
            };
        }
    }

    async fn next(
        &mut self,
        follow: &mut Follow,
        ping: &mut futures::future::Fuse<BoxFuture<'static, ()>>,
    ) -> Next {
        let draining = self.server.draining.clone();
        futures::select_biased! {
            () = draining.cancelled().fuse() => Next::Drains,
            () = &mut *ping => Next::Ping,
            heard = self.socket.recv().fuse() => Next::Heard(heard),
            event = follow.next().fuse() => Next::Event(event),
            (row, id) = self.ends.select_next_some() => Next::Ended(row, id),
        }
    }

    async fn send(&mut self, message: Message) -> Option<()> {
        let clock = self.server.runs.clock();
        futures::select_biased! {
            sent = self.socket.send(message).fuse() => sent.ok(),
            () = clock.sleep(STUCK).fuse() => None,
        }
    }

    async fn tell(&mut self, json: &Value) -> Option<()> {
        self.send(Message::Text(json.to_string().into())).await
    }

    /// Says good-bye.
    async fn close(&mut self, code: u16, reason: &'static str) -> Option<()> {
        let frame = CloseFrame { code, reason: reason.into() };
        self.send(Message::Close(Some(frame))).await?;
        None
    }

    /// Ends a connection whose client sends what is none, or too much.
    async fn refuse(&mut self, error: &axum::Error) -> Option<()> {
        tracing::debug!(%error, "a socket ended");
        self.close(close_code::SIZE, "a message has at most 64 KiB").await
    }

    /// Asks whether the client lives, and whether its token does.
    async fn ping(&mut self) -> Option<()> {
        self.silent += 1;
        let signed = self.server.recogniser.recognise(self.token.as_deref()).await;
        match signed {
            _ if self.silent > SILENT => None,
            Some(signed) if signed.tenant == self.signed.tenant => {
                self.signed = signed;
                self.send(Message::Ping(Default::default())).await
            }
            _ => self.close(close_code::POLICY, "the token is not known any more").await,
        }
    }

    async fn hear(&mut self, message: Message) -> Option<()> {
        self.silent = 0;
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Some(()),
            Message::Close(_) => return None,
            Message::Binary(_) => {
                let problem = Problem::unprocessable("send text: a JSON object with a `type`");
                return self.tell(&failed(&problem)).await;
            }
        };
        match self.obey(&text).await {
            Ok(()) => Some(()),
            Err(problem) => self.tell(&failed(&problem)).await,
        }
    }

    async fn obey(&mut self, text: &str) -> Result<(), Problem> {
        let (server, signed, session) = (&self.server, &self.signed, &self.session);
        server.limits.request(signed)?;
        check_depth(text.as_bytes())?;
        let said = serde_json::from_str(text);
        let said = said
            .map_err(|error| Problem::unprocessable(format!("this is not understood: {error}")))?;
        let row = match said {
            Said::Message { message } => {
                signed.needs(Role::Run)?;
                session.say(server, signed, &message, None).await?.0
            }
            Said::Answer { request_id, value, digest } => {
                signed.needs(Role::Answer)?;
                let answer = new_answer(request_id, &value, digest)?;
                session.answer(server, signed, answer, None).await?
            }
            Said::Cancel => {
                signed.needs(Role::Run)?;
                let queue = server.runs.rows().queue(&session.key).await?.queue;
                let run = queue.running.or_else(|| queue.pending.first().copied());
                let run = run.ok_or_else(|| {
                    Problem::new(StatusCode::NOT_FOUND, "HNK-402", "no run is under way")
                })?;
                server.runs.stop(&session.key, run, Stop::Interrupt).await?
            }
        };
        // A run that does not begin tells nothing.
        self.wait_for(row.run, None);
        Ok(())
    }

    /// Waits for the end of a run, of which its log tells at a place; without one, also for what the log may tell.
    fn wait_for(&mut self, run: RunId, at: Option<EventPlace>) {
        let (runs, key) = (self.server.runs.clone(), self.session.key.clone());
        let ended = async move {
            let row = runs.ended(&key, run).await;
            if at.is_none() {
                runs.clock().sleep(LAST).await;
            }
            (row, at)
        };
        self.ends.push(ended.boxed());
    }

    /// Tells an event. What was recorded up to `at` was told.
    async fn event(&mut self, event: &Event, at: Position) -> Option<()> {
        let is_new = event.id.is_none_or(|id| id.position > at);
        let json = match &event.kind {
            EventKind::Token(Token::Text(text)) => json!({"type": "token", "content": text}),
            EventKind::Custom(item) => match json_of(item) {
                item if item.get("type").is_some_and(|it| it == "todo_updated") => item,
                _ => return Some(()),
            },
            EventKind::Request(request) if is_new => required(request),
            EventKind::AnswerVoided { request, .. } => required(request),
            EventKind::Ended { .. } if is_new && event.path.is_root() => {
                if let Some(run) = event.run {
                    self.wait_for(run, event.place);
                }
                return Some(());
            }
            _ => return Some(()),
        };
        self.tell(&numbered(json, event.place)).await
    }

    /// Tells the end of a run, once.
    async fn ended(
        &mut self,
        row: Result<RunRow, ServeError>,
        at: Option<EventPlace>,
    ) -> Option<()> {
        let row = match row {
            Ok(row) if self.told.insert(row.run) => row,
            // A run without a row was not begun by the server; one that cannot be read is told by its next end.
            Ok(_) | Err(_) => return Some(()),
        };
        if self.told.len() > REMEMBERED {
            self.told.pop_first();
        }
        let told = match self.session.left(&row).await {
            Ok(left) => done(&self.session, &left),
            Err(problem) => failed(&problem),
        };
        self.tell(&numbered(told, at)).await
    }
}

/// A message with the id from which a client goes on that connects again.
fn numbered(mut json: Value, at: Option<EventPlace>) -> Value {
    if let Some(at) = at {
        put(&mut json, "id", at.to_string());
    }
    json
}

/// What is told of an open request.
fn required(request: &Pending) -> Value {
    json!({
        "type": "HUMAN_INPUT_REQUIRED", "request_id": request.id, "request": shown(request),
    })
}
