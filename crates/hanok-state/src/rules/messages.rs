//! The rule of a conversation.

use hanok_core::{Change, Field, Stored, StoredError};
use serde_json::Value;

use crate::{
    code::Code,
    error::Refused,
    json_error::{InvalidJson, NoJson},
    messages::{conversation::Messages, message::Message, read, update::MessagesUpdate},
    read_json::json_of,
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

    fn from_json(json: Value) -> Result<MessagesUpdate, InvalidJson> {
        read::operations(&json).map(MessagesUpdate::new).map_err(read::Unread::into_invalid)
    }

    fn to_json(write: &MessagesUpdate) -> Result<Vec<(&'static str, Value)>, NoJson> {
        Ok(vec![("messages", write.to_json()?)])
    }

    /// The messages in LangChain's flat form, which its clients read.
    fn value_to_json(value: &Messages) -> Result<Option<Value>, NoJson> {
        Ok(Some(value.iter().map(Message::to_langchain_flat).collect()))
    }

    /// The messages in their own form, as each of a write is.
    fn overwrite_to_json(value: &Messages) -> Result<Option<Value>, NoJson> {
        json_of(value).map(Some)
    }
}
