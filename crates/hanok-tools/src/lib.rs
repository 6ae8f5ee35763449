#![doc = include_str!("../README.md")]

mod amounts;
mod arithmetic;
mod calculate;
mod calculator;
mod clock;
mod current_datetime;
#[cfg(feature = "web")]
mod egress;
#[cfg(feature = "files")]
mod files;
mod near;
#[cfg(feature = "python")]
mod python;
mod time_zone;
mod todos;
mod toolbox;
#[cfg(any(feature = "python", feature = "web"))]
mod wait;
#[cfg(feature = "web")]
mod web;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;
pub use hanok_state as state;

pub use amounts::{
    Amount, AmountUnit, Article, Count, Date, Figure, Figures, Won, counts, figures, grouped,
};
pub use arithmetic::Arithmetic;
pub use calculate::Calculator;
pub use calculator::{CalculatorError, Number, Rounding, evaluate};
pub use clock::{ClockError, DateTimeReport, datetime_in};
pub use current_datetime::CurrentDatetime;
#[cfg(feature = "web")]
pub use egress::{
    Egress, EgressBuilder, EgressError, Fetch, Fetched, Limits, Resolve, SystemResolver, Waited,
};
#[cfg(all(feature = "files", feature = "store"))]
pub use files::StoreFiles;
#[cfg(feature = "files")]
pub use files::{
    FileAccess, FileChange, FileDecision, FileEntry, FileError, FileMap, FilePath, FileRequest,
    FileRule, FileRules, FileTool, FileTools, FileWrite, Files, FolderFiles, ReadFile, SharedFiles,
    StateFiles, TextEdit,
};
#[cfg(feature = "python")]
pub use python::{JailError, PythonRepl, PythonReplBuilder};
pub use time_zone::time_zone_in;
pub use todos::{Todo, TodoStatus, Todos, TodosChange, WriteTodos};
pub use toolbox::{OffReason, OffTool, Toolbox};
#[cfg(feature = "web")]
pub use web::{GetWeather, SearchWikipedia, WebSearch};
