//! Questions about the documents and the people of an office, answered by `rag`.

mod asked;
mod broken;
mod directory;
mod knowledge;
mod meaning;
mod offline;
mod processes;
mod program;
mod servers;
mod taken_away;
