//! The rule of a conversation.

use hanok_core::{Change, Field, Stored, StoredError};

use crate::{
    code::Code,
    error::Refused,
    messages::{conversation::Messages, update::MessagesUpdate},
    reduce::Reduce,
    writes::NodeWrites,
};

/// A conversation: a message with a known id replaces it, any other is appended, a removal removes.
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
