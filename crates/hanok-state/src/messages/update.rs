//! The update of a conversation.

use std::sync::Arc;

use hanok_core::{Change, MessageChange, Stored, StoredError};
use serde_json::{Value, json};

use super::message::Message;
use crate::{json_error::NoJson, read_json::json_of};

/// One operation of an update on a conversation.
///
/// ```
/// # use hanok_state::{Message, MessageOp, Messages, State};
/// # #[derive(State, Clone, Default)]
/// # struct Chat {
/// #     messages: Messages,
/// # }
/// let mut chat = Chat::default();
/// let ops = [
///     MessageOp::Put(Message::user("하나").with_id("1")),
///     MessageOp::Put(Message::user("둘").with_id("2")),
///     MessageOp::Remove("1".into()),
/// ];
/// chat.reduce(vec![("node".into(), Chat::update().messages(ops))])?;
/// assert_eq!(chat.messages.iter().map(|m| m.text()).collect::<Vec<_>>(), ["둘"]);
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum MessageOp {
    /// Puts a message in the place of the one with its id, or else at the end.
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

/// The operations of an update on a conversation, in order: one batch, or a batch for each super-step that it stands for.
///
/// ```
/// use hanok_state::{Grow, Message, Messages, MessagesUpdate};
///
/// let mut update = MessagesUpdate::new([Message::user("하나"), Message::user("둘").with_id("b")]);
/// update.complete(&mut || "a".to_owned());
///
/// let mut messages = Messages::new();
/// messages.grow(update)?;
/// assert_eq!(messages.iter().filter_map(|m| m.id()).collect::<Vec<_>>(), ["a", "b"]);
/// # Ok::<(), hanok_core::FoldError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessagesUpdate(pub(super) Vec<Vec<MessageOp>>);

impl MessagesUpdate {
    /// Makes an update of one batch.
    pub fn new(ops: impl IntoIterator<Item = impl Into<MessageOp>>) -> Self {
        Self(vec![ops.into_iter().map(Into::into).collect()])
    }

    /// Adds the operations of `after` to the same batch.
    pub(crate) fn extend(&mut self, after: Self) {
        let mut batches = after.0.into_iter();
        if let Some(last) = self.0.last_mut() {
            last.extend(batches.next().unwrap_or_default());
        }
        self.0.extend(batches);
    }

    /// Adds the operations of `after` as a batch of its own: a message that was removed before has no place any more.
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

    /// Encodes the update: a change for each batch.
    pub(crate) fn to_changes(&self) -> Result<Vec<Change>, StoredError> {
        let stored = |batch: &Vec<MessageOp>| {
            batch.iter().map(MessageOp::to_change).collect::<Result<_, _>>().map(Change::Messages)
        };
        self.0.iter().map(stored).collect()
    }

    /// Writes the operations as JSON, of all batches in one list.
    pub(crate) fn to_json(&self) -> Result<Value, NoJson> {
        self.ops().map(MessageOp::to_json).collect()
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

    fn to_json(&self) -> Result<Value, NoJson> {
        Ok(match self {
            Self::Put(message) => json!({"put": json_of(message)?}),
            Self::Remove(id) => json!({"remove": id}),
            Self::Clear => json!("clear"),
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
