//! Sessions: threads under the names that a product gives them.

use std::time::Duration;

use axum::http::StatusCode;
use hanok_core::{RequestId, ThreadKey};
use hanok_graph::{AnyThread, EventKind, EventPlace, Mode, NewAnswer, Pending, RunError};
use serde_json::{Value, json};

use crate::{
    error::ServeError,
    http::{
        auth::Signed,
        follow_run::place_now,
        problem::Problem,
        result::{self, Left, left, requests},
        service::Service,
    },
    rows::{
        keys::public_id,
        run::{RunRow, RunStatus},
        thread::ThreadRow,
    },
    runs::Post,
};

/// How often an answer is given again while a run owns the thread, and the time between.
const TRIES: usize = 50;
const AGAIN: Duration = Duration::from_millis(20);

/// The code of a turn that is not finished.
const UNFINISHED: &str = "HNK-210";

/// A thread of a caller, behind the graph that runs it.
pub(crate) struct Session {
    pub(crate) key: ThreadKey,
    pub(crate) graph: String,
    pub(crate) thread: Box<dyn AnyThread>,
    /// What lists say of the thread; `None` for one without runs.
    pub(crate) row: Option<ThreadRow>,
}

impl Service {
    /// The session of this name, or of the UUID that its name has. Without `graph` it is of the graph that ran last on it, or else
    /// of the server's default.
    pub(crate) async fn session(
        &self,
        signed: &Signed,
        name: &str,
        graph: Option<&str>,
    ) -> Result<Session, Problem> {
        let row = self.runs.rows().thread(&signed.tenant, public_id(name)).await?;
        let row = row.map(|(row, _)| row);
        let key = signed.key(row.as_ref().map_or(name, |row| &row.name))?;
        let ran = || self.served_graph(row.as_ref()?);
        let graph = graph.or_else(ran).unwrap_or(&self.default_graph).to_owned();
        let thread = self.thread(signed, &graph, key.thread())?;
        Ok(Session { key, graph, thread, row })
    }

    /// The session of this name, which has to be there.
    pub(crate) async fn known_session(
        &self,
        signed: &Signed,
        name: &str,
    ) -> Result<Session, Problem> {
        let session = self.session(signed, name, None).await?;
        match session.row {
            Some(_) => Ok(session),
            None => Err(Problem::no_thread()),
        }
    }
}

impl Session {
    /// Begins a run with a message of a user, and gives the place before its events. A session that waits for an answer refuses it.
    pub(crate) async fn say(
        &self,
        server: &Service,
        signed: &Signed,
        message: &str,
        once: Option<String>,
    ) -> Result<(RunRow, Option<EventPlace>), Problem> {
        // A request that is made again gets its run, whatever that has asked since.
        if once.is_none() {
            let open = requests(&*self.thread, None).await?;
            if !open.is_empty() {
                return Err(waits(&open));
            }
        }
        let after = place_now(&*self.thread).await?;
        let said = json!([{"role": "user", "content": message}]);
        let input = server.runs.apps().said(&self.graph, said);
        Ok((self.post(server, signed, input, once).await?, after))
    }

    async fn post(
        &self,
        server: &Service,
        signed: &Signed,
        input: Value,
        idempotency_key: Option<String>,
    ) -> Result<RunRow, Problem> {
        let request = signed.request(&self.graph, input);
        let post = Post { idempotency_key, ..Post::new(self.key.clone(), request) };
        Ok(server.runs.post(post).await?.row)
    }

    /// The open request of this id, or the only one there is.
    pub(crate) async fn asked(
        &self,
        id: Option<&RequestId>,
    ) -> Result<Option<Pending>, ServeError> {
        let mut open = requests(&*self.thread, None).await?;
        match (id, open.len()) {
            (Some(id), _) => Ok(open.into_iter().find(|request| request.id == *id)),
            (None, 0) => Err(RunError::NothingAsked(self.key.clone()).into()),
            (None, 1) => Ok(open.pop()),
            (None, _) => Err(RunError::Ambiguous { requests: open }.into()),
        }
    }

    /// The request of this id as it was asked last, from the log.
    pub(crate) async fn was_asked(&self, id: &RequestId) -> Result<Option<Pending>, ServeError> {
        let (mut last, replay) = (None, self.thread.replay(None, Some(&[Mode::Interrupts])));
        let Some(mut replay) = replay.await? else { return Ok(None) };
        loop {
            let events = replay.next().await?;
            if events.is_empty() {
                return Ok(last);
            }
            let asked = events.into_iter().filter_map(|event| match event.kind {
                EventKind::Request(request) if request.id == *id => Some(request),
                _ => None,
            });
            last = asked.last().or(last);
        }
    }

    /// Stores an answer, and begins the run that goes on with it.
    pub(crate) async fn answer(
        &self,
        server: &Service,
        signed: &Signed,
        answer: NewAnswer,
        once: Option<String>,
    ) -> Result<RunRow, Problem> {
        // The same answer under the same key is taken again, so that its run is posted for certain.
        let answer = match &once {
            Some(key) => answer.key(key.clone()),
            None => answer,
        };
        let mut tries = 0..TRIES;
        loop {
            match self.thread.answer(vec![answer.clone()]).await {
                // Another question of the thread may have been answered, whose run is about to stop at this one.
                Err(RunError::Conflict { .. }) if tries.next().is_some() => {
                    server.runs.clock().sleep(AGAIN).await;
                }
                Err(error) => return Err(error.into()),
                Ok(_) => break,
            }
        }
        self.post(server, signed, json!("resume"), once).await
    }

    /// What a run has left that is over, or the error with which it ended.
    pub(crate) async fn left(&self, row: &RunRow) -> Result<Left, Problem> {
        if row.status == RunStatus::Success || row.end.as_ref().is_some_and(|end| end.asks()) {
            return Ok(left(&*self.thread, row).await?);
        }
        let problem = Problem::of_run(row);
        match problem.code {
            UNFINISHED => Err(waits(&requests(&*self.thread, None).await?)),
            _ => Err(problem),
        }
    }

    /// What a run has left, as an answer of the session.
    pub(crate) fn told(&self, left: &Left) -> Value {
        let mut metadata = json!({"thread_id": self.key.thread()});
        if !left.requests.is_empty() {
            result::put(
                &mut metadata,
                "requests",
                left.requests.iter().map(result::shown).collect::<Value>(),
            );
        }
        let calls = left.tool_calls().into_iter().map(|call| {
            let text = call.arguments.as_str();
            let arguments = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
            json!({"id": call.id, "name": call.name, "arguments": arguments})
        });
        json!({
            "response": left.text(), "tool_calls": calls.collect::<Value>(), "metadata": metadata,
        })
    }
}

/// The error of a message to a session that waits for answers.
fn waits(open: &[Pending]) -> Problem {
    let detail = "the session waits for an answer: answer what is asked first";
    let problem = Problem::new(StatusCode::CONFLICT, UNFINISHED, detail);
    problem.with("requests", open.iter().map(result::shown).collect::<Value>())
}
