//! What both transports know of their server: whether it keeps to the limits, and which calls it may have taken.

use std::{
    collections::HashSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification,
};
use tokio::sync::watch;

use crate::{depth::DEEPEST, error::ServerError};

/// The key in `_meta` of a call under which its idempotency key stands.
pub(super) const KEY: &str = "hanok/callKey";

/// The most bytes of a line or a body.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// The most messages in a row that answer nothing.
const UNASKED: u32 = 10_000;

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
    breach: watch::Sender<Option<Breach>>,
    taken: Mutex<HashSet<String>>,
    unasked: AtomicU32,
    ended: AtomicBool,
    changed: AtomicBool,
}

impl Default for Wire {
    fn default() -> Self {
        let breach = watch::Sender::new(None);
        Self {
            breach,
            taken: Mutex::default(),
            unasked: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            changed: AtomicBool::new(false),
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

    /// Notes that nothing comes any more.
    pub(super) fn ends(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// True when nothing comes any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    /// Whether the server has said that its tools are others, since this was asked last.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// Counts a message of the server, and says whether it still keeps to the limits. What it says of its tools is known from here
    /// on: before an answer that comes after it.
    pub(super) fn received(&self, message: &ServerJsonRpcMessage) -> Result<(), Breach> {
        if let JsonRpcMessage::Notification(told) = message
            && matches!(told.notification, ServerNotification::ToolListChangedNotification(_))
        {
            self.changed.store(true, Ordering::SeqCst);
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

    /// Notes that `message` leaves for the server.
    pub(super) fn leaves(&self, message: &ClientJsonRpcMessage) {
        if let Some(key) = key(message) {
            self.taken().insert(key);
        }
    }

    /// Notes that `message` did not reach the server after all.
    pub(super) fn returns(&self, message: &ClientJsonRpcMessage) {
        if let Some(key) = key(message) {
            self.taken().remove(&key);
        }
    }

    /// True for a call that may have reached the server; it is asked once.
    pub(super) fn may_have_taken(&self, key: &str) -> bool {
        self.taken().remove(key)
    }

    fn taken(&self) -> MutexGuard<'_, HashSet<String>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a call of a tool.
fn key(message: &ClientJsonRpcMessage) -> Option<String> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    Some(call.params.meta.as_ref()?.0.0.get(KEY)?.as_str()?.to_owned())
}
