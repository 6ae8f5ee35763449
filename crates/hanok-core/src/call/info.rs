//! What observers are told of a call, and what a call tells them beside its tokens.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::CallKey;
use crate::stored::value::Stored;

/// What observers are told of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The kind of the call: `model`, `tool`, or as whoever makes it says.
    pub kind: Arc<str>,
    /// The name of the model or the tool.
    pub name: Arc<str>,
    /// The call's key.
    pub key: CallKey,
    /// The id by which the conversation names the call, if it has one.
    pub id: Option<Arc<str>>,
    /// The [id of the message](crate::Call::message_id) that the call's tokens are of.
    pub message: Arc<str>,
    /// Its tags.
    pub tags: BTreeSet<String>,
    /// What else is said of it, by name.
    pub metadata: BTreeMap<String, String>,
}

/// What observers are told of a call, as it is now: clones, and the clones of the call, share it.
#[derive(Clone)]
pub struct CallDescription(Arc<Mutex<Arc<CallInfo>>>);

impl CallDescription {
    pub(super) fn new(kind: &str, name: &str, key: CallKey) -> Self {
        Self::of(CallInfo {
            kind: kind.into(),
            name: name.into(),
            message: key.message_id().into(),
            key,
            id: None,
            tags: BTreeSet::new(),
            metadata: BTreeMap::new(),
        })
    }

    fn of(info: CallInfo) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(info))))
    }

    /// What is said of the call now.
    pub fn info(&self) -> Arc<CallInfo> {
        self.locked().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut CallInfo)) {
        change(Arc::make_mut(&mut *self.locked()));
    }

    /// The description of another call, which begins as this is.
    pub(super) fn keyed(&self, key: &CallKey) -> Self {
        let info = self.info();
        match info.key == *key {
            true => self.clone(),
            false => Self::of(CallInfo { key: key.clone(), ..CallInfo::clone(&info) }),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Arc<CallInfo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CallDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallDescription").field(&self.info()).finish()
    }
}

/// Something that a call tells observers while it is made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallItem {
    /// An item of any kind: [`Call::custom`](super::Call::custom).
    Custom(Stored),
    /// A part of the call's result: [`Call::output`](super::Call::output).
    Output(Stored),
}

/// Receives what a call tells observers. Never blocks; may drop what nobody reads.
pub trait CallSink: Send + Sync + 'static {
    /// Takes one item.
    fn item(&self, item: CallItem);
}
