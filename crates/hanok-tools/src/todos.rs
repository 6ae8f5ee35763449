//! An agent's list of what is to be done: a field of its state, and the tool that writes it.

mod change;
mod list;
mod write_todos;

pub use change::TodosChange;
pub use list::{Todo, TodoStatus, Todos};
pub use write_todos::WriteTodos;
