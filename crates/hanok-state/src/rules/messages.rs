//! The rule of a conversation.

use hanok_core::{Change, Field, Stored, StoredError};

use crate::{
    code::Code,
    error::Refused,
    messages::{conversation::Messages, update::MessagesUpdate},
    reduce::Reduce,
    writes::NodeWrites,
};

/// A conversation: a message with a known id replaces the one before, any other is appended, a removal removes. The messages
/// of two writers stand in task order.
///
/// ```
/// # use hanok_state::{Message, Messages, State};
/// #[derive(State, Clone, Default)]
/// struct Chat {
///     messages: Messages,
/// }
///
/// let mut chat = Chat::default();
/// let a = Chat::update().message(Message::user("안녕").with_id("1"));
/// let b = Chat::update().message(Message::assistant("네").with_id("2"));
/// chat.reduce(vec![("a".into(), a), ("b".into(), b)])?;
/// assert_eq!(chat.messages.iter().filter_map(|m| m.id()).collect::<Vec<_>>(), ["1", "2"]);
///
/// let edit = Chat::update().message(Message::user("안녕하세요").with_id("1"));
/// chat.reduce(vec![("a".into(), edit.remove_message("2"))])?;
/// assert_eq!(chat.messages.last().map(|m| m.text().into_owned()), Some("안녕하세요".into()));
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug)]
pub struct MessageIds;

impl Reduce<Messages> for MessageIds {
    type Write = MessagesUpdate;

    fn then(mut before: MessagesUpdate, after: MessagesUpdate) -> MessagesUpdate {
        before.extend(after);
        before
    }

    fn later(mut before: MessagesUpdate, after: MessagesUpdate) -> Result<MessagesUpdate, Refused> {
        before.later(after);
        Ok(before)
    }

    fn check(value: &Messages, writes: &NodeWrites<'_, &MessagesUpdate>) -> Result<(), Refused> {
        let updates: Vec<_> = writes.iter().map(|(_, update)| *update).collect();
        Ok(value.check(&updates)?)
    }

    fn reduce(
        value: &mut Messages,
        writes: NodeWrites<'_, MessagesUpdate>,
    ) -> Result<Vec<Change>, Refused> {
        writes.into_iter().try_for_each(|(_, update)| value.apply(update))?;
        Ok(Vec::new())
    }

    fn complete(write: &mut MessagesUpdate, ids: &mut dyn FnMut() -> String) {
        write.complete(ids);
    }

    fn complete_value(value: &mut Messages, ids: &mut dyn FnMut() -> String) {
        value.complete(ids);
    }
}

impl Code<Messages> for MessageIds {
    fn store(write: &MessagesUpdate) -> Result<Vec<Change>, StoredError> {
        write.to_changes()
    }

    fn load(changes: &[&Change]) -> Result<MessagesUpdate, StoredError> {
        MessagesUpdate::from_changes(changes)
    }

    fn store_value(value: &Messages) -> Result<Option<Field>, StoredError> {
        Stored::encode(value).map(Field::Value).map(Some)
    }

    fn load_value(field: Field) -> Result<Messages, StoredError> {
        match field {
            // As they were read, and not as one value that is put together first.
            Field::Messages(messages) => messages.iter().map(Stored::decode).collect(),
            field => field.to_stored().decode(),
        }
    }
}
