//! A change of the list, by items.

use serde::{Deserialize, Serialize};

use super::TodoStatus;

/// What a writer does to the items of [`Todos`](super::Todos): the update of their field. Items that it does not name stay as
/// they are.
///
/// ```
/// use hanok_tools::{TodoStatus, Todos, TodosChange};
///
/// let mut todos = Todos::default();
/// todos.apply(TodosChange::new().add("read", "Read article 12").status("read", TodoStatus::Done));
/// // What is done does not come back.
/// todos.apply(TodosChange::new().status("read", TodoStatus::Pending).text("read", "Read article 3"));
/// assert_eq!(todos.to_string(), "[x] read: Read article 12\n");
/// assert!(todos.is_done());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[must_use]
pub struct TodosChange(Vec<ItemWrite>);

/// A write of one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ItemWrite {
    Add { id: String, text: String, status: TodoStatus },
    Change { id: String, text: Option<String>, status: Option<TodoStatus> },
}

impl TodosChange {
    /// A change of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item that is pending, at the end.
    pub fn add(self, id: impl Into<String>, text: impl Into<String>) -> Self {
        let (id, text) = (id.into(), text.into());
        self.with(ItemWrite::Add { id, text, status: TodoStatus::Pending })
    }

    /// Sets how far an item is.
    pub fn status(self, id: impl Into<String>, status: TodoStatus) -> Self {
        self.with(ItemWrite::Change { id: id.into(), text: None, status: Some(status) })
    }

    /// Sets the text of an item.
    pub fn text(self, id: impl Into<String>, text: impl Into<String>) -> Self {
        self.with(ItemWrite::Change { id: id.into(), text: Some(text.into()), status: None })
    }

    /// True for a change of nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn with(mut self, write: ItemWrite) -> Self {
        self.0.push(write);
        self
    }

    pub(super) fn into_writes(self) -> Vec<ItemWrite> {
        self.0
    }
}
