//! Messages that a task has written as a whole, for observers.

use hanok_core::{Change, Changes, MessageChange};
use hanok_state::{Message, Role, Rule, Schema, StateUpdate};

use crate::{
    node::attempt::TaskAttempt,
    observe::{
        event::{EventKind, Mode},
        trail::Mark,
    },
};

/// Tells of the messages in `update`, each once in a run. What a model has written token by token is not told again.
pub(crate) fn tell_messages<U: StateUpdate>(scope: &TaskAttempt, schema: &Schema, update: &U) {
    let sink = &scope.env.sink;
    if !sink.modes().has(Mode::Messages) {
        return;
    }
    let holds_messages = |name: &str| {
        let rule = schema.field(name).map(|field| field.rule);
        matches!(rule, Some(Rule::Messages | Rule::Nested))
    };
    if !update.written().iter().any(|name| holds_messages(name)) {
        return;
    }
    // What cannot be stored fails the task, and not its observer.
    let Ok(changes) = update.to_changes() else { return };
    let mut messages = Vec::new();
    gather(&changes, &mut messages);
    for message in messages {
        let is_new = message.id().is_none_or(|id| sink.tells(id));
        let streamed = message.role() == Role::Assistant && scope.spoken.any();
        if is_new {
            let mark = if streamed { Mark::Streamed } else { Mark::Plain };
            scope.emit_marked(mark, || EventKind::Message(message));
        }
    }
}

/// The messages that are put into conversations, in those of nested states too.
fn gather(changes: &Changes, messages: &mut Vec<Message>) {
    for (_, change) in &changes.0 {
        match change {
            Change::Messages(changes) => {
                messages.extend(changes.iter().filter_map(|change| match change {
                    MessageChange::Put(message) => message.decode().ok(),
                    MessageChange::Remove { .. } | MessageChange::Clear => None,
                }));
            }
            Change::Nested(changes) => gather(changes, messages),
            _ => {}
        }
    }
}
