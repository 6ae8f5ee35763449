//! Waiting for a thread to move, whoever moves it.
//!
//! While somebody waits, a task of the store's looks after them: it listens on a connection of its own for what appends notify, and
//! looks at all threads that are waited for every now and then, because a notification may be lost: with the connection, or
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

use super::schema::Schema;
use crate::{
    columns::read_key,
    config::Follow,
    failure::Failure,
    number::read,
    server::pool::{Access, Pool, Query},
};

/// The time between two looks where appends notify.
const LOOK: Duration = Duration::from_secs(1);

/// Those who wait, by thread.
type Waiters = BTreeMap<ThreadKey, Vec<(Position, oneshot::Sender<Position>)>>;

/// Those who wait, and the task that looks after them.
#[derive(Debug, Default)]
struct FollowState {
    waiters: Waiters,
    task: Option<JoinHandle<()>>,
}

/// Lets callers wait for threads.
#[derive(Debug, Default)]
pub(crate) struct Followers(Arc<Mutex<FollowState>>);

impl Drop for Followers {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.0).task.take() {
            task.abort();
        }
    }
}

fn lock(waiting: &Mutex<FollowState>) -> MutexGuard<'_, FollowState> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Followers {
    /// The next head of `thread` beyond `after`. Nothing comes when looking failed.
    pub(crate) fn wait(
        &self,
        thread: &ThreadKey,
        after: Position,
        pool: &Pool,
        schema: &Schema,
        follow: Follow,
    ) -> oneshot::Receiver<Position> {
        let (moved, head) = oneshot::channel();
        let mut waiting = lock(&self.0);
        waiting.waiters.entry(thread.clone()).or_default().push((after, moved));
        if waiting.task.as_ref().is_none_or(JoinHandle::is_finished) {
            let follower = Follower {
                waiting: Arc::clone(&self.0),
                pool: pool.clone(),
                schema: schema.clone(),
                follow,
            };
            waiting.task = Some(tokio::spawn(follower.run()));
        }
        head
    }
}

/// A connection that listens, and the notifications that came on it.
struct Listener {
    _client: Client,
    notifications: mpsc::UnboundedReceiver<String>,
}

/// The task that looks after those who wait.
struct Follower {
    waiting: Arc<Mutex<FollowState>>,
    pool: Pool,
    schema: Schema,
    follow: Follow,
}

impl Follower {
    /// Notifies those who wait until nobody does. After a failure their channels are closed, and they look themselves.
    async fn run(self) {
        let pause = match self.follow {
            Follow::Listen => LOOK,
            Follow::Poll(pause) => pause,
        };
        let mut listener = None;
        loop {
            if listener.is_none() && self.follow == Follow::Listen {
                listener = self.listen().await;
            }
            if self.look().await.is_err() {
                lock(&self.waiting).waiters.clear();
            }
            if self.is_done() {
                return;
            }
            let next = Instant::now() + pause;
            while let Some(notification) = hear(&mut listener, next).await {
                self.pass_on(&notification);
            }
        }
    }

    /// True when nobody waits. Whoever comes now finds no task, and starts one.
    fn is_done(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        if waiting.waiters.is_empty() {
            waiting.task = None;
        }
        waiting.waiters.is_empty()
    }

    /// Listens to what appends notify from now on; `None` where that cannot be.
    async fn listen(&self) -> Option<Listener> {
        let (client, mut connection) = self.pool.apart().await.ok()?;
        let (sender, notifications) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            // It ends with its client.
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(it) = message {
                    // Nobody hears it any more when the client is about to go.
                    drop(sender.send(it.payload().to_owned()));
                }
            }
        });
        let listen = format!("LISTEN {}", self.schema);
        time::timeout(LOOK, client.batch_execute(&listen)).await.ok()?.ok()?;
        Some(Listener { _client: client, notifications })
    }

    /// Looks where all threads are that are waited for.
    async fn look(&self) -> Result<(), Failure> {
        let keys: Vec<_> = {
            let mut waiting = lock(&self.waiting);
            waiting.waiters.retain(|_, waiters| {
                waiters.retain(|(_, moved)| !moved.is_closed());
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
        let answers = self.pool.ask(Access::Read, &[Query { sql: &sql, parameters }]).await?;
        for row in answers.iter().flatten() {
            notify(&self.waiting, &read_key(row, 1)?, Position(read(row.try_get(0)?)?));
        }
        Ok(())
    }

    /// Passes on what an append notified: the position, the tenant and the thread, a line each.
    fn pass_on(&self, notification: &str) {
        let mut lines = notification.splitn(3, '\n');
        let head = lines.next().and_then(|head| head.parse().ok()).map(Position);
        let tenant = lines.next().and_then(|tenant| Tenant::new(tenant).ok());
        let thread = tenant.zip(lines.next());
        let thread = thread.and_then(|(tenant, name)| ThreadKey::new(tenant, name).ok());
        if let (Some(head), Some(thread)) = (head, thread) {
            notify(&self.waiting, &thread, head);
        }
    }
}

/// Notifies those who wait for `thread` that it is at `head`.
fn notify(waiting: &Mutex<FollowState>, thread: &ThreadKey, head: Position) {
    let mut waiting = lock(waiting);
    let Some(waiters) = waiting.waiters.remove(thread) else { return };
    let (due, early): (Vec<_>, Vec<_>) = waiters.into_iter().partition(|(after, _)| head > *after);
    if !early.is_empty() {
        waiting.waiters.insert(thread.clone(), early);
    }
    for (_, moved) in due {
        // Somebody who is gone does not hear it.
        let _ = moved.send(head);
    }
}

/// The next notification before `next`; forgets a connection that broke.
async fn hear(listener: &mut Option<Listener>, next: Instant) -> Option<String> {
    let notification = match listener {
        Some(it) => time::timeout_at(next, it.notifications.recv()).await.ok()?,
        None => {
            time::sleep_until(next).await;
            return None;
        }
    };
    if notification.is_none() {
        *listener = None;
    }
    notification
}
