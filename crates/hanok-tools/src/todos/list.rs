//! The list, and how a change is merged into it.

use std::{collections::BTreeMap, fmt};

use hanok_core::{Change, FoldError, Printable, StoredError};
use hanok_state::{Grow, Map, MapChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::{ItemWrite, TodosChange};

/// A list of what is to be done, for a field of a state whose reducer is [`Todos::merge`].
///
/// Writers do not disturb each other, in one super-step or in several: a change names its items, so two writers of different
/// items both hold, as do two that change the text and the status of one. An item that is done stays as it is. Two writers that
/// add different items under one id make two items, the later one under another id.
///
/// ```
/// use hanok_state::State;
/// use hanok_tools::{TodoStatus, Todos, TodosChange};
///
/// #[derive(State, Clone, Default)]
/// struct Desk {
///     #[reduce(operations = Todos::merge, update = TodosChange)]
///     todos: Todos,
/// }
///
/// let mut desk = Desk::default();
/// let plan = TodosChange::new().add("read", "Read article 12").add("answer", "Write the answer");
/// desk.reduce(vec![("plan".into(), Desk::update().todos(plan))])?;
///
/// // Two agents in one super-step.
/// let done = TodosChange::new().status("read", TodoStatus::Done);
/// let begun = TodosChange::new().status("answer", TodoStatus::InProgress).status("read", TodoStatus::Pending);
/// let writes = [("reader", done), ("writer", begun)];
/// desk.reduce(writes.map(|(node, change)| (node.into(), Desk::update().todos(change))).into())?;
/// assert_eq!(desk.todos.to_string(), "[x] read: Read article 12\n[>] answer: Write the answer\n");
/// # Ok::<(), hanok_state::ReduceError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Todos(Map<String, Todo>);

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Todo {
    /// The text: what is to be done.
    pub text: String,
    /// Whether it is done.
    pub status: TodoStatus,
    /// The place in the list.
    place: u64,
}

/// How far an item is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Nobody works on it.
    #[default]
    Pending,
    /// Somebody works on it.
    InProgress,
    /// It is done, for good.
    Done,
}

impl Todos {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for a list without items.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item with this id.
    pub fn get(&self, id: &str) -> Option<&Todo> {
        self.0.get(id)
    }

    /// The items by their ids, in the order in which they were added.
    pub fn items(&self) -> Vec<(&str, &Todo)> {
        let mut items: Vec<_> = self.0.iter().map(|(id, item)| (id.as_str(), item)).collect();
        items.sort_by_key(|item| item.1.place);
        items
    }

    /// True when every item is done.
    pub fn is_done(&self) -> bool {
        self.0.iter().all(|entry| entry.1.status == TodoStatus::Done)
    }

    /// The operation by which `change` changes the list: the reducer of its field.
    pub fn merge(&self, change: TodosChange) -> MapChange<String, Todo> {
        MapChange::Merge(self.merged(change).1)
    }

    /// Changes the list.
    pub fn apply(&mut self, change: TodosChange) {
        *self = self.merged(change).0;
    }

    /// The list after `change`, and the items that it sets.
    fn merged(&self, change: TodosChange) -> (Self, Vec<(String, Todo)>) {
        let (mut after, mut set) = (self.clone(), Vec::new());
        // Ids of this change under which there was something else.
        let mut renamed = BTreeMap::new();
        for write in change.into_writes() {
            let entry = match write {
                ItemWrite::Add { id, text, status } => after.added(&id, text, status, &mut renamed),
                ItemWrite::Change { id, text, status } => {
                    after.changed(renamed.get(&id).unwrap_or(&id), text, status)
                }
            };
            if let Some((id, item)) = entry {
                after.0.insert(id.clone(), item.clone());
                set.push((id, item));
            }
        }
        (after, set)
    }

    /// The entry of an item that is added. One with the same text under this id is the same item.
    fn added(
        &self,
        id: &str,
        text: String,
        status: TodoStatus,
        renamed: &mut BTreeMap<String, String>,
    ) -> Option<(String, Todo)> {
        let mut name = id.to_owned();
        let mut count = 1_u64;
        while let Some(other) = self.0.get(&name) {
            if other.text == text {
                return self.changed(&name, None, Some(status.max(other.status)));
            }
            count += 1;
            name = format!("{id}-{count}");
        }
        if count > 1 {
            renamed.insert(id.to_owned(), name.clone());
        }
        let last = self.0.iter().map(|entry| entry.1.place).max();
        let place = last.map_or(0, |last| last.saturating_add(1));
        Some((name, Todo { text, status, place }))
    }

    /// The entry of an item that is changed. There is none for an item that is not there, or is done.
    fn changed(
        &self,
        id: &str,
        text: Option<String>,
        status: Option<TodoStatus>,
    ) -> Option<(String, Todo)> {
        let before = self.0.get(id).filter(|item| item.status != TodoStatus::Done)?;
        let text = text.unwrap_or_else(|| before.text.clone());
        let after = Todo { text, status: status.unwrap_or(before.status), ..*before };
        (after != *before).then(|| (id.to_owned(), after))
    }
}

/// A line for each item: `[ ]` before one that is pending, `[>]` in progress, `[x]` done.
impl fmt::Display for Todos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, item) in self.items() {
            let mark = match item.status {
                TodoStatus::Pending => ' ',
                TodoStatus::InProgress => '>',
                TodoStatus::Done => 'x',
            };
            writeln!(f, "[{mark}] {}: {}", Printable(id), Printable(&item.text))?;
        }
        Ok(())
    }
}

impl Grow for Todos {
    type Change = MapChange<String, Todo>;

    fn grow(&mut self, change: Self::Change) -> Result<(), FoldError> {
        self.0.grow(change)
    }

    fn store(change: &Self::Change) -> Result<Vec<Change>, StoredError> {
        Map::store(change)
    }
}
