//! Waiting for a thread to move, whoever moves it.
//!
//! While somebody waits, a task of the store's looks after them: it listens on a connection of its own for what appends tell, and
//! looks at all threads that are waited for every now and then, because what is told may be lost: with the connection, or
//! behind a pooler.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_core::{Position, Tenant, ThreadKey};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{self, Instant},
};
use tokio_postgres::{AsyncMessage, Client, types::Type};

use crate::{
    config::Follow,
    database::Database,
    failure::Failure,
    number::read,
    pool::{Mode, Pool, Query},
    read::read_key,
    schema::Schema,
};

/// How often it is looked where appends tell.
const LOOK: Duration = Duration::from_secs(1);

/// Those who wait, by thread.
type Waiters = BTreeMap<ThreadKey, Vec<(Position, oneshot::Sender<Position>)>>;

/// Who waits, and whether somebody looks after them.
#[derive(Debug, Default)]
struct Waiting {
    waiters: Waiters,
    task: Option<JoinHandle<()>>,
}

/// Lets callers wait for threads.
#[derive(Debug, Default)]
pub(crate) struct Followers(Arc<Mutex<Waiting>>);

impl Drop for Followers {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.0).task.take() {
            task.abort();
        }
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Database {
    pub(crate) async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, Failure> {
        loop {
            // Who waits first and looks then misses nothing in between.
            let told = self.wait(thread, after);
            let head = self.head(thread).await?.map_or(Position::START, |head| head.position);
            if head > after {
                return Ok(head);
            }
            // Nobody tells any more when looking failed: the next look says why.
            if let Ok(position) = told.await {
                return Ok(position);
            }
        }
    }

    fn wait(&self, thread: &ThreadKey, after: Position) -> oneshot::Receiver<Position> {
        let (tell, told) = oneshot::channel();
        let mut waiting = lock(&self.followers.0);
        waiting.waiters.entry(thread.clone()).or_default().push((after, tell));
        if waiting.task.as_ref().is_none_or(JoinHandle::is_finished) {
            let task = Task {
                waiting: Arc::clone(&self.followers.0),
                pool: self.pool.clone(),
                schema: self.schema.clone(),
                follow: self.follow,
            };
            waiting.task = Some(tokio::spawn(task.run()));
        }
        told
    }
}

/// A connection that listens, and what it heard.
struct Heard {
    _client: Client,
    told: mpsc::UnboundedReceiver<String>,
}

/// What looks after those who wait.
struct Task {
    waiting: Arc<Mutex<Waiting>>,
    pool: Pool,
    schema: Schema,
    follow: Follow,
}

impl Task {
    /// Tells those who wait until nobody does. After a failure they are told nothing, and look themselves.
    async fn run(self) {
        let pause = match self.follow {
            Follow::Listen => LOOK,
            Follow::Poll(pause) => pause,
        };
        let mut heard = None;
        loop {
            if heard.is_none() && self.follow == Follow::Listen {
                heard = self.listen().await;
            }
            if self.look().await.is_err() {
                lock(&self.waiting).waiters.clear();
            }
            if self.is_done() {
                return;
            }
            let next = Instant::now() + pause;
            while let Some(told) = hear(&mut heard, next).await {
                self.tell(&told);
            }
        }
    }

    /// Whether nobody waits. Whoever comes now finds no task, and starts one.
    fn is_done(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        if waiting.waiters.is_empty() {
            waiting.task = None;
        }
        waiting.waiters.is_empty()
    }

    /// What appends tell from now on; `None` where it cannot be heard.
    async fn listen(&self) -> Option<Heard> {
        let (client, mut connection) = self.pool.apart().await.ok()?;
        let (tell, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            // It ends with its client.
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(it) = message {
                    // Nobody hears it any more when the client is about to go.
                    drop(tell.send(it.payload().to_owned()));
                }
            }
        });
        let listen = format!("LISTEN {}", self.schema);
        time::timeout(LOOK, client.batch_execute(&listen)).await.ok()?.ok()?;
        Some(Heard { _client: client, told })
    }

    /// Looks where all threads are that are waited for.
    async fn look(&self) -> Result<(), Failure> {
        let keys: Vec<_> = {
            let mut waiting = lock(&self.waiting);
            waiting.waiters.retain(|_, waiters| {
                waiters.retain(|(_, tell)| !tell.is_closed());
                !waiters.is_empty()
            });
            waiting.waiters.keys().cloned().collect()
        };
        if keys.is_empty() {
            return Ok(());
        }
        let tenants: Vec<_> = keys.iter().map(|key| key.tenant().as_str()).collect();
        let threads: Vec<_> = keys.iter().map(ThreadKey::thread).collect();
        let s = &self.schema;
        let sql = format!(
            "SELECT head, tenant, thread FROM {s}.threads
             JOIN unnest($1, $2) AS sought (t, n) ON tenant = t AND thread = n"
        );
        let parameters = &[(&tenants as _, Type::TEXT_ARRAY), (&threads as _, Type::TEXT_ARRAY)];
        let answers = self.pool.ask(Mode::Read, &[Query { sql: &sql, parameters }]).await?;
        for row in answers.iter().flatten() {
            tell(&self.waiting, &read_key(row, 1)?, Position(read(row.try_get(0)?)?));
        }
        Ok(())
    }

    /// Tells what an append told: the position, the tenant and the thread, a line each.
    fn tell(&self, told: &str) {
        let mut lines = told.splitn(3, '\n');
        let head = lines.next().and_then(|head| head.parse().ok()).map(Position);
        let tenant = lines.next().and_then(|tenant| Tenant::new(tenant).ok());
        let thread = tenant.zip(lines.next());
        let thread = thread.and_then(|(tenant, name)| ThreadKey::new(tenant, name).ok());
        if let (Some(head), Some(thread)) = (head, thread) {
            tell(&self.waiting, &thread, head);
        }
    }
}

/// Tells those who wait for `thread` that it is at `head`.
fn tell(waiting: &Mutex<Waiting>, thread: &ThreadKey, head: Position) {
    let mut waiting = lock(waiting);
    let Some(waiters) = waiting.waiters.remove(thread) else { return };
    let (told, rest): (Vec<_>, Vec<_>) = waiters.into_iter().partition(|(after, _)| head > *after);
    if !rest.is_empty() {
        waiting.waiters.insert(thread.clone(), rest);
    }
    for (_, tell) in told {
        // Somebody who is gone does not hear it.
        let _ = tell.send(head);
    }
}

/// What is told before `next`; forgets what cannot be heard any more.
async fn hear(heard: &mut Option<Heard>, next: Instant) -> Option<String> {
    let told = match heard {
        Some(heard) => time::timeout_at(next, heard.told.recv()).await.ok()?,
        None => {
            time::sleep_until(next).await;
            return None;
        }
    };
    if told.is_none() {
        *heard = None;
    }
    told
}
