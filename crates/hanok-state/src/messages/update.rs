//! The update of a conversation.

use std::sync::Arc;

use hanok_core::{Change, MessageChange, Stored, StoredError};

use super::message::Message;

/// One thing that an update does to a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageOp {
    /// Puts a message in the place of the one with its id, else at the end.
    Put(Message),
    /// Removes the message with this id. An id that is not there is an error.
    Remove(Arc<str>),
    /// Removes all messages before this.
    Clear,
}

impl<M: Into<Message>> From<M> for MessageOp {
    fn from(message: M) -> Self {
        Self::Put(message.into())
    }
}

/// What an update does to a conversation, in order: a batch, or one of each super-step that it stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessagesUpdate(pub(super) Vec<Vec<MessageOp>>);

impl MessagesUpdate {
    /// An update that does this.
    pub fn new(ops: impl IntoIterator<Item = impl Into<MessageOp>>) -> Self {
        Self(vec![ops.into_iter().map(Into::into).collect()])
    }

    /// Does `after` in the same batch.
    pub(crate) fn extend(&mut self, after: Self) {
        let mut batches = after.0.into_iter();
        if let Some(last) = self.0.last_mut() {
            last.extend(batches.next().unwrap_or_default());
        }
        self.0.extend(batches);
    }

    /// Does `after` in a batch of its own: what is removed before it has no place any more.
    pub(crate) fn later(&mut self, after: Self) {
        self.0.extend(after.0);
    }

    pub(super) fn ops(&self) -> impl Iterator<Item = &MessageOp> {
        self.0.iter().flatten()
    }

    pub(super) fn removes(&self) -> bool {
        self.ops().any(|op| matches!(op, MessageOp::Remove(_)))
    }

    /// Gives an id to every message that has none.
    pub fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        for op in self.0.iter_mut().flatten() {
            if let MessageOp::Put(message) = op
                && message.id().is_none()
            {
                message.set_id(ids());
            }
        }
    }

    /// The update as it is stored: a change of each batch.
    pub(crate) fn to_changes(&self) -> Result<Vec<Change>, StoredError> {
        let stored = |batch: &Vec<MessageOp>| {
            batch.iter().map(MessageOp::to_change).collect::<Result<_, _>>().map(Change::Messages)
        };
        self.0.iter().map(stored).collect()
    }

    pub(crate) fn from_changes(changes: &[&Change]) -> Result<Self, StoredError> {
        changes
            .iter()
            .map(|change| match change {
                Change::Messages(batch) => batch.iter().map(MessageOp::from_change).collect(),
                _ => Err(StoredError::Malformed { at: 0, expected: "changes of messages" }),
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl MessageOp {
    fn to_change(&self) -> Result<MessageChange, StoredError> {
        Ok(match self {
            Self::Put(message) => MessageChange::Put(Stored::encode(message)?),
            Self::Remove(id) => MessageChange::Remove { id: id.to_string() },
            Self::Clear => MessageChange::Clear,
        })
    }

    fn from_change(change: &MessageChange) -> Result<Self, StoredError> {
        Ok(match change {
            MessageChange::Put(message) => Self::Put(message.decode()?),
            MessageChange::Remove { id } => Self::Remove(id.as_str().into()),
            MessageChange::Clear => Self::Clear,
        })
    }
}
