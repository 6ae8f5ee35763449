//! A conversation.

use std::{borrow::Cow, collections::BTreeSet, fmt, sync::Arc};

use hanok_core::{Change, FoldError, StoredError};
use rpds::{HashTrieMapSync, VectorSync};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    message::Message,
    role::Role,
    update::{MessageOp, MessagesUpdate},
};
use crate::collections::grow::Grow;

/// A conversation: messages in order, each with an id of its own. Clones share what they have in common.
///
/// ```
/// use hanok_state::{Message, Messages};
///
/// let messages: Messages =
///     [Message::user("안녕").with_id("1"), Message::assistant("네").with_id("2")].into_iter().collect();
/// assert_eq!(messages.len(), 2);
/// assert_eq!(messages.get("2").map(|m| m.text().into_owned()), Some("네".into()));
/// ```
#[derive(Clone)]
pub struct Messages {
    /// `None` where a message was removed.
    slots: VectorSync<Option<Message>>,
    places: HashTrieMapSync<Arc<str>, usize>,
}

impl Messages {
    /// Makes a conversation without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.places.size()
    }

    /// Tells that there are no messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The messages, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.slots.iter().flatten()
    }

    /// The last message.
    pub fn last(&self) -> Option<&Message> {
        self.iter().next_back()
    }

    /// The model's answer: the text of the last message, if that is a model's and asks for no tool.
    ///
    /// ```
    /// use hanok_state::{Message, Messages, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Chat {
    ///     messages: Messages,
    /// }
    ///
    /// let mut chat = Chat::default();
    /// chat.reduce(vec![("ask".into(), Chat::update().message(Message::user("졸리니?")))])?;
    /// assert_eq!(chat.messages.answer(), None);
    /// chat.reduce(vec![("model".into(), Chat::update().message(Message::assistant("네")))])?;
    /// assert_eq!(chat.messages.answer().as_deref(), Some("네"));
    /// # Ok::<(), hanok_state::ReduceError>(())
    /// ```
    pub fn answer(&self) -> Option<Cow<'_, str>> {
        let last = self.last().filter(|last| last.role() == Role::Assistant)?;
        last.tool_calls().is_empty().then(|| last.text())
    }

    /// The message with this id.
    pub fn get(&self, id: &str) -> Option<&Message> {
        self.places.get(id).and_then(|at| self.slots.get(*at)).and_then(Option::as_ref)
    }

    /// Checks that `updates` can be applied, one after the other.
    ///
    /// # Errors
    ///
    /// [`FoldError::UnknownMessage`] when one removes a message that is not there.
    pub(crate) fn check(&self, updates: &[&MessagesUpdate]) -> Result<(), FoldError> {
        if !updates.iter().any(|update| update.removes()) {
            return Ok(());
        }
        // The ids that the updates so far added or removed, over those of the conversation.
        let (mut added, mut gone, mut cleared) =
            (BTreeSet::<&str>::new(), BTreeSet::<&str>::new(), false);
        for op in updates.iter().flat_map(|update| update.ops()) {
            match op {
                MessageOp::Put(message) => {
                    if let Some(id) = message.id() {
                        gone.remove(id);
                        added.insert(id);
                    }
                }
                MessageOp::Clear => {
                    (added, gone, cleared) = (BTreeSet::new(), BTreeSet::new(), true);
                }
                MessageOp::Remove(id) => {
                    let before = !cleared && self.get(id).is_some() && !gone.contains(&**id);
                    if !added.remove(&**id) && !before {
                        return Err(FoldError::UnknownMessage { id: id.to_string() });
                    }
                    gone.insert(id);
                }
            }
        }
        Ok(())
    }

    /// Applies `update`, batch by batch. Within a batch a removed message keeps its place for a later one with its id.
    ///
    /// # Errors
    ///
    /// [`FoldError::UnknownMessage`] when it removes a message that is not there. The operations before that are then
    /// applied.
    pub(crate) fn apply(&mut self, update: MessagesUpdate) -> Result<(), FoldError> {
        update.0.into_iter().try_for_each(|batch| self.apply_batch(batch))
    }

    fn apply_batch(&mut self, batch: Vec<MessageOp>) -> Result<(), FoldError> {
        let mut removed = Vec::new();
        let result = batch.into_iter().try_for_each(|op| self.apply_one(op, &mut removed));
        for id in removed {
            if self.get(&id).is_none() {
                self.places.remove_mut(&id);
            }
        }
        self.compact();
        result
    }

    fn apply_one(&mut self, op: MessageOp, removed: &mut Vec<Arc<str>>) -> Result<(), FoldError> {
        match op {
            MessageOp::Put(message) => self.put(message),
            MessageOp::Remove(id) => {
                let at = self.get(&id).and_then(|_| self.places.get(&id)).copied();
                let Some(at) = at else {
                    return Err(FoldError::UnknownMessage { id: id.to_string() });
                };
                self.slots.set_mut(at, None);
                removed.push(id);
            }
            MessageOp::Clear => {
                *self = Self::default();
                removed.clear();
            }
        }
        Ok(())
    }

    fn put(&mut self, message: Message) {
        let id = message.shared_id();
        let place = id.as_ref().and_then(|id| self.places.get(id)).copied();
        if let Some(at) = place {
            self.slots.set_mut(at, Some(message));
            return;
        }
        // A message without an id exists only outside a run, where nothing is stored or replaced.
        let id = id.unwrap_or_else(|| format!("unnamed-{}", self.slots.len()).into());
        self.places.insert_mut(id, self.slots.len());
        self.slots.push_back_mut(Some(message));
    }

    /// Closes the gaps once they are more than the messages.
    fn compact(&mut self) {
        if self.slots.len() > 2 * self.len() + 32 {
            *self = self.iter().cloned().collect();
        }
    }

    pub(crate) fn complete(&mut self, ids: &mut dyn FnMut() -> String) {
        if self.iter().any(|message| message.id().is_none()) {
            *self = self.iter().cloned().map(|message| named(message, ids)).collect();
        }
    }
}

fn named(message: Message, ids: &mut dyn FnMut() -> String) -> Message {
    if message.id().is_some() { message } else { message.with_id(ids()) }
}

impl Default for Messages {
    fn default() -> Self {
        Self { slots: VectorSync::new_sync(), places: HashTrieMapSync::new_sync() }
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut all = Self::default();
        messages.into_iter().for_each(|message| all.put(message));
        all
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages: Vec<_> = self.iter().collect();
        messages.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Message>::deserialize(deserializer).map(|all| all.into_iter().collect())
    }
}

impl Grow for Messages {
    type Change = MessagesUpdate;

    fn grow(&mut self, change: MessagesUpdate) -> Result<(), FoldError> {
        self.apply(change)
    }

    fn store(change: &MessagesUpdate) -> Result<Vec<Change>, StoredError> {
        change.to_changes()
    }
}
