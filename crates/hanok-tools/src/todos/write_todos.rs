//! Writing the list as a tool.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{Call, Effect, Need};
use hanok_model::{FromCall, FromState, InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_state::{Arguments, State, StateUpdate};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    change::{ItemWrite, TodosChange},
    list::{TodoStatus, Todos},
};

/// The most items, and the longest id and text of one in characters, that a model may write.
const ITEMS: usize = 100;
const ID: usize = 64;
const TEXT: usize = 1000;

type Read = dyn Fn(&Call) -> Result<Todos, ToolError> + Send + Sync;
type WriteChange = dyn Fn(ToolOutput, TodosChange) -> Result<ToolOutput, ToolError> + Send + Sync;

/// The tool `write_todos`: a model plans what it does, item by item, in a field of the state of its graph.
///
/// It takes the list out of the state that the call carries and returns an update of it ([`Todos`] says how updates of several
/// writers are merged), and the model reads the list as it is then. A model adds items under ids of its own, and changes them
/// by their ids; it writes at most 100 items of 1,000 characters, and none that is done. Without items it reads the list.
///
/// ```
/// use hanok_model::Tool;
/// use hanok_state::State;
/// use hanok_tools::{Todos, TodosChange, WriteTodos};
///
/// #[derive(State, Clone, Default)]
/// struct Desk {
///     #[reduce(operations = Todos::merge, update = TodosChange)]
///     todos: Todos,
/// }
///
/// let write = WriteTodos::new(|desk: &Desk| &desk.todos, |change| Desk::update().todos(change))?;
/// assert_eq!(write.spec().name(), "write_todos");
/// # Ok::<(), hanok_model::InvalidSpec>(())
/// ```
#[derive(Clone)]
pub struct WriteTodos {
    spec: ToolSpec,
    needs: Vec<Need>,
    read: Arc<Read>,
    write: Arc<WriteChange>,
}

/// What the tool takes. The comments are for models.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Plan {
    /// The items to add or to change. All others stay as they are; without any, the list is shown.
    #[serde(default)]
    items: Vec<PlanItem>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlanItem {
    /// A short name that you choose for the item, e.g. `read-rules`. The same name again changes that item.
    id: String,
    /// What is to be done. A new item needs it.
    #[serde(default)]
    text: Option<String>,
    /// How far it is; a new item is pending.
    #[serde(default)]
    status: Option<TodoStatus>,
}

impl WriteTodos {
    /// The tool for the list that `read` finds in the state, and whose changes `write` makes updates of.
    ///
    /// # Errors
    ///
    /// None that a caller could cause: its name and arguments are fixed.
    pub fn new<S, U>(
        read: impl Fn(&S) -> &Todos + Send + Sync + 'static,
        write: impl Fn(TodosChange) -> U + Send + Sync + 'static,
    ) -> Result<Self, InvalidSpec>
    where
        S: State,
        U: StateUpdate<State = S>,
    {
        let description = "Writes down what is to be done, and how far it is. Plan several steps with it before you begin, \
                           and say of each item when you begin it and when it is done.";
        Ok(Self {
            spec: ToolSpec::of::<Plan>("write_todos", description)?,
            needs: FromState::<S>::needs(),
            read: Arc::new(move |call| {
                let state = FromState::<S>::from_call(call)?;
                Ok(read(&state).clone())
            }),
            write: Arc::new(move |output, change| output.update(&write(change))),
        })
    }
}

impl Tool for WriteTodos {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Pure: the state is written by the graph that called, once.
    fn effect(&self) -> Effect {
        Effect::Pure
    }

    /// 5 s.
    fn timeout(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn needs(&self) -> Vec<Need> {
        self.needs.clone()
    }

    /// Plans.
    ///
    /// # Errors
    ///
    /// [`ToolError::Arguments`] for an item that is no item, is done, or is one too many; [`ToolError::NotProvided`] where the
    /// call does not carry the state.
    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Plan { items } = arguments.decode().map_err(ToolError::arguments)?;
        let mut todos = (self.read)(call)?;
        let mut change = TodosChange::new();
        for item in items {
            let write = item.write(&todos)?;
            todos.apply(TodosChange::new().with(write.clone()));
            change = change.with(write);
        }
        let output = ToolOutput::new(shown(&todos)).data(json!(todos));
        if change.is_empty() { Ok(output) } else { (self.write)(output, change) }
    }
}

impl PlanItem {
    /// The write of this item into `todos`.
    fn write(self, todos: &Todos) -> Result<ItemWrite, ToolError> {
        let Self { id, text, status } = self;
        let is_id = !id.is_empty() && id.chars().count() <= ID && !id.contains(char::is_control);
        if !is_id {
            return Err(refused(format!(
                "an id is a name of 1 to {ID} characters, such as `read-rules`"
            )));
        }
        let is_text = |text: &String| !text.trim().is_empty() && text.chars().count() <= TEXT;
        if !text.as_ref().is_none_or(is_text) {
            return Err(refused(format!(
                "the text of `{id}` is empty or longer than {TEXT} characters"
            )));
        }
        match (todos.get(&id), text) {
            (Some(item), text) => {
                let is_other = text.as_ref().is_some_and(|text| *text != item.text)
                    || status.is_some_and(|status| status != item.status);
                if item.status == TodoStatus::Done && is_other {
                    let what =
                        format!("`{id}` is done, and stays so: add what is left under another id");
                    return Err(refused(what));
                }
                Ok(ItemWrite::Change { id, text, status })
            }
            (None, None) => {
                Err(refused(format!("there is no item `{id}`: give its text to add it")))
            }
            (None, Some(_)) if todos.len() >= ITEMS => {
                Err(refused(format!("the list has {ITEMS} items, and takes no more")))
            }
            (None, Some(text)) => {
                Ok(ItemWrite::Add { id, text, status: status.unwrap_or_default() })
            }
        }
    }
}

fn refused(what: String) -> ToolError {
    ToolError::arguments(what)
}

fn shown(todos: &Todos) -> String {
    match todos.is_empty() {
        true => "(nothing is to be done)".to_owned(),
        false => todos.to_string(),
    }
}

impl fmt::Debug for WriteTodos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTodos")
            .field("spec", &self.spec)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}
