#![doc = include_str!("../README.md")]

mod calculate;
mod clock;
mod current_datetime;
mod dated;
mod time_zone;
mod todos;
mod toolbox;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_figures as figures;
pub use hanok_model as model;
pub use hanok_state as state;

pub use calculate::Calculator;
pub use clock::{ClockError, DateTimeReport, datetime_in};
pub use current_datetime::CurrentDatetime;
pub use dated::Dated;
pub use time_zone::time_zone_in;
pub use todos::{Todo, TodoStatus, Todos, TodosChange, WriteTodos};
pub use toolbox::{OffReason, OffTool, Toolbox};
