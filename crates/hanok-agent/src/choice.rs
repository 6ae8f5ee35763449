//! Choices: what was decided, among which options, by whom and why, and what came of it.
//!
//! | files | what they hold |
//! | --- | --- |
//! | `entry` | a choice and its result, as a state keeps them |
//! | `choices` | the choices of a log, each with its result, and how they are looked through |
//! | `record` | a choice with its result as a line of JSON |
//! | `stored` | the choices that the log of a thread holds |
//! | `test` | choices made again, beside what they were |
//! | `tool_selector` | the choice of tools: by a model, or by a rule where it makes none |
//!
//! An id of a choice is the [key](hanok_core::Call::key) of a call of its task: [`Choice::new`](entry::Choice::new) takes it.
//!
//! A choice is stored before what it leads to, and its result behind that: two entries joined by an id. Nothing here decides
//! whether a call is made; that is for the interceptors.

pub(crate) mod choices;
pub(crate) mod entry;
pub(crate) mod record;
pub(crate) mod stored;
pub(crate) mod test;
pub(crate) mod tool_selector;
