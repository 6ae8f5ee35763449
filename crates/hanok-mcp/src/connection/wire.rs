//! What both transports know of their server: whether it keeps to the limits, and which calls it may have taken.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use hanok_core::{Call, Clock};
#[expect(deprecated, reason = "servers log until the protocol has something else")]
use rmcp::model::LoggingMessageNotificationParam;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ProgressNotificationParam, ProgressToken,
    ServerJsonRpcMessage, ServerNotification,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use super::leaving::{Leaving, key};
use crate::{depth::DEEPEST, error::ServerError, redact::Redact, text::line};

/// The key in `_meta` of a call under which its idempotency key stands.
pub(crate) const KEY: &str = "hanok/callKey";

/// The most bytes of a line or a body.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// The most messages in a row that answer nothing.
const UNASKED: u32 = 10_000;

/// The most items that the observers of a call are sent of one request.
const MOST_ITEMS: usize = 1_000;

/// The limit that a server has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Breach {
    TooLong,
    TooDeep,
    Babbling,
    NoProtocol { bytes: usize },
    Redirected { to: String },
    Unauthorized,
}

impl From<Breach> for ServerError {
    fn from(breach: Breach) -> Self {
        match breach {
            Breach::TooLong => Self::TooLong { limit: LONGEST },
            Breach::TooDeep => Self::TooDeep { limit: DEEPEST },
            Breach::Babbling => Self::Babbling { messages: UNASKED },
            Breach::NoProtocol { bytes } => Self::NoProtocol { bytes },
            Breach::Redirected { to } => Self::Redirected { to },
            Breach::Unauthorized => Self::Unauthorized,
        }
    }
}

/// The state of one connection that transport and client share.
#[derive(Debug)]
pub(super) struct Wire {
    /// True where somebody answers at once what a server asks within a call.
    answers_within: bool,
    /// What is cut out of the server's messages.
    pub(super) redact: Redact,
    breach: watch::Sender<Option<Breach>>,
    calls: Mutex<HashMap<String, OpenCall>>,
    unasked: AtomicU32,
    ended: AtomicBool,
    changed: AtomicBool,
    failure: Mutex<Option<String>>,
    thinking: watch::Sender<Thinking>,
}

/// The persons who think about a question of the server, and the time that others took.
#[derive(Debug, Default)]
struct Thinking {
    persons: usize,
    took: Duration,
}

impl Default for Wire {
    fn default() -> Self {
        Self::new(true, Redact::default())
    }
}

impl Wire {
    /// The state of a new connection, out of whose messages `redact` cuts.
    pub(super) fn new(answers_within: bool, redact: Redact) -> Self {
        let breach = watch::Sender::new(None);
        Self {
            answers_within,
            redact,
            breach,
            calls: Mutex::default(),
            unasked: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            changed: AtomicBool::new(false),
            failure: Mutex::default(),
            thinking: watch::Sender::default(),
        }
    }
}

impl Wire {
    /// Notes that the server has passed a limit. The first one counts.
    pub(super) fn breached(&self, breach: Breach) {
        self.breach.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(breach);
            is_first
        });
    }

    /// The limit that the server has passed.
    pub(super) fn breach(&self) -> Option<Breach> {
        self.breach.borrow().clone()
    }

    /// Completes when the server has passed a limit.
    pub(super) async fn until_breached(&self) -> Breach {
        let mut breach = self.breach.subscribe();
        loop {
            if let Some(breach) = breach.borrow_and_update().clone() {
                return breach;
            }
            if breach.changed().await.is_err() {
                // The sender lives as long as this does.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Notes why a request failed, where that is said better here than further up.
    pub(super) fn fails(&self, why: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// The reason of the last failure, if one was noted since this was asked last.
    pub(super) fn take_failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that nothing comes any more.
    pub(super) fn ends(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// True when nothing comes any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// True when the server has said that its tools are others, since this was asked last.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// Counts a message of the server, and says whether it still keeps to the limits. What it says of its tools is known from here
    /// on: before an answer that comes after it.
    pub(super) fn received(&self, message: &ServerJsonRpcMessage) -> Result<(), Breach> {
        if let JsonRpcMessage::Notification(notification) = message {
            match &notification.notification {
                ServerNotification::ToolListChangedNotification(_) => {
                    self.changed.store(true, Ordering::SeqCst);
                }
                ServerNotification::ProgressNotification(progress) => {
                    self.progressed(&progress.params)
                }
                ServerNotification::LoggingMessageNotification(log) => self.logged(&log.params),
                _ => {}
            }
        }
        match message {
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                self.unasked.store(0, Ordering::Relaxed);
                Ok(())
            }
            _ => match self.unasked.fetch_add(1, Ordering::Relaxed) {
                count if count >= UNASKED => Err(Breach::Babbling),
                _ => Ok(()),
            },
        }
    }

    /// Follows the call of `key` for as long as the answer is held.
    pub(super) fn follow(self: &Arc<Self>, key: &str, call: &Call) -> Followed {
        let open = OpenCall {
            call: call.clone(),
            may_be_taken: false,
            token: None,
            items: 0,
            unanswered: Vec::new(),
        };
        self.calls().insert(key.to_owned(), open);
        Followed { wire: self.clone(), key: key.to_owned() }
    }

    /// `message` as it is sent: a server of an older version is not told of questions that nobody answers within a call.
    pub(super) fn outgoing(&self, mut message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        if let JsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::InitializeRequest(initialize) = &mut request.request
            && !self.answers_within
        {
            initialize.params.capabilities.elicitation = None;
        }
        message
    }

    /// Notes that a message leaves for the server: `call`, if it is one.
    pub(super) fn leaves(&self, call: Option<Leaving>) {
        let Some(Leaving { key, token }) = call else { return };
        if let Some(open) = self.calls().get_mut(&key) {
            open.may_be_taken = true;
            open.token = token;
        }
    }

    /// Notes that `message` did not reach the server after all.
    pub(super) fn returns(&self, message: &ClientJsonRpcMessage) {
        let Some(key) = key(message) else { return };
        if let Some(open) = self.calls().get_mut(key) {
            open.may_be_taken = false;
        }
    }

    /// Tells the observers of a call how far it is.
    fn progressed(&self, at: &ProgressNotificationParam) {
        let is_of = |open: &&mut OpenCall| open.token.as_ref() == Some(&at.progress_token);
        let call = self.calls().values_mut().find(is_of).and_then(OpenCall::observed);
        if let Some(call) = call {
            let message = at.message.as_deref().map(|message| line(message, 1024));
            call.custom(&Progress { progress: at.progress, total: at.total, message });
        }
    }

    /// Tells the observers of the call under way what the server logs. Of several calls nobody knows whose it is.
    #[expect(deprecated, reason = "servers log until the protocol has something else")]
    fn logged(&self, log: &LoggingMessageNotificationParam) {
        let call = {
            let mut calls = self.calls();
            let mut open = calls.values_mut();
            match (open.next(), open.next()) {
                (Some(only), None) => only.observed(),
                _ => None,
            }
        };
        let Some(call) = call else { return };
        let level = serde_json::to_value(log.level).ok();
        let text = match &log.data {
            Value::String(text) => line(text, 1024),
            data => line(&data.to_string(), 1024),
        };
        let item = ServerLog {
            level: level.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
            logger: log.logger.as_deref().map(|logger| line(logger, 128)),
            text,
        };
        call.custom(&item);
    }

    /// Notes that a person thinks for as long as the answer is held.
    pub(super) fn thinks(self: &Arc<Self>, clock: Arc<dyn Clock>) -> PersonThinks {
        self.thinking.send_modify(|thinking| thinking.persons += 1);
        PersonThinks { wire: self.clone(), since: clock.monotonic(), clock }
    }

    /// The time that persons took, once none thinks.
    async fn thought(&self) -> Duration {
        let mut thinking = self.thinking.subscribe();
        match thinking.wait_for(|thinking| thinking.persons == 0).await {
            Ok(thinking) => thinking.took,
            // The sender lives as long as this does.
            Err(_) => Duration::ZERO,
        }
    }

    /// Completes when `limit` has passed, not counting the time for which a person thinks.
    pub(super) async fn run_out(&self, clock: &Arc<dyn Clock>, limit: Duration) {
        let before = self.thinking.borrow().took;
        let (mut granted, mut wait) = (Duration::ZERO, limit);
        loop {
            clock.sleep(wait).await;
            let thought = self.thought().await.saturating_sub(before);
            if thought <= granted {
                return;
            }
            (wait, granted) = (thought.saturating_sub(granted), thought);
        }
    }

    /// Notes for the calls under way that a question of the server has no answer of a person's.
    pub(super) fn unanswered(&self, message: &str, reason: &str) {
        let text = format!(
            "[the server asked a person: \u{201c}{}\u{201d}; {reason}]",
            line(message, 256)
        );
        for open in self.calls().values_mut().filter(|open| open.unanswered.len() < 8) {
            open.unanswered.push(text.clone());
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, OpenCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call whose answer is waited for.
#[derive(Debug)]
struct OpenCall {
    call: Call,
    may_be_taken: bool,
    token: Option<ProgressToken>,
    /// What observers were sent of it.
    items: usize,
    unanswered: Vec<String>,
}

impl OpenCall {
    /// The call, where its observers are to be sent one more item.
    fn observed(&mut self) -> Option<Call> {
        self.items += 1;
        (self.items <= MOST_ITEMS).then(|| self.call.clone())
    }
}

/// A person who thinks until this is dropped.
#[derive(Debug)]
pub(super) struct PersonThinks {
    wire: Arc<Wire>,
    clock: Arc<dyn Clock>,
    since: Duration,
}

impl Drop for PersonThinks {
    fn drop(&mut self) {
        let took = self.clock.monotonic().saturating_sub(self.since);
        self.wire.thinking.send_modify(|thinking| {
            thinking.persons = thinking.persons.saturating_sub(1);
            thinking.took = thinking.took.saturating_add(took);
        });
    }
}

/// A call that is followed until this is dropped.
#[derive(Debug)]
pub(super) struct Followed {
    wire: Arc<Wire>,
    key: String,
}

impl Followed {
    /// True for a call that may have reached the server.
    pub(super) fn may_be_taken(&self) -> bool {
        self.wire.calls().get(&self.key).is_some_and(|open| open.may_be_taken)
    }
}

impl Followed {
    /// The questions of the server in the meantime that no person has answered, a sentence each.
    pub(super) fn unanswered(&self) -> Vec<String> {
        self.wire.calls().get(&self.key).map(|open| open.unanswered.clone()).unwrap_or_default()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.wire.calls().remove(&self.key);
    }
}

/// The progress of a call, as its server tells it: observers of the run are sent it as
/// [`CallItem::Custom`](hanok_core::CallItem::Custom).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// The part that is done.
    pub progress: f64,
    /// The whole, if the server knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// The server's words, in one line with hidden characters as escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A line that a server logs while a call is under way: observers of the run are sent it as
/// [`CallItem::Custom`](hanok_core::CallItem::Custom). A server does not say of which call it is, so it is sent to nobody while
/// several calls are under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerLog {
    /// The level: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert`, `emergency`.
    pub level: String,
    /// The part of the server that writes it, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// The server's words, in one line of at most 1 KiB with hidden characters as escapes.
    pub text: String,
}
